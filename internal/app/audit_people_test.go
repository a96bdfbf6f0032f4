package app

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
)

// What people do with the viewer has names of its own in the log: they sign in and out, and make,
// open, use and revoke links. No line has a secret.
func TestAuditOfPeople(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens")
	secret, _, err := token.Add(file, token.Info{Subject: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	var log auditFile
	a, url, stop := serving(t, Config{Store: "memory", Audit: AuditConfig{Out: &log}, HTTP: HTTPConfig{Tokens: file}})
	if _, err := a.Engine.Owned("alice").Begin(t.Context(), "plan", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "One."})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	send := func(method, path, body, cookie string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if cookie != "" {
			r.Header.Set("Cookie", cookie)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		res.Body = io.NopCloser(strings.NewReader(string(text)))
		return res
	}
	cookieOf := func(res *http.Response) string {
		t.Helper()
		all := res.Cookies()
		if len(all) == 0 {
			t.Fatalf("no cookie in a reply with %s", res.Status)
		}
		return all[0].Name + "=" + all[0].Value
	}
	send("POST", "/api/v1/login", `{"token":"CANARY"}`, "")
	person := cookieOf(send("POST", "/api/v1/login", `{"token":"`+secret+`"}`, ""))
	var share struct{ ID, Path string }
	if err := json.NewDecoder(send("POST", "/api/v1/links", `{"id":"plan"}`, person).Body).Decode(&share); err != nil {
		t.Fatal(err)
	}
	_, hidden, _ := strings.Cut(share.Path, "#")
	send("POST", "/api/v1/linked", `{"secret":"CANARY"}`, "")
	visitor := cookieOf(send("POST", "/api/v1/linked", `{"secret":"`+hidden+`"}`, ""))
	send("GET", "/api/v1/linked/"+share.ID+"/session", "", visitor)
	send("DELETE", "/api/v1/links/"+share.ID, "", person)
	send("GET", "/api/v1/linked/"+share.ID+"/session", "", visitor)
	send("DELETE", "/api/v1/login", "", person)
	want := []string{
		"unknown http sign-in refused token_invalid 401",
		"token alice http sign-in allowed 200",
		"token alice http link.create allowed 200 plan alice true",
		"unknown http link.open refused link_over 401",
		"unknown http link.open allowed 200 plan alice false",
		"link http GET /api/v1/linked/{link}/session allowed 200 plan alice false",
		"token alice http link.revoke allowed 200 plan alice true",
		"unknown http GET /api/v1/linked/{link}/session refused link_over 401",
		"unknown http sign-out allowed 200",
	}
	slices.Sort(want)
	if got := log.entries(t, len(want)); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	stop()
	for _, text := range []string{secret, hidden, "CANARY"} {
		if strings.Contains(string(log.text), text) {
			t.Errorf("the log has %s", text)
		}
	}
}

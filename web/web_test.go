package web_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/web"
)

// tokens is an Authenticator.
type tokens map[string]string

func (k tokens) Identify(_ context.Context, token string) (auth.Identity, error) {
	if k[token] == "" {
		return auth.Identity{}, auth.ErrUnknown
	}
	return auth.Identity{Subject: k[token], Scope: auth.Write}, nil
}

func (tokens) Until(context.Context, string, time.Time) (time.Time, error) { return time.Time{}, nil }

// serve starts a server and returns its URL.
func serve(t *testing.T, cfg web.Config) string {
	t.Helper()
	gate, err := admission.New(admission.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Engine == nil {
		cfg.Engine = sequent.New(sequent.Config{})
	}
	cfg.Gate = gate
	if cfg.Limiter == nil {
		cfg.Limiter = limits.New(limits.Config{})
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cfg.Ending = ctx
	s := httptest.NewServer(web.New(cfg))
	t.Cleanup(func() {
		cancel()
		s.Close()
	})
	return s.URL
}

// ask sends a request and returns the status and the body. Headers are pairs.
func ask(t *testing.T, method, url, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}

// think appends thoughts with the given texts.
func think(t *testing.T, e *sequent.Engine, id sequent.ID, texts ...string) {
	t.Helper()
	_, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
		for _, text := range texts {
			if _, err := c.Append(sequent.Draft{Number: 1, Text: text}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var bearer = func(token string) []string { return []string{"Authorization", "Bearer " + token} }

// Each subject sees its own sessions, by every method, and for others the answer is that
// of an id that nobody has.
func TestOwners(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e, Auth: tokens{"a": "alice", "b": "bob"}})
	think(t, e.Owned("alice"), "plan", "Alice keeps this secret.")
	for _, path := range []string{"session", "article", "export", "events"} {
		status, own, _ := ask(t, "GET", url+"/api/v1/"+path+"?id=plan", "", bearer("b")...)
		_, missing, _ := ask(t, "GET", url+"/api/v1/"+path+"?id=nope", "", bearer("b")...)
		if status != http.StatusNotFound || strings.ReplaceAll(own, "plan", "nope") != missing {
			t.Errorf("%s of another owner: %d %s, of no session: %s", path, status, own, missing)
		}
		for _, headers := range [][]string{nil, bearer("c"), bearer("")} {
			if status, body, _ := ask(t, "GET", url+"/api/v1/"+path+"?id=plan", "", headers...); status != http.StatusUnauthorized {
				t.Errorf("%s with %q: %d %s", path, headers, status, body)
			}
		}
	}
	for _, path := range []string{"sessions", "search?q=secret"} {
		_, body, _ := ask(t, "GET", url+"/api/v1/"+path, "", bearer("b")...)
		if strings.Contains(body, "plan") || strings.Contains(body, "secret") {
			t.Errorf("%s: bob got %s", path, body)
		}
		if _, body, _ = ask(t, "GET", url+"/api/v1/"+path, "", bearer("a")...); !strings.Contains(body, "plan") {
			t.Errorf("%s: alice got %s", path, body)
		}
	}
}

// A token in a cookie is checked with each request, and only scripts of the server's own
// pages can use it.
func TestCookie(t *testing.T) {
	t.Parallel()
	known := tokens{"a": "alice"}
	url := serve(t, web.Config{Auth: known})
	const login = "/api/v1/login"
	if status, body, _ := ask(t, "POST", url+login, `{"token":"x"}`, "Content-Type", "application/json"); status != http.StatusUnauthorized {
		t.Errorf("a token that is not valid: %d %s", status, body)
	}
	if status, body, _ := ask(t, "POST", url+login, `{"token":"a"}`, "Content-Type", "text/plain"); status != http.StatusUnsupportedMediaType {
		t.Errorf("a form of another page: %d %s", status, body)
	}
	status, body, header := ask(t, "POST", url+login, `{"token":"a"}`, "Content-Type", "application/json")
	cookie := header.Get("Set-Cookie")
	if status != http.StatusOK || cookie != "__Host-sequent=a; Path=/; HttpOnly; Secure; SameSite=Strict" {
		t.Fatalf("%d %s %q", status, body, cookie)
	}
	cookie, _, _ = strings.Cut(cookie, ";")
	if status, body, _ := ask(t, "GET", url+"/api/v1/sessions", "", "Cookie", cookie); status != http.StatusOK {
		t.Errorf("with the cookie: %d %s", status, body)
	}
	for _, from := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
		if status, body, _ := ask(t, "GET", url+"/api/v1/sessions", "", append(from, "Cookie", cookie)...); status != http.StatusForbidden {
			t.Errorf("from %s: %d %s", from, status, body)
		}
	}
	delete(known, "a")
	if status, body, _ := ask(t, "GET", url+"/api/v1/sessions", "", "Cookie", cookie); status != http.StatusUnauthorized {
		t.Errorf("revoked: %d %s", status, body)
	}
}

// The server of one person answers to its key only, which a code is exchanged for once.
func TestKey(t *testing.T) {
	t.Parallel()
	key := web.NewKey()
	url := serve(t, web.Config{Key: key})
	for headers, want := range map[string]int{"": 401, "Bearer x": 401, "Bearer " + key.String(): 200, "Basic " + key.String(): 401} {
		if status, body, _ := ask(t, "GET", url+"/api/v1/sessions", "", "Authorization", headers); status != want {
			t.Errorf("%q: %d %s, want %d", headers, status, body, want)
		}
	}
	code := `{"code":"` + key.Code() + `"}`
	for i, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		status, body, _ := ask(t, "POST", url+"/api/v1/key", code, "Content-Type", "application/json")
		if status != want || (i == 0) != strings.Contains(body, key.String()) {
			t.Errorf("exchange %d: %d %s", i+1, status, body)
		}
	}
	if status, body, _ := ask(t, "GET", url+"/api/v1/sessions?key="+key.String(), ""); status != http.StatusUnauthorized {
		t.Errorf("a key in the query: %d %s", status, body)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	url := serve(t, web.Config{})
	for _, path := range []string{"/ui/", "/ui/s/x", "/ui/link", "/ui/none", "/api/v1/", "/api/v1/sessions", "/api/v9/", "/elsewhere"} {
		status, body, h := ask(t, "GET", url+path, "")
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s: %s", path, name, h.Get(name))
			}
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; ") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %s", path, policy)
		}
		if page := strings.Contains(body, "<script>"); page != (status == http.StatusOK && strings.HasPrefix(path, "/ui/")) ||
			page && !strings.Contains(policy, "require-trusted-types-for 'script'; trusted-types article") {
			t.Errorf("%s: %d, the policy is %s", path, status, policy)
		}
	}
	for _, path := range []string{"/ui/", "/api/v1/sessions"} { // a name that was made to point here
		if status, body, _ := ask(t, "GET", url+path, "", "Host", "evil.example"); status != http.StatusForbidden {
			t.Errorf("%s for another host: %d %s", path, status, body)
		}
	}
	_, _, h := ask(t, "GET", url+"/ui/", "")
	for tag, want := range map[string]int{h.Get("ETag"): http.StatusNotModified, `"x"`: http.StatusOK} {
		if status, _, _ := ask(t, "GET", url+"/ui/", "", "If-None-Match", tag); status != want {
			t.Errorf("the page with the tag %s: %d", tag, status)
		}
	}
	if status, _, _ := ask(t, "POST", url+"/ui/", "{}"); status != http.StatusMethodNotAllowed {
		t.Errorf("a POST to the page: %d", status)
	}
}

// A person's note is recorded under the name of the token.
func TestNotes(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e, Auth: tokens{"a": "alice", "b": "bob"}})
	think(t, e.Owned("alice"), "plan", "One.")
	post := func(token, body string) (int, string) {
		status, text, _ := ask(t, "POST", url+"/api/v1/notes", body, "Content-Type", "application/json", "Authorization", "Bearer "+token)
		return status, text
	}
	for body, want := range map[string]int{
		`{"id":"plan","seq":1,"kind":"wrong","text":"No."}`: http.StatusOK,
		`{"id":"plan","seq":2,"kind":"wrong"}`:              http.StatusBadRequest,
		`{"id":"plan","seq":1,"kind":"praise","text":"x"}`:  http.StatusBadRequest,
		`{"id":"nope","seq":1,"kind":"wrong"}`:              http.StatusNotFound,
		`{`:                                                 http.StatusBadRequest,
	} {
		if status, text := post("a", body); status != want {
			t.Errorf("%s: %d %s, want %d", body, status, text, want)
		}
	}
	if _, text := post("a", `{"id":"plan","seq":1,"kind":"remark","text":"Why?"}`); !strings.HasPrefix(text, `{"seq":1,"kind":"remark","text":"Why?","from":"alice","at":"`) {
		t.Errorf("a note is answered with %s", text)
	}
	if status, text := post("b", `{"id":"plan","seq":1,"kind":"wrong"}`); status != http.StatusNotFound {
		t.Errorf("another owner: %d %s", status, text)
	}
	_, body, _ := ask(t, "GET", url+"/api/v1/session?id=plan", "", bearer("a")...)
	if !strings.Contains(body, `"notes":[{"seq":1,"kind":"wrong","text":"No.","from":"alice",`) || !strings.Contains(body, `"disputed":[1]`) {
		t.Error(body)
	}
}

// An export masks secrets in every format and says how many. A request with expressions is refused:
// its export would look masked and not be.
func TestExport(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e})
	think(t, e, "plan", "Use postgres://app:hunter2@db/app.", "</script><script>alert(1)</script>")
	get := func(query string) (int, string, string) {
		status, text, header := ask(t, "GET", url+"/api/v1/export?"+query, "")
		return status, text, header.Get("Sequent-Redacted")
	}
	for _, format := range []string{"html", "md", "json", "mermaid"} {
		status, text, masks := get("id=plan&secrets=true&format=" + format)
		if status != http.StatusOK || strings.Contains(text, "hunter2") || !strings.Contains(text, "redacted") || masks != "2" {
			t.Errorf("%s: %d %s %.200s", format, status, masks, text)
		}
		if format == "html" && strings.Contains(text, "<script>alert") {
			t.Error("a text leaves the block of the data")
		}
		if status, text, _ = get("id=plan&format=" + format); status != http.StatusOK || !strings.Contains(text, "hunter2") {
			t.Errorf("%s: %d %.200s", format, status, text)
		}
	}
	for query, want := range map[string]int{
		"id=plan&format=pdf": http.StatusBadRequest, "id=plan&redact=x": http.StatusBadRequest, "id=plan&secrets=yes": http.StatusBadRequest,
		"id=other&secrets=true": http.StatusNotFound,
	} {
		if status, text, _ := get(query); status != want {
			t.Errorf("%s: %d %s, want %d", query, status, text, want)
		}
	}
	think(t, e, "large", slices.Repeat([]string{strings.Repeat("A long thought. ", 4096)}, 170)...)
	if status, text, _ := get("id=large&format=json"); status != http.StatusRequestEntityTooLarge || !strings.Contains(text, "sequent export") {
		t.Errorf("a large session: %d %.200s", status, text)
	}
}

// Refusals of parameters name them.
func TestRefusals(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e})
	think(t, e, "plan", "One.")
	for path, want := range map[string]string{
		"session?id=plan&after=x":   `{"error":{"code":"invalid_parameter","field":"after","message":"the parameter after must be a position from an earlier reply"}}`,
		"session?id=plan&limit=-1":  `{"error":{"code":"invalid_parameter","field":"limit","message":"the parameter limit must be a number, 0 or higher"}}`,
		"export?id=plan&format=exe": `{"error":{"code":"invalid_parameter","field":"format","message":"the parameter format must be html, md, json or mermaid"}}`,
		"session":                   `{"error":{"code":"invalid_session","field":"sessionId","message":"the session id is empty"}}`,
		"session?id=%00":            `{"error":{"code":"invalid_session","field":"sessionId","message":"sessionId holds the non-printing character U+0000","fix":"use printable characters only"}}`,
		"nothing":                   `{"error":{"code":"no_such_method","message":"the API has no such method","fix":"see docs/reference/api.md; the current version is /api/v1/"}}`,
	} {
		if _, body, _ := ask(t, "GET", url+"/api/v1/"+path, ""); strings.TrimSpace(body) != want {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// The pages of a document are the log, each thought once.
func TestDocument(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e})
	for range 25 {
		think(t, e, "../x y", "First of them. Second.", "a\u202eb <script>")
	}
	after, seqs := "", 0
	for more := true; more; {
		_, body, _ := ask(t, "GET", url+"/api/v1/session?id=..%2Fx+y&limit=7&after="+after, "")
		var page web.Document
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err, body)
		}
		for _, r := range page.Rows {
			if seqs++; r.Seq != seqs {
				t.Fatalf("row %d is thought %d", seqs, r.Seq)
			}
		}
		after, more = page.Position, page.More
	}
	if seqs != 50 {
		t.Errorf("%d rows, want 50", seqs)
	}
}

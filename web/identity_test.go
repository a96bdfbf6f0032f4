package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/web"
)

// Whoever signs in takes the place of the person before, whose refresh token is removed: a later
// renewal would make that person the one who is signed in again.
func TestSignInReplacesPerson(t *testing.T) {
	t.Parallel()
	const refresh = "__Host-sequent-refresh"
	d := &desk{token: "alice-token"}
	base := serve(t, web.Config{Auth: tokens{"alice-token": "alice", "bob-token": "bob"}, SignIn: d, PublicURL: "https://think.example.com"})
	status, text, header := ask(t, "POST", base+"/api/v1/login", `{"token":"bob-token"}`, "Content-Type", "application/json", "Cookie", refresh+"=r1")
	if status != http.StatusOK || !removes(header, refresh) {
		t.Errorf("signed in with a token: %d %s, cookies %q", status, text, header.Values("Set-Cookie"))
	}
	d.withoutRefresh = true
	status, text, header = ask(t, "POST", base+"/api/v1/login/finish", `{"answer":"code=c"}`, "Content-Type", "application/json", "Cookie", "__Host-sequent-signin=secret; "+refresh+"=r1")
	if status != http.StatusOK || !removes(header, refresh) {
		t.Errorf("signed in without a refresh token: %d %s, cookies %q", status, text, header.Values("Set-Cookie"))
	}
}

// removes reports whether a reply removes a cookie.
func removes(header http.Header, name string) bool {
	for _, line := range header.Values("Set-Cookie") {
		if cookie, err := http.ParseSetCookie(line); err == nil && cookie.Name == name && cookie.MaxAge < 0 && !strings.Contains(line, name+"=r") {
			return true
		}
	}
	return false
}

package mcpserver

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/mcpserver/internal/mcptest"
)

// shown are the headers of a response that a transcript has.
var shown = []string{
	"Access-Control-Allow-Origin", "Allow", "Content-Type", headerSession, "Retry-After", "Www-Authenticate",
}

// retryAfter is the part of a transcript that depends on how fast it goes.
var retryAfter = regexp.MustCompile(`"retryAfterMs":6[34][0-9]{3}\b`)

// TestHTTPTranscripts plays each file of testdata/http: requests in the form of
// [site.ask], and what comes back. In them $SESSION is the id of the session that
// was last mcptest.Opened, $META what a request of 2026-07-28 has in its params, and
// $HELLO the handshake. Where the comment says "with tokens", a client must have
// one, and where "where to get them", is told so; where it says "origin", that origin is trusted.
func TestHTTPTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/http/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob = %v, %v; want files", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cfg := HTTPConfig{MaxBody: 4000}
			if strings.Contains(string(ar.Comment), "with tokens") {
				cfg.Auth = testAuth
			}
			if strings.Contains(string(ar.Comment), "where to get them") {
				cfg.Resource = &auth.Resource{URL: "https://think.example.com/team", Issuers: []string{"https://login.example.com"}}
			}
			if strings.Contains(string(ar.Comment), "origin") {
				cfg.PublicURL, cfg.Origins = "https://think.example.com/mcp", []string{"https://chat.example.com"}
			}
			if strings.Contains(string(ar.Comment), "one request in 64 seconds") {
				cfg.Rate, cfg.Burst = 1.0/64, 1
			}
			w := serveHTTP(t, cfg)
			session := "NOSESSION"
			out := &txtar.Archive{Comment: ar.Comment}
			for i, f := range ar.Files {
				if f.Name != "request" {
					continue
				}
				text := strings.NewReplacer("$SESSION", session, "$META", mcptest.ModernMeta, "$HELLO", mcptest.Hello,
					"$LONG", strings.Repeat("x", 5000)).Replace(string(f.Data))
				a := w.ask(text)
				if id := a.header.Get(headerSession); id != "" {
					session = id
				}
				var b strings.Builder
				fmt.Fprintln(&b, a.status)
				for _, name := range slices.Sorted(maps.Keys(a.header)) {
					if slices.Contains(shown, name) {
						fmt.Fprintf(&b, "%s: %s\n", name, a.header.Get(name))
					}
				}
				if a.body != "" {
					fmt.Fprintf(&b, "\n%s", a.body)
				}
				got := faultIDs.ReplaceAllString(strings.ReplaceAll(b.String(), session, "$SESSION"), "(id xxxxxxxx)")
				got = retryAfter.ReplaceAllString(got, `"retryAfterMs":63xxx`)
				out.Files = append(out.Files, f, txtar.File{Name: "response", Data: []byte(got)})
				want := ""
				if i+1 < len(ar.Files) && ar.Files[i+1].Name == "response" {
					want = string(ar.Files[i+1].Data)
				}
				if got != want && !*update {
					t.Errorf("server answered\n%s\nwant\n%s\nfor\n%s", got, want, f.Data)
				}
			}
			for _, secret := range []string{"token-", "Bearer", session} {
				if strings.Contains(w.log.String(), secret) {
					t.Errorf("the log has %q in it:\n%s", secret, w.log)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

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
)

// byChance are the parts of a transcript that are by chance: ids of faults, and times.
var byChance = regexp.MustCompile(`\(id [a-z2-7]{8}\)|"retryAfterMs":6[34][0-9]{3}\b`)

// playAll plays the transcripts of a folder. Play returns what answers a section named asked of a transcript
// with a comment; it follows in the section named answered.
func playAll(t *testing.T, pattern, asked, answered string, play func(t *testing.T, comment string) func(text string) string) {
	files, err := filepath.Glob(pattern)
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
			ask := play(t, string(ar.Comment))
			out := &txtar.Archive{Comment: ar.Comment}
			for i, f := range ar.Files {
				if f.Name != asked {
					continue
				}
				got := byChance.ReplaceAllStringFunc(ask(string(f.Data)), func(found string) string {
					if found[0] == '(' {
						return "(id xxxxxxxx)"
					}
					return `"retryAfterMs":63xxx`
				})
				out.Files = append(out.Files, f, txtar.File{Name: answered, Data: []byte(got)})
				want := ""
				if i+1 < len(ar.Files) && ar.Files[i+1].Name == answered {
					want = string(ar.Files[i+1].Data)
				}
				if got != want && !*update {
					t.Errorf("server answered\n%s\nwant\n%s\nfor\n%s", got, want, f.Data)
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

// TestTranscripts plays each file of testdata: what the client writes, up to the
// end of its input, and everything that the server writes. Each section named
// client is a connection of its own to the same server.
func TestTranscripts(t *testing.T) {
	playAll(t, "testdata/*.txtar", "client", "server", func(t *testing.T, _ string) func(string) string {
		s, _, _ := testServer(t)
		return func(text string) string { return converse(t, s, text) }
	})
}

// shown are the headers of a response that a transcript has.
var shown = []string{"Access-Control-Allow-Origin", "Allow", "Content-Type", headerSession, "Retry-After", "Www-Authenticate"}

// TestHTTPTranscripts plays each file of testdata/http: requests in the form of
// [site.ask], and what comes back. In them $SESSION is the id of the session that
// was last opened, $META what a request of 2026-07-28 has in its params, and
// $HELLO the handshake. Where the comment says "with tokens", a client must have
// one, and where "where to get them", is told so; where it says "origin", that origin is trusted.
func TestHTTPTranscripts(t *testing.T) {
	t.Parallel()
	playAll(t, "testdata/http/*.txtar", "request", "response", func(t *testing.T, comment string) func(string) string {
		cfg := HTTPConfig{MaxBody: 4000}
		if strings.Contains(comment, "with tokens") {
			cfg.Auth = testAuth
		}
		if strings.Contains(comment, "where to get them") {
			cfg.Resource = &auth.Resource{URL: "https://think.example.com/team", Issuers: []string{"https://login.example.com"}}
		}
		if strings.Contains(comment, "origin") {
			cfg.PublicURL, cfg.Origins = "https://think.example.com/mcp", []string{"https://chat.example.com"}
		}
		if strings.Contains(comment, "one request in 64 seconds") {
			cfg.Rate, cfg.Burst = 1.0/64, 1
		}
		w, session := serveHTTP(t, cfg), "NOSESSION"
		t.Cleanup(func() {
			for _, secret := range []string{"token-", "Bearer", session} {
				if strings.Contains(w.log.String(), secret) {
					t.Errorf("the log has %q in it:\n%s", secret, w.log)
				}
			}
		})
		return func(text string) string {
			a := w.ask(strings.NewReplacer("$SESSION", session, "$META", modernMeta, "$HELLO", helloLine,
				"$LONG", strings.Repeat("x", 5000)).Replace(text))
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
			return strings.ReplaceAll(b.String(), session, "$SESSION")
		}
	})
}

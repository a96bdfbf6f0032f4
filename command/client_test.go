package command

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/app"
)

// A readers runs commands that read the same sessions from a store and from a server.
type readers struct {
	store, server string
	tokens        map[string]string // by subject
	now           time.Time
}

// run runs a command as a subject of the server, or on the machine of the store if that is
// empty, and returns its exit code and its output.
func (r *readers) run(t *testing.T, subject string, args ...string) (code int, out, stderr string) {
	t.Helper()
	env := map[string]string{"SEQUENT_STORE": r.store}
	if subject != "" {
		env = map[string]string{"SEQUENT_SERVER": r.server, "SEQUENT_TOKEN": r.tokens[subject]}
	}
	var o, e bytes.Buffer
	p := &program{in: strings.NewReader(""), out: &o, err: &e, getenv: func(name string) string { return env[name] }, now: func() time.Time { return r.now }}
	code = p.main(t.Context(), args)
	return code, o.String(), e.String()
}

// newReaders fills a store with sessions of three owners, and serves it.
func newReaders(t *testing.T) *readers {
	t.Helper()
	dir := t.TempDir()
	r := &readers{store: filepath.Join(dir, "s.db"), tokens: make(map[string]string), now: time.Now()}
	a, err := app.Open(t.Context(), app.Config{Store: r.store})
	if err != nil {
		t.Fatal(err)
	}
	fillForReaders(t, a.Engine)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "tokens")
	for subject, scope := range map[string]auth.Scope{"lead": auth.Admin, "alice": auth.Read} {
		if r.tokens[subject], _, err = token.Add(file, token.Info{Subject: subject, Scope: scope}); err != nil {
			t.Fatal(err)
		}
	}
	if r.tokens["late"], _, err = token.Add(file, token.Info{Subject: "late", Scope: auth.Read, Expires: time.Now().Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		a, err := app.Open(ctx, app.Config{Store: r.store, HTTP: app.HTTPConfig{Addr: "127.0.0.1:0", Tokens: file, Ready: func(url string) { ready <- url }}})
		if err == nil {
			err = a.ServeHTTP(ctx)
			_ = a.Close()
		}
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	select {
	case url := <-ready:
		r.server = strings.TrimSuffix(url, "/mcp")
	case err := <-done:
		t.Fatal(err)
	case <-time.After(time.Minute):
		t.Fatal("the server does not start")
	}
	return r
}

// longThoughts is how many thoughts the long session has: more than a reply of the server.
const longThoughts = 2100

func fillForReaders(t *testing.T, e *sequent.Engine) {
	t.Helper()
	ctx := t.Context()
	record := func(owner string, id sequent.ID, change func(*sequent.Change) error) {
		t.Helper()
		if _, err := e.Owned(owner).Ensure(ctx, id, change); err != nil {
			t.Fatal(err)
		}
	}
	appended := func(c *sequent.Change, drafts ...sequent.Draft) error {
		for _, d := range drafts {
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	}
	record("bob", "long", func(c *sequent.Change) error {
		for n := range longThoughts {
			d := sequent.Draft{Number: n + 1, Total: longThoughts, Text: fmt.Sprintf("Step %d of the migration, with its reasons.", n+1)}
			switch {
			case n > 50 && n%400 == 0:
				d.Revision, d.Revises = true, sequent.To(n-1)
			case n > 50 && n%500 < 20:
				d.Branch, d.From = fmt.Sprintf("plan %d", n/500), sequent.To(40)
			}
			if err := appended(c, d); err != nil {
				return err
			}
		}
		c.SetLabel("stage", "late <&> é")
		return nil
	})
	record("bob", "long", func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 7, Kind: sequent.Wrong, Text: "Not so.", From: "lead"})
	})
	for i := range 30 {
		owner := []string{"alice", "bob"}[i%2]
		if ctx = t.Context(); i%3 == 0 {
			ctx = sequent.WithOrigin(ctx, func() sequent.Origin {
				return sequent.Origin{Project: "https://example.com/pool", Client: "editor", Agent: "a1"}
			})
		}
		record(owner, sequent.ID(fmt.Sprintf("s%02d", i)), func(c *sequent.Change) error {
			return appended(c, sequent.Draft{Number: 1, Total: 2, Text: fmt.Sprintf("Which pool fits %d?", i)},
				sequent.Draft{Number: 2, Total: 2, Text: "The small pool."},
				sequent.Draft{Number: 3, Total: 3, Text: "The larger pool.", Revision: true, Revises: sequent.To(2), Final: i%2 == 1})
		})
	}
	record("alice", "same", func(c *sequent.Change) error { return appended(c, sequent.Draft{Number: 1, Text: "mine", Final: true}) })
	record("bob", "same", func(c *sequent.Change) error {
		return appended(c, sequent.Draft{Number: 1, Text: "also mine", Final: true})
	})
	record("lead", "demo", func(c *sequent.Change) error {
		return appended(c, sequent.Draft{Number: 1, Text: "a pool of the demo", Final: true})
	})
}

// The commands print the same for the sessions of a store and for those of a server.
func TestReadServer(t *testing.T) {
	t.Parallel()
	r := newReaders(t)
	for _, args := range [][]string{
		{"list", "--all-owners"},
		{"list", "--all-owners", "--limit", "7", "--project", "https://example.com/pool"},
		{"list", "--all-owners", "--client", "editor", "--since", "1d"},
		{"list", "--owner", "bbo"},
		{"search", "--all-owners", "pool", "--limit", "5"},
		{"search", "--owner", "bob", "--session", "long", "step 17"},
		{"search", "--owner", "bob", "step", "--limit", "90"}, // more than a reply has
		{"search", "--owner", "aliec", "pool"},
		{"search", "--all-owners", "--", "-only"},
		{"show", "--owner", "bob", "long", "--full"},
		{"show", "--all-owners", "long#plan 2#1001"},
		{"show", "--all-owners", "same"},
		{"show", "--owner", "alice", "unknown"},
		{"export", "--owner", "bob", "long"},
		{"analyze", "--all-owners", "--idle", "1h"},
		{"store", "verify", "--all"},
		{"store", "verify", "--owner", "bob", "lon"},
		{"watch", "--owner", "bob", "s01", "--until-complete"},
		{"watch", "--all-owners", "long#9"},
		{"server", "owners"},
		{"server", "owners", "--owner", "bbo"},
	} {
		for _, more := range [][]string{nil, {"--json"}} {
			if more != nil && args[0] == "show" && len(args) > 4 {
				continue // it has the same objects as others
			}
			args := append(args, more...)
			code, out, stderr := r.run(t, "", args...)
			remoteCode, remoteOut, remoteErr := r.run(t, "lead", args...)
			if code != remoteCode || out != remoteOut || stderr != remoteErr {
				t.Errorf("%q exits with %d and prints\n%.2000s%s\nof a server with %d\n%.2000s%s", args, code, out, stderr, remoteCode, remoteOut, remoteErr)
			}
			if code == 0 && out == "" {
				t.Errorf("%q prints nothing", args)
			}
		}
	}
}

// What a token does not allow, and a server that cannot answer, are refused with what to do.
func TestReadServerRefused(t *testing.T) {
	t.Parallel()
	r := newReaders(t)
	older := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if q.URL.Path == "/api/v1/" {
			fmt.Fprint(w, `{"version":1,"program":"1.0","auth":"token","write":true}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":{"code":"no_such_method","message":"the API has no such method","fix":"see docs/reference/api.md"}}`)
	}))
	t.Cleanup(older.Close)
	another := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(another.Close)
	away := httptest.NewServer(nil)
	away.Close()
	r.tokens["nobody"], r.tokens["mallory"] = "", "sequent_wrong"
	for _, tt := range []struct {
		subject, server string
		args            []string
		want            []string
	}{
		{"alice", r.server, []string{"list", "--all-owners"}, []string{"sequent:admin", "sequent server token new alice --scope admin"}},
		{"alice", r.server, []string{"search", "--all-owners", "pool"}, []string{"sequent:admin"}},
		{"alice", r.server, []string{"show", "--owner", "bob", "long"}, []string{"sequent:admin"}},
		{"alice", r.server, []string{"server", "owners"}, []string{"sequent:admin"}},
		{"alice", r.server, []string{"analyze", "--all-owners"}, []string{"sequent:admin"}},
		{"alice", r.server, []string{"analyze", "--owner", "bob"}, []string{"sequent:admin"}},
		{"alice", r.server, []string{"store", "verify", "--all", "--owner", "bob"}, []string{"sequent:admin"}},
		{"alice", r.server, []string{"watch", "--owner", "bob"}, []string{"sequent:admin"}},
		{"alice", r.server, []string{"watch", "--all-owners"}, []string{"sequent:admin"}},
		{"mallory", r.server, []string{"watch"}, []string{"not valid", "SEQUENT_TOKEN"}},
		{"lead", away.URL, []string{"watch"}, []string{"cannot be reached", "check the URL"}},
		{"lead", r.server, []string{"delete", "--owner", "bob", "--all", "--yes"}, []string{"sequent delete works on a store", "on the server's machine"}},
		{"lead", r.server, []string{"server", "owners", "rename", "bob", "bert"}, []string{"sequent server owners rename works on a store", "on the server's machine"}},
		{"lead", r.server, []string{"import", "x.json"}, []string{"sequent import works on a store", "on the server's machine"}},
		{"lead", r.server, []string{"store", "compact", "--server", r.server}, []string{"sequent store compact works on a store, not on a server"}},
		{"alice", r.server, []string{"show", "long"}, []string{"no session has an id that begins with"}},
		{"nobody", r.server, []string{"list"}, []string{"needs a token", "set SEQUENT_TOKEN to your token", "sequent server token new NAME"}},
		{"mallory", r.server, []string{"list"}, []string{"not valid", "set SEQUENT_TOKEN to another token", "sequent server token new NAME"}},
		{"late", r.server, []string{"list"}, []string{"the token expired at", "set SEQUENT_TOKEN to another token"}},
		{"lead", r.server, []string{"brief", "s00"}, []string{"pass --owner NAME or --all-owners; owners with sessions: alice (16), bob (17)"}},
		{"lead", r.server, []string{"store", "verify", "s00"}, []string{"pass --owner NAME or --all-owners; owners with sessions: alice (16), bob (17)"}},
		{"lead", older.URL, []string{"list"}, []string{"older than this command", "upgrade sequent on the server"}},
		{"lead", another.URL, []string{"list"}, []string{"is no server of sequent"}},
		{"lead", away.URL, []string{"list"}, []string{"cannot be reached", "check the URL"}},
		{"lead", "http://example.com", []string{"list"}, []string{"unencrypted"}},
		{"lead", r.server, []string{"list", "--store", "x.db", "--server", r.server}, []string{"mutually exclusive"}},
	} {
		one := *r
		one.server = tt.server
		code, out, stderr := one.run(t, tt.subject, tt.args...)
		for _, want := range tt.want {
			if code == 0 || out != "" || !strings.Contains(stderr, want) {
				t.Errorf("%s %q exits with %d and prints %s%s, want %s", tt.subject, tt.args, code, out, stderr, want)
			}
		}
		if strings.Contains(stderr, "sequent_") {
			t.Errorf("%s %q prints a token: %s", tt.subject, tt.args, stderr)
		}
	}

	// A token sees the sessions of its subject.
	_, own, _ := r.run(t, "", "list", "--owner", "alice", "--json")
	for _, args := range [][]string{{"list", "--json"}, {"list", "--owner", "alice", "--json"}} {
		if code, out, stderr := r.run(t, "alice", args...); code != 0 || out != own {
			t.Errorf("%q of alice exits with %d and prints %s%s, want %s", args, code, out, stderr, own)
		}
	}
	_, own, _ = r.run(t, "", "store", "verify", "--all", "--owner", "alice", "--json")
	if code, out, stderr := r.run(t, "alice", "store", "verify", "--all", "--json"); code != 0 || out != own {
		t.Errorf("verify --all of alice exits with %d and prints %s%s, want %s", code, out, stderr, own)
	}
	if code, out, stderr := r.run(t, "alice", "server", "owners", "--owner", "alice"); code != 0 || !strings.Contains(out, "alice") || strings.Contains(out, "bob") {
		t.Errorf("owners of alice exits with %d and prints %s%s", code, out, stderr)
	}
}

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
	fillForReaders(t, openStore(t, r.store).Engine)
	file := filepath.Join(dir, "tokens")
	for _, info := range []token.Info{
		{Subject: "lead", Scope: auth.Admin}, {Subject: "alice", Scope: auth.Read}, {Subject: "late", Scope: auth.Read, Expires: time.Now().Add(-time.Hour)},
	} {
		var err error
		if r.tokens[info.Subject], _, err = token.Add(file, info); err != nil {
			t.Fatal(err)
		}
	}
	address, stop := serveStore(t, r.store, app.HTTPConfig{Addr: "127.0.0.1:0", Tokens: file})
	t.Cleanup(stop)
	r.server = "http://" + address
	return r
}

// openStore opens a store until the test ends.
func openStore(t *testing.T, store string) *app.App {
	t.Helper()
	a, err := app.Open(t.Context(), app.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// serveStore serves a store over HTTP, and returns the address.
func serveStore(t *testing.T, store string, h app.HTTPConfig) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, done := make(chan string, 1), make(chan error, 1)
	h.Ready = func(url string) { ready <- url }
	go func() {
		a, err := app.Open(ctx, app.Config{Store: store, HTTP: h})
		if err == nil {
			err = a.ServeHTTP(ctx)
			_ = a.Close() // the store is a file that the test has open
		}
		done <- err
	}()
	select {
	case url := <-ready:
		address = strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	case err := <-done:
		t.Fatal(err)
	case <-time.After(time.Minute):
		t.Fatal("the server does not start")
	}
	return address, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func fillForReaders(t *testing.T, e *sequent.Engine) {
	t.Helper()
	record := func(ctx context.Context, owner string, id sequent.ID, drafts ...sequent.Draft) {
		t.Helper()
		if _, err := e.Owned(owner).Append(ctx, id, drafts...); err != nil {
			t.Fatal(err)
		}
	}
	const longThoughts = 2100 // more than a reply of the server has
	var long []sequent.Draft
	for n := range longThoughts {
		d := sequent.Draft{Number: n + 1, Total: longThoughts, Text: fmt.Sprintf("Step %d of the migration, with its reasons.", n+1)}
		switch {
		case n > 50 && n%400 == 0:
			d.Revision, d.Revises = true, sequent.To(n-1)
		case n > 50 && n%500 < 20:
			d.Branch, d.From = fmt.Sprintf("plan %d", n/500), sequent.To(40)
		}
		long = append(long, d)
	}
	record(t.Context(), "bob", "long", long...)
	if _, err := e.Owned("bob").Update(t.Context(), "long", func(c *sequent.Change) error {
		c.SetLabel("stage", "late <&> é")
		return c.AddNote(sequent.Note{Seq: 7, Kind: sequent.Wrong, Text: "Not so.", From: "lead"})
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		ctx := t.Context()
		if i%3 == 0 {
			ctx = sequent.WithOrigin(ctx, func() sequent.Origin {
				return sequent.Origin{Project: "https://example.com/pool", Client: "editor", Agent: "a1"}
			})
		}
		record(ctx, []string{"alice", "bob"}[i%2], sequent.ID(fmt.Sprintf("s%02d", i)),
			sequent.Draft{Number: 1, Total: 2, Text: fmt.Sprintf("Which pool fits %d?", i)},
			sequent.Draft{Number: 2, Total: 2, Text: "The small pool."},
			sequent.Draft{Number: 3, Total: 3, Text: "The larger pool.", Revision: true, Revises: sequent.To(2), Final: i%2 == 1})
	}
	for _, k := range []sequent.Key{{Owner: "alice", ID: "same"}, {Owner: "bob", ID: "same"}, {Owner: "lead", ID: "demo"}} {
		record(t.Context(), k.Owner, k.ID, sequent.Draft{Number: 1, Text: "a pool of " + k.Owner, Final: true})
	}
}

// The commands print the same for the sessions of a store and for those of a server.
func TestReadServer(t *testing.T) {
	t.Parallel()
	r := newReaders(t)
	for _, args := range [][]string{
		{"list", "--all-owners"},
		{"list", "--all-owners", "--limit", "7", "--project", "https://example.com/pool"},
		{"list", "--all-owners", "--since", "1d"},
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
		{"analyze", "--all-owners", "--since", "1h"},
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
		{"nobody", r.server, []string{"list"}, []string{"needs a token", "set SEQUENT_TOKEN to a token", "sequent server login --server http://127.0.0.1"}},
		{"mallory", r.server, []string{"list"}, []string{"not valid", "set SEQUENT_TOKEN to a token"}},
		{"late", r.server, []string{"list"}, []string{"the token expired at", "set SEQUENT_TOKEN to a token"}},
		{"lead", r.server, []string{"brief", "s00"}, []string{"pass --owner NAME or --all-owners; owners with sessions: alice (16), bob (17)"}},
		{"lead", r.server, []string{"store", "verify", "s00"}, []string{"pass --owner NAME or --all-owners; owners with sessions: alice (16), bob (17)"}},
		{"lead", another.URL, []string{"list"}, []string{"is no server of sequent"}},
		{"lead", away.URL, []string{"list"}, []string{"cannot be reached", "check the URL"}},
		{"lead", "http://example.com", []string{"list"}, []string{"unencrypted"}},
		{"lead", r.server, []string{"list", "--store", "x.db", "--server", r.server}, []string{"mutually exclusive"}},
		{"alice", r.server, []string{"note", "s00#1", "No."}, []string{"sequent:write"}},
		{"lead", r.server, []string{"note", "--owner", "bob", "long#1", "No."}, []string{"notes are for sessions of one's own", "ask their owner"}},
		{"lead", r.server, []string{"note", "demo#1", "No.", "--from", "Kim"}, []string{"--from", "leave --from out"}},
		{"lead", r.server, []string{"note", "demo#9", "No."}, []string{"9"}},
		{"lead", r.server, []string{"note", "demo", "No."}, []string{"a note belongs to a thought", "demo#N"}},
		{"lead", r.server, []string{"note", "nosuch#1", "No."}, []string{"no session has an id that begins with"}},
		{"lead", r.server, []string{"note", "demo#1", strings.Repeat("long ", 14_000)}, []string{"text has 70000 bytes, the limit is 65536"}},
	} {
		one := *r
		one.server = tt.server
		code, out, stderr := one.run(t, tt.subject, tt.args...)
		for _, want := range tt.want {
			if code == 0 || out != "" || !strings.Contains(stderr, want) {
				t.Errorf("%s %.60q exits with %d and prints %s%s, want %s", tt.subject, tt.args, code, out, stderr, want)
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
	// A note is recorded for the token's subject; those that were refused were not.
	code, out, stderr := r.run(t, "lead", "note", "de#1", "--wrong", "no", "pool", "--json")
	if want := `{"session":"demo","seq":1,"kind":"wrong","text":"no pool","from":"lead","at":"`; code != 0 || !strings.HasPrefix(out, want) || !strings.HasSuffix(out, `","owner":"lead"}`+"\n") {
		t.Errorf("note exits with %d and prints %s%s, want %s", code, out, stderr, want)
	}
	if code, out, stderr = r.run(t, "lead", "note", "demo@1", "--approve"); code != 0 || out != "Noted at thought #1 of session demo.\n" {
		t.Errorf("note exits with %d and prints %s%s", code, out, stderr)
	}
	_, notes, _ := r.run(t, "", "watch", "--owner", "lead", "demo", "--until-complete")
	if strings.Count(notes, "note on") != 2 || !strings.Contains(notes, "note on #1 wrong (lead): no pool\n") || !strings.Contains(notes, "note on #1 approved (lead)") {
		t.Errorf("the store has %s", notes)
	}
}

// A token does not cross the network unencrypted.
func TestRemoteAddress(t *testing.T) {
	for address, fine := range map[string]bool{
		"https://think.example.com": true, "http://127.0.0.1:8080/ui/": true, "http://[::1]:8080": true, "http://localhost:1": true,
		"http://think.example.com": false, "ftp://x": false, "127.0.0.1:8080": false, "http://user:secret@localhost": false,
	} {
		if _, err := newRemote(address, "token"); (err == nil) != fine {
			t.Errorf("%s: %v", address, err)
		}
	}
}

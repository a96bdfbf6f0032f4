package command

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
)

// watch --server follows a session of a server that is restarted meanwhile, and writes every
// thought once.
func TestWatchServer(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	a, err := app.Open(t.Context(), app.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	change := func(id sequent.ID, f func(*sequent.Change) error) {
		t.Helper()
		if _, err := a.Engine.Ensure(t.Context(), id, f); err != nil {
			t.Fatal(err)
		}
	}
	think := func(id sequent.ID, text string, more bool) {
		t.Helper()
		change(id, func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: 1, Text: text, Branch: "side", From: sequent.To(1), Final: !more})
			return err
		})
	}
	change("plan", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Text: "first"})
		return err
	})
	address := "127.0.0.1:0"
	serve := func() (stop func()) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		ready, done := make(chan string, 1), make(chan error, 1)
		go func() {
			a, err := app.Open(ctx, app.Config{Store: store, HTTP: app.HTTPConfig{Addr: address, Ready: func(url string) { ready <- url }}})
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
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	stopServer := serve()
	run := func(args ...string) (*exec.Cmd, <-chan string) {
		return startCommand(t, append([]string{"watch", "--json", "--all-projects", "--server", "http://" + address + "/ui/"}, args...)...)
	}
	one, lines := run("pl", "--until-complete")
	expect := func(lines <-chan string, want string) {
		t.Helper()
		select {
		case got := <-lines:
			if !strings.Contains(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("%s is not JSON", got)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no line for %s", want)
		}
	}
	expect(lines, `"text":"first"`)
	think("plan", "second", true)
	expect(lines, `"text":"second","branch":"side","from":1`)
	change("plan", func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 2, Kind: sequent.Wrong, Text: "No."})
	})
	expect(lines, `"kind":"wrong"`)

	all, others := run()
	refused, said := run("nothing")
	for range said {
		t.Error("a session that does not exist has thoughts")
	}
	if err := refused.Wait(); err == nil || err.(*exec.ExitError).ExitCode() == 0 {
		t.Errorf("a session that does not exist: %v", err)
	}
	// The list was read before refused could end; what follows is new.
	for n := 0; ; n++ {
		think("probe", "probe", true)
		select {
		case got := <-others:
			if !strings.Contains(got, `"text":"probe"`) {
				t.Errorf("got %s", got)
			}
		case <-time.After(time.Second):
			if n > 60 {
				t.Fatal("watch without an ID writes nothing")
			}
			continue
		}
		break
	}
	if err := all.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for range others {
	}
	if err := all.Wait(); err != nil && !stopKills {
		t.Errorf("sequent watch ended with %v", err)
	}

	stopServer()
	think("plan", "while it is away", true)
	stopServer = serve()
	defer func() { stopServer() }()
	expect(lines, `"text":"while it is away"`)
	think("plan", "the last", false)
	change("plan", func(c *sequent.Change) error { c.SetState(sequent.Completed); return nil })
	expect(lines, `"text":"the last"`)
	for line := range lines {
		t.Errorf("after the end: %s", line)
	}
	if err := one.Wait(); err != nil {
		t.Error(err)
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

package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
)

// sequent watch prints thoughts of a session that another process records; see also TestWatchAllOwners.
func TestWatchLive(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	e := openStore(t, store).Engine
	think := func(text string, final bool) {
		t.Helper()
		if _, err := e.Append(t.Context(), "live", sequent.Draft{Text: text, Final: final}); err != nil {
			t.Fatal(err)
		}
	}
	think("before", false)
	one, oneLines := startCommand(t, nil, "watch", "--json", "--until-complete", "--store", store, "live")
	if got := <-oneLines; !strings.Contains(got, `"text":"before"`) {
		t.Errorf("got first line %s, want the existing thought", got)
	}
	think("now", false)
	if got := <-oneLines; !strings.Contains(got, `"text":"now"`) || !strings.Contains(got, `"seq":2,`) {
		t.Errorf("got second line %s, want the new thought", got)
	}
	think("last", true)
	seen := ""
	for line := range oneLines {
		seen = line
	}
	if err := one.Wait(); err != nil || !strings.Contains(seen, `"text":"last"`) {
		t.Errorf("watch ended with %v after %s, want the last thought", err, seen)
	}
}

// watch --server follows a session of a server that is restarted meanwhile, and writes every
// thought once.
func TestWatchServer(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	a := openStore(t, store)
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
	address, stopServer := serveStore(t, store, app.HTTPConfig{Addr: "127.0.0.1:0"})
	run := func(args ...string) (*exec.Cmd, <-chan string) {
		return startCommand(t, nil, append([]string{"watch", "--json", "--all-projects", "--server", "http://" + address + "/ui/"}, args...)...)
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
	_, stopServer = serveStore(t, store, app.HTTPConfig{Addr: address})
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

// watch --server ends when its session is deleted, also if a page of other sessions is newer.
func TestWatchServerDeleted(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	e := openStore(t, store).Engine
	for i := range 102 { // a page of a list has 100
		id := sequent.ID(fmt.Sprint("s", i))
		if _, err := e.Append(t.Context(), id, sequent.Draft{Text: "first of " + string(id)}); err != nil {
			t.Fatal(err)
		}
	}
	address, stopServer := serveStore(t, store, app.HTTPConfig{Addr: "127.0.0.1:0"})
	defer stopServer()
	cmd, lines := startCommand(t, nil, "watch", "--json", "--all-projects", "--server", "http://"+address+"/ui/", "s0")
	if got := <-lines; !strings.Contains(got, `"first of s0"`) {
		t.Errorf("got %s", got)
	}
	if err := e.Delete(t.Context(), "s0"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for range lines {
		}
		ended <- cmd.Wait()
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("watch ended without an error")
		}
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		t.Error("watch does not notice that its session was deleted")
	}
}

// watch --all-owners names the owner of each thought, beside the store and from a server.
func TestWatchAllOwners(t *testing.T) {
	t.Parallel()
	r := newReaders(t)
	a := openStore(t, r.store)
	think := func(owner, text string) {
		t.Helper()
		_, err := a.Engine.Owned(owner).Ensure(t.Context(), "same", func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: 1, Branch: "side", From: sequent.To(1), Text: text})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"SEQUENT_SERVER=" + r.server, "SEQUENT_TOKEN=" + r.tokens["lead"]}
	for _, where := range []struct {
		name string
		env  []string
		args []string
	}{{"store", nil, []string{"--store", r.store}}, {"server", env, nil}} {
		cmd, lines := startCommand(t, where.env, append([]string{"watch", "--all-owners", "--all-projects"}, where.args...)...)
		// The list was read before the first line; what follows is new.
		for n, seen := 0, false; !seen; n++ {
			think("carol", "probe")
			select {
			case got := <-lines:
				if seen = true; !strings.Contains(got, " same carol ") {
					t.Errorf("%s: got %s", where.name, got)
				}
			case <-time.After(time.Second):
				if n > 60 {
					t.Fatalf("%s: watch writes nothing", where.name)
				}
			}
		}
		for _, owner := range []string{"alice", "bob"} {
			think(owner, "of "+owner)
			for got := "probe"; strings.Contains(got, "probe"); {
				select {
				case got = <-lines:
				case <-time.After(time.Minute):
					t.Fatalf("%s: no thought of %s", where.name, owner)
				}
				if !strings.Contains(got, "probe") && !strings.HasSuffix(got, "of "+owner) || strings.Contains(got, " same "+owner+" ") == strings.Contains(got, "probe") {
					t.Errorf("%s: got %s, want the thought of %s", where.name, got, owner)
				}
			}
		}
		stop(t, cmd)
		for got := range lines {
			t.Errorf("%s: got %s", where.name, got)
		}
		if err := cmd.Wait(); err != nil && !stopKills {
			t.Errorf("%s: sequent watch ended with %v", where.name, err)
		}
	}
}

// startCommand starts the program, with variables of the environment, and returns its lines of output.
func startCommand(t *testing.T, env []string, args ...string) (*exec.Cmd, <-chan string) {
	t.Helper()
	cmd := exec.Command("sequent", args...)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return cmd, lines
}

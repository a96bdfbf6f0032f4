package classic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/classic"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/tool"
)

type answer struct {
	Total     int `json:"totalThoughts"`
	Length    int `json:"thoughtHistoryLength"`
	SessionID string
	Saved     *bool  `json:"sessionSaved"`
	Error     string `json:"error"`
	Code      string
}

// think makes a call in a scope and returns the reply, which may be a refusal.
func think(t testing.TB, d dialect.Dialect, scope string, exclusive bool, args string) answer {
	t.Helper()
	r, err := d.Tools[0].Call(t.Context(), tool.Call{
		Args: json.RawMessage(args), Caller: tool.Caller{Scope: tool.Scope{Name: scope, Exclusive: exclusive}},
	})
	var a answer
	if err == nil {
		err = json.Unmarshal([]byte(r.Text), &a)
	}
	if err != nil || r.Failed != (a.Error != "") {
		t.Fatalf("call %s: %v, %+v", args, err, r)
	}
	return a
}

func step(n int, last bool) string {
	return call(dialecttest.Step{Number: n, Total: n, Text: fmt.Sprintf("secret thought %d", n), Last: last})
}

// A writer implements an archive with a function.
type writer func(*sequent.Session) error

func (w writer) WriteSession(s *sequent.Session) error { return w(s) }

// Each completion writes the file once, with the session at that time. Other thoughts
// write nothing.
func TestSavedOncePerCompletion(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		var written []string
		d := classic.New(classic.Config{
			Engine: sequent.New(sequent.Config{}),
			Archive: writer(func(s *sequent.Session) error {
				written = append(written, fmt.Sprintf("%d %s", s.Len(), s.State()))
				return nil
			}),
		})
		for n, last := range []bool{false, true, false, false, true, true} {
			a := think(t, d, "a", exclusive, step(n+2, last))
			if a.Saved == nil || *a.Saved != last {
				t.Errorf("thought %d, last %v: sessionSaved is %v", n, last, a.Saved)
			}
		}
		if want := []string{"2 completed", "5 completed", "6 completed"}; !slices.Equal(written, want) {
			t.Errorf("written: %q, want %q", written, want)
		}
	}
}

// If the file cannot be written, the reply and a warning say so, and the thought is
// recorded. The warning does not contain the thought.
func TestNotSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	failing := func(*sequent.Session) error { return errors.New("disk on fire") }
	for name, tt := range map[string]struct {
		archive classic.Archive
		warning string
	}{
		"in the way": {archive.Dir(file), "archive: session files in"},
		"failing":    {writer(failing), "disk on fire"},
		"none":       {nil, ""},
	} {
		var log bytes.Buffer
		e := sequent.New(sequent.Config{})
		d := classic.New(classic.Config{Engine: e, Archive: tt.archive, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		think(t, d, "a", true, step(1, false))
		a := think(t, d, "a", true, step(2, true))
		if a.Saved == nil || *a.Saved || a.Length != 2 {
			t.Errorf("%s: got %+v, want sessionSaved false and two thoughts", name, a)
		}
		if !strings.Contains(log.String(), tt.warning) || strings.Contains(log.String(), "secret") || (tt.warning == "") != (log.Len() == 0) {
			t.Errorf("%s: the log has %q, want %q", name, log.String(), tt.warning)
		}
		s, err := e.Session(t.Context(), sequent.ID(a.SessionID))
		if err != nil || s.Len() != 2 || s.State() != sequent.Completed {
			t.Errorf("%s: the store has %+v (%v)", name, s, err)
		}
	}
}

// Two processes complete a session, and the earlier completion is written last: the file
// must have the later one.
func TestSlowWriterDoesNotWin(t *testing.T) {
	e := sequent.New(sequent.Config{})
	dir := archive.Dir(t.TempDir())
	overtaken := false
	d := classic.New(classic.Config{Engine: e, Archive: writer(func(s *sequent.Session) error {
		if overtaken {
			return dir.WriteSession(s)
		}
		overtaken = true
		later, err := e.Update(t.Context(), s.ID(), func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: 3, Total: 3, Text: "later", Final: true})
			return err
		})
		if err != nil {
			return err
		}
		// Reopen the session, which the file does not show.
		if _, err := e.Update(t.Context(), s.ID(), func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: 4, Total: 4, Text: "open"})
			return err
		}); err != nil {
			return err
		}
		return errors.Join(dir.WriteSession(later), dir.WriteSession(s))
	})})
	think(t, d, "a", false, step(1, false))
	a := think(t, d, "a", false, step(2, true))
	s, err := e.Session(t.Context(), sequent.ID(a.SessionID))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(string(dir), a.SessionID, "session.json"))
	if want := archive.SessionFile(s.Upto(3)); err != nil || !bytes.Equal(got, want) || a.Length != 2 || !*a.Saved {
		t.Errorf("%v, reply %+v, file\n%s\nwant\n%s", err, a, got, want)
	}
}

// Sessions of the same second get different numbers, in one process and in several. A
// refused call uses none.
func TestIDs(t *testing.T) {
	now := func() time.Time { return time.Date(2025, time.April, 28, 16, 53, 2, 0, time.FixedZone("", 2*60*60)) }
	store := sequent.NewMemoryStore()
	process := func() dialect.Dialect {
		return classic.New(classic.Config{Engine: sequent.New(sequent.Config{Store: store, Now: now})})
	}
	one, other := process(), process()
	begin := func(d dialect.Dialect, scope, want string) {
		t.Helper()
		if a := think(t, d, scope, true, step(1, true)); a.SessionID != want {
			t.Errorf("got id %s, want %s", a.SessionID, want)
		}
	}
	tooLong := call(dialecttest.Step{Number: 1, Total: 1, Text: strings.Repeat("x", 64<<10+1)})
	if a := think(t, one, "a", true, tooLong); a.Code != "LIMIT_EXCEEDED" {
		t.Errorf("got %+v, want LIMIT_EXCEEDED", a)
	}
	begin(one, "a", "session-20250428-145302")
	begin(one, "b", "session-20250428-145302-2")
	begin(one, "a", "session-20250428-145302-3")
	begin(other, "a", "session-20250428-145302-4")
	if a := think(t, other, "a", true, tooLong); a.Code != "LIMIT_EXCEEDED" {
		t.Errorf("got %+v, want LIMIT_EXCEEDED", a)
	}
	begin(other, "c", "session-20250428-145302-5")
	begin(one, "d", "session-20250428-145302-6")

	var mu sync.Mutex // guards ids
	ids := make(map[string]bool)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			d := one
			if i%2 == 0 {
				d = other
			}
			a := think(t, d, fmt.Sprint("scope", i), i%3 == 0, step(1, false))
			mu.Lock()
			defer mu.Unlock()
			ids[a.SessionID] = true
		})
	}
	wg.Wait()
	for n := 7; n <= 106; n++ {
		if id := fmt.Sprintf("session-20250428-145302-%d", n); !ids[id] {
			t.Errorf("there is no %s", id)
		}
	}
}

// A full session refuses thoughts. thoughtNumber 1 begins another session.
func TestFullSession(t *testing.T) {
	d := classic.New(classic.Config{Engine: sequent.New(sequent.Config{Limits: sequent.Limits{Thoughts: 2}})})
	first := think(t, d, "a", true, step(1, false))
	think(t, d, "a", true, step(2, false))
	if a := think(t, d, "a", true, step(3, false)); a.Code != "LIMIT_EXCEEDED" {
		t.Errorf("got %+v, want LIMIT_EXCEEDED", a)
	}
	if a := think(t, d, "a", true, step(1, false)); a.Error != "" || a.SessionID == first.SessionID || a.Length != 1 {
		t.Errorf("got %+v, want a new session", a)
	}
}

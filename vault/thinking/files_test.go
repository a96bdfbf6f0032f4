package thinking_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

func TestStates(t *testing.T) {
	d := newDesk(t)
	state := func() string {
		var keys []string
		for line := range strings.Lines(d.read()) {
			if key, value, ok := strings.Cut(line, ": "); ok && slices.Contains([]string{"status", "completed", "cancelled", "thoughtCount"}, key) {
				if key == "completed" || key == "cancelled" {
					value = ""
				}
				keys = append(keys, strings.TrimSpace(key+" "+value))
			}
		}
		return strings.Join(keys, ", ")
	}
	want := func(want string) {
		t.Helper()
		if got := state(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		s, err := d.engine.Session(t.Context(), sessionID)
		if err != nil {
			t.Fatal(err)
		}
		if modified := "\nmodified: " + s.Updated().UTC().Format("2006-01-02T15:04:05.000Z") + "\n"; !strings.Contains(d.read(), modified) {
			t.Errorf("want%s%s", modified, d.read())
		}
		d.wantSame()
	}
	d.think(step(0))
	want("status active, thoughtCount 1")
	d.edit("status: active", "status: on hold # for now\nrating: 5")
	d.think(sequent.Draft{Number: 1, Total: 1, Text: "[[done]]", Labels: map[string]string{"conclusion": "It is [[done]]."}, Final: true})
	want("status completed, thoughtCount 2, completed")
	d.think(step(2))
	want("status active, thoughtCount 3")
	s := d.commit(sessionID, func(c *sequent.Change) error {
		c.SetState(sequent.Cancelled)
		_, err := c.Append(sequent.Draft{Number: 3, Total: 3, Final: true})
		c.SetState(sequent.Cancelled)
		return err
	})
	if _, err := d.files.Write(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	want("status cancelled, thoughtCount 4, cancelled")
	if got := strings.Count(d.read(), "## "); got != 4 { // none for the thought without a text
		t.Errorf("%d sections\n%s", got, d.read())
	}
}

func TestSessionWithoutFile(t *testing.T) {
	d := newDesk(t)
	if _, _, err := d.files.Session(t.Context(), sessionID); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("%v", err)
	}
	for _, id := range []sequent.ID{"", "x", "session-", "session-x", "session-1-../../x", "session-1/x", "session-1-" + sequent.ID(strings.Repeat("x", 200)), "Session-1"} {
		if _, _, err := d.files.Session(t.Context(), id); sequent.CodeOf(err) != sequent.CodeInvalidSession {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// A copy of a file is not a session.
func TestCopyOfAFile(t *testing.T) {
	const id = "session-1756610546731-copy"
	d := newDesk(t)
	d.think(step(0))
	d.writeFile("thinking/sequential/"+id+".md", d.read())
	if _, _, err := d.files.Session(t.Context(), id); !errors.Is(err, sequent.ErrExists) {
		t.Errorf("%v", err)
	}
	r := d.sync(false)
	if r.Read != 0 || r.Notes != 0 {
		t.Errorf("%+v", r)
	}
	s := d.commit(id, thought(step(0)))
	if _, err := d.files.Write(t.Context(), s); !errors.Is(err, sequent.ErrExists) {
		t.Errorf("%v", err)
	}
}

// Snapshots may come in any order.
func TestOldSnapshot(t *testing.T) {
	d := newDesk(t)
	old := d.commit(sessionID, thought(step(0)))
	middle := d.commit(sessionID, thought(step(1)))
	d.think(sequent.Draft{Number: 2, Total: 2, Text: "[[end]]", Labels: map[string]string{"conclusion": "[[end]]"}, Final: true})
	want := d.read()
	for _, s := range []*sequent.Session{old, middle} {
		if _, err := d.files.Write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.read(); got != want {
		t.Errorf("%s", got)
	}
	d.wantSame()
}

package analysis_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/analysis"
)

// A judgedSession is one of internal/judged/testdata/earlier.
type judgedSession struct {
	ID        sequent.ID
	Project   string
	Thoughts  []string
	Concluded bool
	Returns   sequent.ID // the session on the same problem; empty if there is none
	Held      bool       // not used to fix the threshold
}

func judgedSessions(t testing.TB) (all []judgedSession) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash("../internal/judged/testdata/earlier/sessions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var s judgedSession
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// write records a session.
func write(t testing.TB, e *sequent.Engine, s judgedSession) {
	t.Helper()
	ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin { return sequent.Origin{Project: s.Project} })
	var drafts []sequent.Draft
	for i, text := range s.Thoughts {
		drafts = append(drafts, sequent.Draft{Number: i + 1, Text: text, Final: s.Concluded && i == len(s.Thoughts)-1})
	}
	if _, err := e.Append(ctx, s.ID, drafts...); err != nil {
		t.Error(err)
	}
}

// Of the sessions that are offered when a problem returns, at least nine in ten are about it, and
// half of the problems that return are offered. The limits hold for the problems that the threshold
// has not seen.
func TestEarlierIsUseful(t *testing.T) {
	now := first
	e := sequent.New(sequent.Config{Now: func() time.Time { return now }})
	type figures struct{ returned, offered, useful int }
	seen := make(map[bool]*figures)
	for _, held := range []bool{false, true} {
		seen[held] = new(figures)
	}
	for _, s := range judgedSessions(t) {
		now = now.Add(24 * time.Hour)
		found, err := analysis.Earlier(t.Context(), e, s.Project, s.Thoughts[0])
		if err != nil {
			t.Fatal(err)
		}
		n := seen[s.Held]
		if s.Returns != "" {
			n.returned++
		}
		if found != nil {
			n.offered++
			if found.ID() == s.Returns {
				n.useful++
			} else {
				t.Logf("held %v: for %s %s is offered, want %q", s.Held, s.ID, found.ID(), s.Returns)
			}
		}
		write(t, e, s)
	}
	for held, n := range seen {
		precision, coverage := float64(n.useful)/float64(n.offered), float64(n.useful)/float64(n.returned)
		t.Logf("held %v: %d of %d offers are useful (%.2f), %d of %d returning problems are offered (%.2f)",
			held, n.useful, n.offered, precision, n.useful, n.returned, coverage)
		if !(precision >= 0.9 && coverage >= 0.5) {
			t.Errorf("held %v: want at least 0.9 and 0.5", held)
		}
	}
}

// Sessions about different repositories are about different problems, also if their texts are long.
func TestEarlierOffersNothingUnrelated(t *testing.T) {
	now := first
	e := sequent.New(sequent.Config{Now: func() time.Time { return now }})
	files, err := filepath.Glob(filepath.FromSlash("../internal/findings/testdata/recorded/*.json"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d recorded sessions, error %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct {
			Session sequent.Header
			Log     []sequent.Entry
		}
		if err := json.Unmarshal(data, &recorded); err != nil {
			t.Fatal(err)
		}
		s := judgedSession{ID: recorded.Session.ID, Project: "p", Concluded: true}
		for _, thought := range sequent.Thoughts(recorded.Log) {
			s.Thoughts = append(s.Thoughts, thought.Text)
		}
		now = now.Add(time.Hour)
		if found, err := analysis.Earlier(t.Context(), e, s.Project, s.Thoughts[0]); err != nil || found != nil {
			t.Errorf("for %s %v is offered, error %v:\n%.300s", s.ID, found.ID(), err, s.Thoughts[0])
		}
		write(t, e, s)
	}
}

// A session is left out that is no answer, or that another agent may be at work on.
func TestEarlierLeavesOut(t *testing.T) {
	const problem = "The indexer deadlocks with the compactor when the journal rotates on overlayfs."
	conclude := func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 2, Text: "The indexer takes both locks in another order.", Final: true})
		return err
	}
	for name, c := range map[string]struct {
		change  func(*sequent.Change) error
		project string // of the session; that of the caller is p
		wait    time.Duration
		want    bool
	}{
		"concluded":          {conclude, "p", 0, true},
		"without a project":  {conclude, "", 0, true},
		"of another project": {conclude, "q", 0, false},
		"unfinished":         {nil, "p", 10 * time.Minute, true},
		"at work":            {nil, "p", 10*time.Minute - time.Second, false},
		"cancelled":          {func(c *sequent.Change) error { c.SetState(sequent.Cancelled); return nil }, "p", time.Hour, false},
		"of the demo":        {func(c *sequent.Change) error { c.SetLabel(sequent.LabelDemo, "1"); return conclude(c) }, "p", 0, false},
		"disputed":           {disputed(conclude, sequent.Wrong), "p", 0, false},
		"disputed no longer": {disputed(conclude, sequent.Wrong, sequent.Approval), "p", 0, true},
		"remarked on":        {disputed(conclude, sequent.Remark), "p", 0, true},
	} {
		now := first
		e := sequent.New(sequent.Config{Now: func() time.Time { return now }})
		write(t, e, judgedSession{ID: "old", Project: c.project, Thoughts: []string{problem}})
		if c.change != nil {
			if _, err := e.Update(t.Context(), "old", c.change); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(c.wait)
		const again = "Deadlock: when the journal rotates on overlayfs, indexer and compactor wait for each other."
		found, err := analysis.Earlier(t.Context(), e, "p", again)
		if err != nil || (found != nil) != c.want {
			t.Errorf("%s: returned %v, want %v, error %v", name, found != nil, c.want, err)
		}
		if found, err := analysis.Earlier(t.Context(), e.Owned("ann"), "p", again); err != nil || found != nil {
			t.Errorf("%s: another owner gets it, error %v", name, err)
		}
		if found, err := analysis.Earlier(t.Context(), e, "", again); err != nil || (found != nil) != (c.want && c.project == "") {
			t.Errorf("%s: without a project %v is returned, error %v", name, found != nil, err)
		}
		if found, err := analysis.Earlier(t.Context(), e, "p", "The indexer."); err != nil || found != nil {
			t.Errorf("%s: it is returned for one word, error %v", name, err)
		}
	}
}

// disputed returns a change that notes are added after.
func disputed(change func(*sequent.Change) error, kinds ...sequent.NoteKind) func(*sequent.Change) error {
	return func(c *sequent.Change) error {
		if err := change(c); err != nil {
			return err
		}
		for _, kind := range kinds {
			if err := c.AddNote(sequent.Note{Seq: 2, Kind: kind, Text: "no"}); err != nil {
				return err
			}
		}
		return nil
	}
}

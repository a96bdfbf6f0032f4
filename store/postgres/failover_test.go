//go:build unix

package postgres

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// The primary of a synchronous standby is killed under load and the standby promoted: nothing
// acknowledged is lost. A process at the address of a standby alone reads, and is told why it
// cannot write.
func TestFailover(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	primary, standby, address := pgtest.Replicated(t, "")
	var engines []*sequent.Engine
	for range 2 {
		s := openAt(t, address)
		t.Cleanup(func() { s.Close() })
		engines = append(engines, sequent.New(sequent.Config{Store: s}))
	}
	primary.Synchronous(t)
	c := newChaos(engines...)
	c.start(t, 16)
	c.more(t, 200)
	standby.CatchUp(t, primary)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	reader := openAt(t, standby.URL(u.Query().Get("search_path")))
	defer reader.Close()
	e := sequent.New(sequent.Config{Store: reader})
	if s, err := e.Session(t.Context(), "session 0"); err != nil || s.Len() == 0 {
		t.Errorf("the standby shows %v, %v", s, err)
	}
	if _, err := e.Ensure(t.Context(), "session 0", adding("no")); sequent.CodeOf(err) != sequent.CodeReadOnly {
		t.Errorf("a write to a standby: %v, want code %s", err, sequent.CodeReadOnly)
	}
	primary.Crash(t)
	standby.Promote(t)
	c.more(t, 200)
	c.check(t)
}

// After a fail-over to an asynchronous standby that lacks two commits, processes that have shown
// them show what is left, and go on from there.
func TestLostCommits(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	for _, again := range []int{0, 2} { // thoughts of another process before those look again
		t.Run(fmt.Sprint(again), func(t *testing.T) {
			t.Parallel()
			primary, standby, address := pgtest.Replicated(t, "")
			var processes []*sequent.Engine
			process := func() *sequent.Engine {
				s := openAt(t, address)
				t.Cleanup(func() { s.Close() })
				return sequent.New(sequent.Config{Store: s})
			}
			processes = append(processes, process(), process())
			var want []string
			think := func(e *sequent.Engine, name string, n int) {
				t.Helper()
				for i := range n {
					text := fmt.Sprint("heron ", name, i)
					if _, err := e.Ensure(t.Context(), "a", adding(text)); err != nil {
						t.Fatal(err)
					}
					want = append(want, text)
				}
			}
			has := func(e *sequent.Engine, when string) {
				t.Helper()
				s, err := e.Session(t.Context(), "a")
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				var got, found []string
				for th := range s.All() {
					got = append(got, th.Text)
				}
				hits, err := e.Search(t.Context(), sequent.SearchQuery{Text: "heron", Limit: 1000})
				for _, h := range hits.Hits {
					found = append(found, h.Thought.Text)
				}
				slices.Sort(found)
				if !slices.Equal(got, want) || !slices.Equal(found, slices.Sorted(slices.Values(want))) || err != nil || s.Fault() != nil {
					t.Errorf("%s: the session is %q, %v, a search finds %q, %v; want %q", when, got, s.Fault(), found, err, want)
				}
			}
			think(processes[0], "kept", 8)
			has(processes[1], "at first")
			standby.StopReceiving(t, primary)
			kept := slices.Clone(want)
			think(processes[0], "lost", 2)
			for _, p := range processes {
				has(p, "before")
			}
			primary.Kill(t)
			standby.Promote(t)
			want = kept
			if again > 0 {
				think(process(), "other", again)
			}
			for i, p := range processes {
				if i > 0 {
					has(p, "after")
				}
				think(p, fmt.Sprint("next", i), 1)
			}
			for _, p := range processes {
				has(p, "in the end")
			}
		})
	}
}

func TestDiagnose(t *testing.T) {
	t.Parallel()
	address := server.Schema(t)
	finds := func(check string, status diagnosis.Status) {
		t.Helper()
		for _, f := range Diagnose(t.Context(), address) {
			if f.Check == check && f.Status == status {
				return
			}
		}
		t.Errorf("the diagnosis does not find %s: %v; all: %+v", check, status, Diagnose(t.Context(), address))
	}
	finds("format", diagnosis.OK)
	s := openAt(t, address)
	defer s.Close()
	if _, err := sequent.New(sequent.Config{Store: s}).Ensure(t.Context(), "a", adding("a heron stands in the river")); err != nil {
		t.Fatal(err)
	}
	for _, check := range []string{"server", "durability", "connections", "tables", "format"} {
		finds(check, diagnosis.OK)
	}
	for _, f := range Diagnose(t.Context(), address) {
		if f.Status == diagnosis.Fail {
			t.Errorf("%s: %s", f.Check, f.Detail)
		}
	}
	execute(t, address, "UPDATE tool_log SET text = 'another'", "COMMENT ON TABLE tool_sessions IS 'sequent format 2'")
	finds("format", diagnosis.Fail)
	execute(t, address, "COMMENT ON TABLE tool_sessions IS 'sequent format 1'")
	findings := Diagnose(t.Context(), address)
	if !slices.ContainsFunc(findings, func(f diagnosis.Finding) bool { return f.Status == diagnosis.Fail }) {
		t.Errorf("the diagnosis does not find a thought that was altered: %+v", findings)
	}
	address = "postgres://nobody@127.0.0.1:1/x"
	finds("server", diagnosis.Fail)
}

package sequent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// record appends drafts to session "s" of a new engine, one call each.
func record(t testing.TB, drafts ...sequent.Draft) *sequent.Session {
	t.Helper()
	e := sequent.New(sequent.Config{})
	var s *sequent.Session
	for _, d := range drafts {
		s = ensure(t, e, "s", d)
	}
	return s
}

func ensure(t testing.TB, e *sequent.Engine, id sequent.ID, d sequent.Draft) *sequent.Session {
	t.Helper()
	s, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
		_, err := c.Append(d)
		return err
	})
	if err != nil {
		t.Fatalf("Ensure(%q, %+v): %v", id, d, err)
	}
	return s
}

func plain(n int) sequent.Draft {
	return sequent.Draft{Number: n, Total: 9, Text: fmt.Sprintf("thought %d", n)}
}

func revises(n, target int) sequent.Draft {
	d := plain(n)
	d.Revision, d.Revises = true, sequent.To(target)
	return d
}

func on(branch string, d sequent.Draft) sequent.Draft {
	d.Branch = branch
	return d
}

func from(origin int, d sequent.Draft) sequent.Draft {
	d.From = sequent.To(origin)
	return d
}

// verify checks the log of a session as the store has it.
func verify(t *testing.T, e *sequent.Engine, id sequent.ID) sequent.Verification {
	t.Helper()
	h, log, err := e.Entries(t.Context(), id, sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return sequent.Verify(h, log)
}

// chain writes steps as "number@seq", joined by spaces.
func chain(path []sequent.Thought) string {
	var words []string
	for _, t := range path {
		words = append(words, fmt.Sprintf("%d@%d", t.Number, t.Seq))
	}
	return strings.Join(words, " ")
}

func effective(s *sequent.Session, branch string) string {
	var words []string
	for _, st := range s.Effective(branch) {
		w := fmt.Sprintf("%d@%d", st.Number, st.Seq)
		if len(st.Replaced) > 0 {
			w += fmt.Sprintf("(for %d, was %v)", st.Place, st.Replaced)
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name      string
		drafts    []sequent.Draft
		branch    string
		path      string
		effective string
		branches  []string
		next      int
	}{
		{
			name:   "a straight line",
			drafts: []sequent.Draft{plain(1), plain(2), plain(3)},
			path:   "1@1 2@2 3@3", effective: "1@1 2@2 3@3", next: 4,
		},
		{
			name:   "a revision takes the place of what it revises",
			drafts: []sequent.Draft{plain(1), plain(2), plain(3), revises(4, 2), plain(5)},
			path:   "1@1 2@2 3@3 4@4 5@5", effective: "1@1 4@4(for 2, was [2]) 3@3 5@5", next: 6,
		},
		{
			name:   "a revision of a revision",
			drafts: []sequent.Draft{plain(1), plain(2), revises(3, 2), revises(4, 3)},
			path:   "1@1 2@2 3@3 4@4", effective: "1@1 4@4(for 2, was [2 3])", next: 5,
		},
		{
			name:   "two revisions of the same thought",
			drafts: []sequent.Draft{plain(1), plain(2), revises(3, 1), revises(4, 1)},
			path:   "1@1 2@2 3@3 4@4", effective: "4@4(for 1, was [1 3]) 2@2", next: 5,
		},
		{
			name:   "a revision under the number that it revises",
			drafts: []sequent.Draft{plain(1), plain(2), revises(1, 1), plain(3), revises(1, 1)},
			path:   "1@1 2@2 1@3 3@4 1@5", effective: "1@5(for 1, was [1 3]) 2@2 3@4", next: 4,
		},
		{
			name:   "a revision of nothing that exists is a step",
			drafts: []sequent.Draft{plain(1), revises(2, 77)},
			path:   "1@1 2@2", effective: "1@1 2@2", next: 3,
		},
		{
			name:     "a branch",
			drafts:   []sequent.Draft{plain(1), plain(2), plain(3), on("b", from(2, plain(3))), on("b", plain(4)), plain(4)},
			branch:   "b",
			branches: []string{"b"},
			path:     "1@1 2@2 3@4 4@5", effective: "1@1 2@2 3@4 4@5", next: 5,
		},
		{
			name:     "the main line beside a branch",
			drafts:   []sequent.Draft{plain(1), plain(2), on("b", from(1, plain(2))), plain(3)},
			branches: []string{"b"},
			path:     "1@1 2@2 3@4", effective: "1@1 2@2 3@4", next: 4,
		},
		{
			name: "a branch of a branch, named by the number that both lines have",
			drafts: []sequent.Draft{
				plain(1), plain(2), plain(3), on("b", from(1, plain(2))), on("b", plain(3)),
				on("c", from(3, plain(4))), // the 3 of b: that line was used last
			},
			branch: "c", branches: []string{"b", "c"},
			path: "1@1 2@4 3@5 4@6", effective: "1@1 2@4 3@5 4@6", next: 5,
		},
		{
			name: "a revision on a branch leaves the main line alone",
			drafts: []sequent.Draft{
				plain(1), plain(2), plain(3), on("b", from(3, revises(4, 2))), plain(4),
			},
			branches: []string{"b"},
			path:     "1@1 2@2 3@3 4@5", effective: "1@1 2@2 3@3 4@5", next: 5,
		},
		{
			name: "that revision, on its branch",
			drafts: []sequent.Draft{
				plain(1), plain(2), plain(3), on("b", from(3, revises(4, 2))), plain(4),
			},
			branch: "b", branches: []string{"b"},
			path: "1@1 2@2 3@3 4@4", effective: "1@1 4@4(for 2, was [2]) 3@3", next: 5,
		},
		{
			name: "a branch carries the revisions made before it was opened, and no later ones",
			drafts: []sequent.Draft{
				plain(1), plain(2), plain(3), revises(4, 1), plain(5),
				on("b", from(3, plain(4))), revises(6, 2),
			},
			branch: "b", branches: []string{"b"},
			path: "1@1 2@2 3@3 4@4 4@6", effective: "4@4(for 1, was [1]) 2@2 3@3 4@6", next: 5,
		},
		{
			name:   "a branch without an origin leaves at the thought before it",
			drafts: []sequent.Draft{plain(1), plain(2), on("b", plain(3))},
			branch: "b", branches: []string{"b"},
			path: "1@1 2@2 3@3", effective: "1@1 2@2 3@3", next: 4,
		},
		{
			name:   "a branch from nowhere stands alone",
			drafts: []sequent.Draft{plain(1), on("b", from(77, plain(2)))},
			branch: "b", branches: []string{"b"},
			path: "2@2", effective: "2@2", next: 3,
		},
		{
			name:   "an unknown branch",
			drafts: []sequent.Draft{plain(1)},
			branch: "b", next: 1,
		},
		{
			name:     "odd labels are data",
			drafts:   []sequent.Draft{plain(1), on("__proto__", from(1, plain(2))), on("..", from(1, plain(2)))},
			branch:   "__proto__",
			branches: []string{"__proto__", ".."},
			path:     "1@1 2@2", effective: "1@1 2@2", next: 3,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := record(t, tt.drafts...)
			if got := chain(s.Path(tt.branch)); got != tt.path {
				t.Errorf("Path(%q) = %s, want %s", tt.branch, got, tt.path)
			}
			if got := effective(s, tt.branch); got != tt.effective {
				t.Errorf("Effective(%q) = %s, want %s", tt.branch, got, tt.effective)
			}
			if got := s.Branches(); !slices.Equal(got, tt.branches) {
				t.Errorf("Branches() = %q, want %q", got, tt.branches)
			}
			if got := s.NextNumber(tt.branch); got != tt.next {
				t.Errorf("NextNumber(%q) = %d, want %d", tt.branch, got, tt.next)
			}
		})
	}
}

func TestOutlineReadsAsATree(t *testing.T) {
	s := record(t,
		plain(1), plain(2), on("a", from(1, plain(2))), revises(3, 2),
		on("b", from(1, plain(2))), on("aa", from(2, plain(3))), plain(4), on("x", from(77, plain(1))))
	var got []string
	for _, e := range s.Outline() {
		got = append(got, fmt.Sprintf("%*s%s%d@%d", 2*e.Depth, "", e.Branch, e.Number, e.Seq))
	}
	want := []string{
		"1@1", "  a2@3", "  b2@5", "    aa3@6", "2@2", "3@4", "4@7", "  x1@8",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Outline:\n got %q\nwant %q", got, want)
	}
}

func TestASnapshotNeverChanges(t *testing.T) {
	e := sequent.New(sequent.Config{})
	first := ensure(t, e, "s", plain(1))
	ensure(t, e, "s", plain(1))
	ensure(t, e, "s", on("b", from(1, plain(5))))
	if first.Len() != 1 || len(slices.Collect(first.All())) != 1 || len(first.Branches()) != 0 {
		t.Errorf("the first snapshot has %d thoughts and branches %q", first.Len(), first.Branches())
	}
	if got, _ := first.Find("", 1); got.Seq != 1 {
		t.Errorf("Find(1) in the first snapshot = thought at %d, want 1", got.Seq)
	}
	if got := first.NextNumber(""); got != 2 {
		t.Errorf("NextNumber in the first snapshot = %d, want 2", got)
	}
	now, err := e.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := now.Find("", 1); got.Seq != 2 {
		t.Errorf("Find(1) now = thought at %d, want the latest, 2", got.Seq)
	}
	if got := now.Upto(1); got.Len() != 1 || got.State() != sequent.Active || len(got.Branches()) != 0 {
		t.Errorf("Upto(1) = %d thoughts, %s, branches %q", got.Len(), got.State(), got.Branches())
	}
}

func TestLimits(t *testing.T) {
	limits := sequent.Limits{Text: 10, Name: 5, Thoughts: 4, Branches: 2}
	for _, tt := range []struct {
		name  string
		draft sequent.Draft
		code  sequent.Code
		field string
	}{
		{"text as long as allowed", sequent.Draft{Text: strings.Repeat("x", 10)}, "", ""},
		{"text too long", sequent.Draft{Text: strings.Repeat("x", 11)}, sequent.CodeLimitExceeded, "text"},
		{"note too long", sequent.Draft{Note: strings.Repeat("x", 11)}, sequent.CodeLimitExceeded, "note"},
		{"text that is not UTF-8", sequent.Draft{Text: "\xff"}, sequent.CodeInvalidThought, "text"},
		{"five characters of four bytes", sequent.Draft{Branch: "🌿🌿🌿🌿🌿"}, "", ""},
		{"branch too long", sequent.Draft{Branch: "abcdef"}, sequent.CodeLimitExceeded, "branch"},
		{"NUL in a branch", sequent.Draft{Branch: "a\x00"}, sequent.CodeInvalidThought, "branch"},
		{"right-to-left mark in a branch", sequent.Draft{Branch: "a\u202eb"}, sequent.CodeInvalidThought, "branch"},
		{"line break in a branch", sequent.Draft{Branch: "a\nb"}, sequent.CodeInvalidThought, "branch"},
		{"key too long", sequent.Draft{Request: sequent.Request{Key: "abcdef"}}, sequent.CodeLimitExceeded, "requestKey"},
		{"third branch", sequent.Draft{Branch: "b3"}, sequent.CodeLimitExceeded, "branch"},
		{"a used key", sequent.Draft{Request: sequent.Request{Key: "k"}}, sequent.CodeRequestKeyReused, "requestKey"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := sequent.New(sequent.Config{Limits: limits})
			if tt.name != "five characters of four bytes" {
				ensure(t, e, "s", sequent.Draft{Branch: "b1"})
			}
			ensure(t, e, "s", sequent.Draft{Branch: "b2", Request: sequent.Request{Key: "k"}})
			before, err := e.Session(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Update(t.Context(), "s", func(c *sequent.Change) error {
				_, err := c.Append(tt.draft)
				return err
			})
			if got := sequent.CodeOf(err); got != tt.code {
				t.Fatalf("code %q (%v), want %q", got, err, tt.code)
			}
			if err == nil {
				return
			}
			if se, _ := errors.AsType[*sequent.Error](err); se.Field != tt.field {
				t.Errorf("field %q, want %q", se.Field, tt.field)
			}
			after, err := e.Session(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			if after.Version() != before.Version() || after.Len() != before.Len() {
				t.Errorf("a refused append changed the session: %+v, before %+v", after.Header(), before.Header())
			}
		})
	}
	t.Run("too many thoughts", func(t *testing.T) {
		e := sequent.New(sequent.Config{Limits: limits})
		for n := range 4 {
			ensure(t, e, "s", plain(n))
		}
		_, err := e.Update(t.Context(), "s", func(c *sequent.Change) error {
			_, err := c.Append(plain(5))
			return err
		})
		if !errors.Is(err, sequent.ErrLimit) {
			t.Errorf("the fifth of four thoughts: %v", err)
		}
	})
	for _, id := range []sequent.ID{"", "abcdef", "a\x00", "\u200f", "\xff"} {
		_, err := sequent.New(sequent.Config{Limits: limits}).Begin(context.Background(), id, func(*sequent.Change) error { return nil })
		if code := sequent.CodeOf(err); code != sequent.CodeInvalidSession && code != sequent.CodeLimitExceeded {
			t.Errorf("Begin(%q): %v", id, err)
		}
	}
}

func TestTitle(t *testing.T) {
	for text, want := range map[string]string{
		"one line":                     "one line",
		"\n  first \t line \nsecond":   "first line",
		strings.Repeat("wort ", 20):    strings.Repeat("wort ", 15) + "wort…",
		"":                             "",
		strings.Repeat("é", 80):        strings.Repeat("é", 80),
		strings.Repeat("é", 81) + "\n": strings.Repeat("é", 79) + "…",
	} {
		if got := record(t, sequent.Draft{Number: 1, Text: text}).Title(); got != want {
			t.Errorf("title of %q = %q, want %q", text, got, want)
		}
	}
	e := sequent.New(sequent.Config{})
	s, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
		c.SetTitle(" The  problem\nat length")
		_, err := c.Append(sequent.Draft{Text: "a"})
		return err
	})
	if err != nil || s.Title() != "The problem" {
		t.Errorf("the title that was set is %q, %v", s.Title(), err)
	}
}

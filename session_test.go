package sequent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

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
	s, err := e.Append(t.Context(), id, d)
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

// drafts parses drafts with spaces between them: "4~2" is a 4 that revises 2, "b:3<2" a 3 on a
// branch b from 2.
func drafts(text string) (list []sequent.Draft) {
	for word := range strings.FieldsSeq(text) {
		var d sequent.Draft
		if branch, rest, ok := strings.Cut(word, ":"); ok {
			d.Branch, word = branch, rest
		}
		word, origin, leaves := strings.Cut(word, "<")
		word, target, revises := strings.Cut(word, "~")
		number := func(s string) (n int) { fmt.Sscan(s, &n); return n }
		d.Number, d.Text = number(word), "thought "+word
		if leaves {
			d.From = sequent.To(number(origin))
		}
		if revises {
			d.Revises, d.Revision = sequent.To(number(target)), true
		}
		list = append(list, d)
	}
	return list
}

func TestLines(t *testing.T) {
	for name, tt := range map[string]struct {
		drafts, branch, path, effective, branches string
		next                                      int
	}{
		"a straight line": {"1 2 3", "", "1@1 2@2 3@3", "", "", 4},
		"a revision takes the place of what it revises": {"1 2 3 4~2 5", "", "1@1 2@2 3@3 4@4 5@5", "1@1 4@4(for 2, was [2]) 3@3 5@5", "", 6},
		"a revision of a revision":                      {"1 2 3~2 4~3", "", "1@1 2@2 3@3 4@4", "1@1 4@4(for 2, was [2 3])", "", 5},
		"two revisions of the same thought":             {"1 2 3~1 4~1", "", "1@1 2@2 3@3 4@4", "4@4(for 1, was [1 3]) 2@2", "", 5},
		"a revision under the number that it revises":   {"1 2 1~1 3 1~1", "", "1@1 2@2 1@3 3@4 1@5", "1@5(for 1, was [1 3]) 2@2 3@4", "", 4},
		"a revision of nothing that exists is a step":   {"1 2~77", "", "1@1 2@2", "", "", 3},
		"a branch":                      {"1 2 3 b:3<2 b:4 4", "b", "1@1 2@2 3@4 4@5", "", "b", 5},
		"the main line beside a branch": {"1 2 b:2<1 3", "", "1@1 2@2 3@4", "", "b", 4},
		"a branch of a branch, by a number of both; that line was used last": {"1 2 3 b:2<1 b:3 c:4<3", "c", "1@1 2@4 3@5 4@6", "", "b c", 5},
		"a revision on a branch leaves the main line alone":                  {"1 2 3 b:4~2<3 4", "", "1@1 2@2 3@3 4@5", "", "b", 5},
		"that revision, on its branch":                                       {"1 2 3 b:4~2<3 4", "b", "1@1 2@2 3@3 4@4", "1@1 4@4(for 2, was [2]) 3@3", "b", 5},
		"a branch carries the revisions made before it was opened, and no later ones": {
			"1 2 3 4~1 5 b:4<3 6~2", "b", "1@1 2@2 3@3 4@4 4@6", "4@4(for 1, was [1]) 2@2 3@3 4@6", "b", 5},
		"a branch without an origin leaves at the thought before it": {"1 2 b:3", "b", "1@1 2@2 3@3", "", "b", 4},
		"a branch from nowhere stands alone":                         {"1 b:2<77", "b", "2@2", "", "b", 3},
		"an unknown branch":                                          {"1", "b", "", "", "", 1},
		"odd labels are data":                                        {"1 __proto__:2<1 ..:2<1", "__proto__", "1@1 2@2", "", "__proto__ ..", 3},
	} {
		s := record(t, drafts(tt.drafts)...)
		if got := chain(s.Path(tt.branch)); got != tt.path {
			t.Errorf("%s: Path(%q) = %s, want %s", name, tt.branch, got, tt.path)
		}
		if got := effective(s, tt.branch); got != cmp.Or(tt.effective, tt.path) {
			t.Errorf("%s: Effective(%q) = %s, want %s", name, tt.branch, got, cmp.Or(tt.effective, tt.path))
		}
		if got := strings.Join(s.Branches(), " "); got != tt.branches {
			t.Errorf("%s: Branches() = %q, want %q", name, got, tt.branches)
		}
		if got := s.NextNumber(tt.branch); got != tt.next {
			t.Errorf("%s: NextNumber(%q) = %d, want %d", name, tt.branch, got, tt.next)
		}
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
			_, err = e.Append(t.Context(), "s", tt.draft)
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
	e := sequent.New(sequent.Config{Limits: limits})
	for n := range 4 {
		ensure(t, e, "s", plain(n))
	}
	if _, err := e.Append(t.Context(), "s", plain(5)); sequent.CodeOf(err) != sequent.CodeLimitExceeded {
		t.Errorf("the fifth of four thoughts: %v", err)
	}
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
	s, err := sequent.New(sequent.Config{}).Begin(t.Context(), "s", func(c *sequent.Change) error {
		c.SetTitle(" The  problem\nat length")
		_, err := c.Append(sequent.Draft{Text: "a"})
		return err
	})
	if err != nil || s.Title() != "The problem" {
		t.Errorf("the title that was set is %q, %v", s.Title(), err)
	}
}

// Programs put thoughts into files and queues of their own.
func TestThoughtsAreEncoded(t *testing.T) {
	full := sequent.Draft{
		Number: 3, Total: 5, Text: "text", Note: "note", Branch: "b", From: sequent.To(0), Revises: sequent.To(-7),
		Revision: true, Extend: true, Final: true,
		Request: sequent.Request{Key: "k", Digest: "d"}, Labels: map[string]string{"a": "1"},
	}
	at := time.Date(2026, 7, 1, 12, 0, 0, 1000, time.UTC)
	for name, want := range map[string]any{
		"draft":         &full,
		"plain draft":   &sequent.Draft{Number: 1, Text: "text"},
		"zero draft":    &sequent.Draft{},
		"thought":       &sequent.Thought{Draft: full, Seq: 4, After: 3, Supersedes: 2, At: at},
		"plain thought": &sequent.Thought{Draft: sequent.Draft{Number: 1, Revises: sequent.To(1 << 40)}, Seq: 1, At: at},
	} {
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
		if err := json.Unmarshal(data, got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s as JSON: %s is %+v (%v), want %+v", name, data, got, err, want)
		}
	}
}

func TestRefAsJSON(t *testing.T) {
	type refs struct {
		A sequent.Ref
		B sequent.Ref `json:",omitzero"`
		C sequent.Ref `json:",omitzero"`
	}
	const want = `{"A":null,"C":0}`
	if got, err := json.Marshal(refs{C: sequent.To(0)}); err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	var r refs
	if err := json.Unmarshal([]byte(want), &r); err != nil || r != (refs{C: sequent.To(0)}) {
		t.Errorf("%s is %+v (%v)", want, r, err)
	}
	for _, bad := range []string{`"7"`, `7.5`, `1e2`, `{}`, `99999999999999999999`, `true`} {
		if err := json.Unmarshal([]byte(bad), &r.A); err == nil || !strings.Contains(err.Error(), "number of a thought") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestRanges(t *testing.T) {
	numbers := []int{7, 1, 2, 4, 3, 3}
	if got := sequent.Ranges(numbers); got != "1-4, 7" || !slices.Equal(numbers, []int{7, 1, 2, 4, 3, 3}) {
		t.Errorf("got %q, the argument is %v", got, numbers)
	}
	var odd []int
	for i := range 40 {
		odd = append(odd, 2*i+1)
	}
	if got := sequent.Ranges(odd); got != "1, …, 59, 61, 63, 65, 67, 69, 71, 73, 75, 77, 79" {
		t.Errorf("got %q", got)
	}
}

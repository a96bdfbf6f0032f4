package reference_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/reference"
)

// begin records a session whose thoughts are written as "number" or "branch number".
func begin(t testing.TB, e *sequent.Engine, id string, thoughts ...string) *sequent.Session {
	t.Helper()
	s, err := e.Begin(t.Context(), sequent.ID(id), func(c *sequent.Change) error {
		for i, text := range thoughts {
			d := sequent.Draft{Text: fmt.Sprintf("%s at %d", text, i+1)}
			if at := strings.LastIndexByte(text, ' '); at >= 0 {
				d.Branch, text = text[:at], text[at+1:]
			}
			fmt.Sscan(text, &d.Number)
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRefers(t *testing.T) {
	tests := []struct{ text, want string }{
		{"7k3m", "7k3m"}, {"", ""}, {"7k3m#9", "7k3m#9; 7k3m + #9"}, {"7k3m#0", "7k3m#0; 7k3m + #0"},
		{"7k3m@17", "7k3m@17; 7k3m + @17"}, {"7k3m@0", "7k3m@0"},
		{"7k3m#pool#9", "7k3m#pool#9; 7k3m#pool + #9; 7k3m + #pool#9"}, {"a#b@c#9", "a#b@c#9; a#b@c + #9; a + #b@c#9"},
		{"a#b#c#9", "a#b#c#9; a#b#c + #9; a#b + #c#9; a + #b#c#9"}, {"a##9", "a##9; a# + #9"},
		{"a#b@9", "a#b@9; a#b + @9"}, {"#9", "#9"}, {"a#", "a#"}, {"a#pool", "a#pool"}, {"a#-1", "a#-1"},
		{"a#09", "a#09"}, {"a#+9", "a#+9"}, {"a#9 ", "a#9 "}, {"a#99999999999999999999", "a#99999999999999999999"},
	}
	for _, tt := range tests {
		var got []string
		for r := range reference.Readings(tt.text) {
			if r.String() != tt.text {
				t.Errorf("%q: a reading is written %q", tt.text, r)
			}
			reading := string(r.Session)
			if r.NamesThought() {
				r.Session = ""
				reading += " + " + r.String()
			}
			got = append(got, reading)
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%q: got readings %q, want %q", tt.text, got, tt.want)
		}
	}
}

// A text means the thought of the session with the longest ID that exists.
func TestRefer(t *testing.T) {
	e := sequent.New(sequent.Config{})
	begin(t, e, "a", "1", "2", "2", "b 3", "b#c 4", "main 7", "b@1 8")
	begin(t, e, "a#b", "4", "5")
	begin(t, e, "x", "1", "b 3")
	begin(t, e, "zero", "0", "1")
	tests := []struct{ text, want string }{
		{"a", "a"}, {"a#b", "a#b"}, {"a#1", "a: 1 at 1"},
		{"a#2", "a: 2 at 3"}, // the latest
		{"a@2", "a: 2 at 2"}, {"a#b@2", "a#b: 5 at 2"}, {"a#b#4", "a#b: 4 at 1"},
		{"a#b#c#4", "thought_not_found"}, // the session a#b has no branch c
		{"x#b#3", "x: b 3 at 2"}, {"a#b@1#8", "a: b@1 8 at 7"},
		{"a#main#7", "a: main 7 at 6"}, // a branch of that name comes first
		{"x#main#1", "x: 1 at 1"}, {"zero#0", "zero: 0 at 1"}, {"x#3", "thought_not_found"},
		{"x#b#1", "thought_not_found"}, // a thought has one line
		{"x@3", "thought_not_found"}, {"y", "session_not_found"}, {"y#1", "session_not_found"}, {"", "invalid_session"},
		{"#1", "session_not_found"}, {"a\x00#1", "invalid_session"},
		{"x#" + strings.Repeat("#", 400) + "#1", "thought_not_found"},
	}
	for _, tt := range tests {
		s, r, err := reference.Find(t.Context(), e, tt.text)
		got := ""
		if err == nil {
			got = string(s.ID())
			if r.NamesThought() {
				var thought sequent.Thought
				thought, err = r.Resolve(s)
				got += ": " + thought.Text
			}
		}
		if err != nil {
			got = string(sequent.CodeOf(err))
		}
		if got != tt.want {
			t.Errorf("%.40q: got %q (%v), want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestParse(t *testing.T) {
	e := sequent.New(sequent.Config{})
	s := begin(t, e, "a", "1", "2", "a 3", "#x 4", "b#c 5", "7 6", "@5 7")
	tests := []struct{ text, want string }{
		{"2", "#2"}, {"#2", "#2"}, {"@3", "@3"}, {"a#2", "a#2"}, {"a@3", "a@3"},
		{"#a#3", "#a#3"}, {"a#a#3", "a#a#3"}, {"##x#4", "##x#4"}, {"#x#4", "#x#4"},
		{"b#c#5", "#b#c#5"}, {"7#6", "#7#6"}, {"@5#7", "#@5#7"}, {"other#1", "#other#1"},
		{"", "invalid_thought"}, {"two", "invalid_thought"}, {"a", "invalid_thought"}, {"-1", "invalid_thought"}, {"@0", "invalid_thought"},
	}
	for _, tt := range tests {
		got := ""
		r, err := reference.Parse(s, tt.text)
		if got = r.String(); err != nil {
			got = string(sequent.CodeOf(err))
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// The reference to each thought leads back to it, with the ID and without.
func TestReferLeadsBack(t *testing.T) {
	e := sequent.New(sequent.Config{})
	s := begin(t, e, "a#b@7", "1", "2", "2", "0", "-3", "# 1", "#1 1", "a#b@7 5", "@1 2", "main 1", "x 1", "x 1", "x#y 1", "99 1")
	for thought := range s.All() {
		r := reference.To(s, thought.Seq)
		found, back, err := reference.Find(t.Context(), e, r.String())
		if err != nil || back != r {
			t.Errorf("thought %d: %q is read as %+v, %v", thought.Seq, r, back, err)
			continue
		}
		if got, err := back.Resolve(found); err != nil || got.Seq != thought.Seq {
			t.Errorf("thought %d: %q leads to %d, %v", thought.Seq, r, got.Seq, err)
		}
		brief := r.Short()
		r.Session = ""
		for _, text := range []string{r.String(), brief} {
			if short, err := reference.Parse(s, text); err != nil || short != r {
				t.Errorf("thought %d: %q is read as %+v, %v", thought.Seq, text, short, err)
			}
		}
	}
	for seq, want := range map[int]string{1: "a#b@7#1", 2: "a#b@7@2", 3: "a#b@7#2", 14: "a#b@7#99#1", 99: "a#b@7@99"} {
		if got := reference.To(s, seq).String(); got != want {
			t.Errorf("thought %d is %q, want %q", seq, got, want)
		}
	}
}

func TestResolveSaysWhatExists(t *testing.T) {
	e := sequent.New(sequent.Config{})
	s := begin(t, e, "s", "1", "2", "3", "5", "pool 6", "slots 6", "slots 7")
	empty := begin(t, e, "empty")
	tests := []struct {
		s    *sequent.Session
		ref  reference.Reference
		want string
	}{
		{s, reference.Reference{Number: sequent.To(4)}, `there is no thought 4 on the main line of "s", whose numbers are 1-3, 5: name one of these`},
		{s, reference.Reference{Number: sequent.To(6)}, `there is no thought 6 on the main line of "s", whose numbers are 1-3, 5: name one of these, or s#pool#6, s#slots#6`},
		{s, reference.Reference{Branch: "pool", Number: sequent.To(7)}, `there is no thought 7 on the branch "pool" of "s", whose numbers are 6: name one of these, or s#slots#7`},
		{s, reference.Reference{Branch: "poll", Number: sequent.To(6)}, `the session "s" has no branch "poll": its branches are pool, slots`},
		{empty, reference.Reference{Branch: "poll", Number: sequent.To(6)}, `the session "empty" has no branch "poll": it has no branches; leave the name out`},
		{empty, reference.Reference{Number: sequent.To(1)}, `there is no thought 1 on the main line of "empty", whose numbers are none yet`},
		{s, reference.Reference{Seq: 8}, `there is no thought @8: the log of "s" has 7 thoughts`},
		{empty, reference.Reference{Seq: 1}, `there is no thought @1: the log of "empty" has 0 thoughts`},
		{s, reference.Reference{Session: "t", Seq: 1}, `t@1 is a thought of another session than s`},
		{s, reference.Reference{Session: "s"}, `the reference names no thought: add its number, as in s#1`},
	}
	for _, tt := range tests {
		if _, err := tt.ref.Resolve(tt.s); err == nil || err.Error() != tt.want {
			t.Errorf("%q:\n got %v\nwant %s", tt.ref, err, tt.want)
		}
	}
	// An earlier snapshot does not know later thoughts.
	if _, err := (reference.Reference{Branch: "pool", Number: sequent.To(6)}).Resolve(s.Upto(4)); sequent.CodeOf(err) != sequent.CodeThoughtNotFound {
		t.Errorf("a thought after the snapshot: %v", err)
	}
}

func FuzzReference(f *testing.F) {
	for _, text := range []string{"a#9", "a#b#9", "a@17", "#", "a#b@c#0", "a##1", "@1"} {
		f.Add(text)
	}
	s := begin(f, sequent.New(sequent.Config{}), "a", "1", "b 2")
	f.Fuzz(func(t *testing.T, text string) {
		for r := range reference.Readings(text) {
			if r.String() != text {
				t.Fatalf("%q is read as %q", text, r)
			}
		}
		if r, err := reference.Parse(s, text); err == nil {
			if _, err := r.Resolve(s); err != nil && sequent.CodeOf(err) != sequent.CodeThoughtNotFound {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}

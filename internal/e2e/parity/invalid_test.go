package parity

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// An oddity is a change that makes a good call one that at least one of the two
// refuses, and what each makes of it.
type oddity struct {
	field        string
	value        string // in JSON; empty removes the field
	ours, theirs verdict
	why          string // where they differ
}

type verdict bool

const (
	accepts verdict = true
	refuses verdict = false
)

func (v verdict) String() string {
	if v {
		return "accepts"
	}
	return "refuses"
}

// whole stands for the arguments as a whole.
const whole = "(arguments)"

const (
	becauseEmpty  = "the original's validator refuses an empty thought"
	becauseGuess  = "a number is a number: what JavaScript makes one of may be a slip"
	becauseNull   = "models send null for what they leave out"
	becauseString = "models send the arguments as a string"
	becauseLimit  = "names and texts are bounded, and refused rather than cut"
	becausePrints = "a name has no control characters"
	becauseData   = "a name is data; the reference server counts the thought and then fails"
)

// oddities lists them; the first is for numbers and the like.
func oddities() []oddity {
	var list []oddity
	both := func(field string, values ...string) {
		for _, v := range values {
			list = append(list, oddity{field: field, value: v})
		}
	}
	differ := func(ours verdict, why, field string, values ...string) {
		for _, v := range values {
			list = append(list, oddity{field, v, ours, !ours, why})
		}
	}
	required := []string{"thoughtNumber", "totalThoughts"}
	optional := []string{"revisesThought", "branchFromThought"}
	for _, field := range slices.Concat(required, optional) {
		both(field, `0`, `-1`, `1.5`, `"1.5"`, `"0"`, `"-3"`, `"maybe"`, `""`, `" "`, `"seven"`, `"1,000"`, `"1 2"`, `[]`, `{}`, `[1,2]`,
			`9007199254740992`, `"9007199254740992"`, `1e300`, `"Infinity"`, `"NaN"`, `false`, `"true"`, `"١"`)
		differ(refuses, becauseGuess, field, `true`, `[5]`, `["5"]`, `"0x10"`, `"0b11"`, `"05"`, `"+5"`, `".5e1"`, `"5."`)
	}
	for _, field := range required {
		both(field, ``, `null`)
	}
	both("thought", ``, `null`, `7`, `true`, `[]`, `{}`, `["a"]`)
	both("nextThoughtNeeded", ``, `null`)
	for _, field := range []string{"nextThoughtNeeded", "isRevision", "needsMoreThoughts"} {
		both(field, `"maybe"`, `"yes"`, `"1"`, `""`, `0`, `1`, `[]`, `{}`, `[true]`, `"t"`, `"null"`)
	}
	both("branchId", `7`, `true`, `[]`, `{}`, `["a"]`)
	both(whole, `[]`, `7`, `true`, `"x"`, `[{}]`, `{}`, `""`)

	differ(refuses, becauseEmpty, "thought", `""`)
	differ(refuses, becauseLimit, "thought", quote(strings.Repeat("x", 64<<10+1)))
	differ(refuses, becauseLimit, "branchId", quote(strings.Repeat("b", 129)), quote(strings.Repeat("日", 129)))
	differ(refuses, becausePrints, "branchId", `"a\u0000"`, `"\n"`, `"\t"`, `"\u001b[31m"`, `"\u200f"`, `"\u202e"`, `"\ufeff"`, `"\u200d"`, `"\u2028"`)
	differ(accepts, becauseNull, "isRevision", `null`)
	differ(accepts, becauseNull, "needsMoreThoughts", `null`)
	differ(accepts, becauseNull, "branchId", `null`)
	for _, field := range optional {
		differ(accepts, becauseNull, field, `null`)
	}
	differ(accepts, becauseString, whole, quote(object(generator{}.plain())))
	for _, name := range []string{"__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "isPrototypeOf", "__defineGetter__"} {
		differ(accepts, becauseData, "branchId", quote(name))
	}
	return list
}

// plain is a good call.
func (generator) plain() []member {
	return []member{
		{"thought", `"a"`}, {"thoughtNumber", `2`}, {"totalThoughts", `3`}, {"nextThoughtNeeded", `true`},
		{"branchFromThought", `1`}, {"branchId", `"odd"`},
	}
}

// spoil makes the arguments that an oddity describes.
func spoil(o oddity) string {
	if o.field == whole {
		return o.value
	}
	members := slices.DeleteFunc(generator{}.plain(), func(m member) bool { return m.name == o.field })
	if o.value != "" {
		members = append(members, member{o.field, o.value})
	}
	return object(members)
}

// What one of the two refuses is refused by both, or the table says why not. A
// refusal of ours changes nothing and says what was wrong.
func TestParityOfInvalidCalls(t *testing.T) {
	t.Parallel()
	theirs := reference(t)
	g := newGenerator(t)
	table := oddities()
	count := make(map[string]int)
	for i := range max(invalidCalls, len(table)) {
		o := table[i%len(table)]
		var calls []string
		for range g.IntN(4) {
			calls = append(calls, object(g.call(2+g.IntN(5), false, true)))
		}
		at := len(calls)
		calls = append(calls, spoil(o))
		for range 1 + g.IntN(3) {
			calls = append(calls, object(g.call(2+g.IntN(5), false, true)))
		}
		want, got := theirs(t, calls), inProcess(t, calls)

		if verdict(!want[at].Failed) != o.theirs || verdict(!got[at].Failed) != o.ours {
			t.Errorf("%s = %.100s\nours: %v, %s %s\ntheirs: %v, %s %s\nshould be: ours %v, theirs %v", o.field, o.value,
				verdict(!got[at].Failed), got[at].Fields, got[at].Text, verdict(!want[at].Failed), want[at].Fields, want[at].Text, o.ours, o.theirs)
			continue
		}
		length := 0
		for j, a := range got {
			if a.Failed {
				if j != at {
					t.Errorf("a good call is refused: %s: %s", calls[j], a.Text)
				}
				continue
			}
			if length++; *a.Fields.Length != length {
				t.Errorf("%s = %.100s: the history has %d thoughts after %d were accepted", o.field, o.value, *a.Fields.Length, length)
			}
			// Until one alone accepts something, they agree.
			if j < at || o.ours == o.theirs {
				if a.Fields.String() != want[j].Fields.String() {
					t.Errorf("%s = %.100s, call %s\nours:   %s\ntheirs: %s", o.field, o.value, calls[j], a.Fields, want[j].Fields)
				}
			}
		}
		if got[at].Failed {
			var refusal struct{ Error, Code, Field string }
			err := json.Unmarshal([]byte(got[at].Text), &refusal)
			if field := strings.TrimSuffix(o.field, whole); err != nil || refusal.Code == "" || field != "" && refusal.Field != field {
				t.Errorf("%s = %.100s: the refusal is %s", o.field, o.value, got[at].Text)
			}
		}
		count["ours "+o.ours.String()+", theirs "+o.theirs.String()+": "+o.why]++
	}
	t.Logf("%d calls of %d kinds", max(invalidCalls, len(table)), len(table))
	for what, n := range count {
		t.Logf("%4d × %s", n, what)
	}
}

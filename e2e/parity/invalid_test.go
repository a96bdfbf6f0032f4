package parity

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// A fault is a change to a valid call, with the verdict of each server. At least
// one of them refuses the changed call.
type fault struct {
	field        string
	value        string // JSON; empty removes the field
	ours, theirs verdict
	reason       string // why the verdicts differ
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

// whole is the field of faults that replace all arguments.
const whole = "(arguments)"

// The reasons for different verdicts.
const (
	becauseEmpty  = "the original server refuses an empty thought"
	becauseGuess  = "a value that JavaScript converts to a number may be a mistake of the model"
	becauseNull   = "models send null for omitted arguments"
	becauseString = "models send the arguments as a string"
	becauseLimit  = "names and texts have a maximum length"
	becausePrints = "names must not contain control characters"
	becauseData   = "a name is data; the reference server counts the thought and then fails"
)

func faults() []fault {
	var list []fault
	both := func(field string, values ...string) {
		for _, v := range values {
			list = append(list, fault{field: field, value: v})
		}
	}
	differ := func(ours verdict, why, field string, values ...string) {
		for _, v := range values {
			list = append(list, fault{field, v, ours, !ours, why})
		}
	}
	required := []string{"thoughtNumber", "totalThoughts"}
	optional := []string{"revisesThought", "branchFromThought"}
	for _, field := range slices.Concat(required, optional) {
		both(field, `0`, `-1`, `1.5`, `"1.5"`, `"0"`, `"-3"`, `"maybe"`, `""`, `" "`, `"seven"`, `"1,000"`, `"1 2"`, `[]`, `{}`, `[1,2]`,
			`9007199254740992`, `"9007199254740992"`, `1e300`, `"Infinity"`, `"NaN"`, `false`, `"true"`, `"١"`)
		differ(refuses, becauseGuess, field, `true`, `[5]`, `["5"]`)
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
	differ(accepts, becauseString, whole, quote(object(generator{}.valid())))
	for _, name := range []string{"__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "isPrototypeOf", "__defineGetter__"} {
		differ(accepts, becauseData, "branchId", quote(name))
	}
	return list
}

// valid returns the arguments of a valid call.
func (generator) valid() []member {
	return []member{
		{"thought", `"a"`}, {"thoughtNumber", `2`}, {"totalThoughts", `3`}, {"nextThoughtNeeded", `true`},
		{"branchFromThought", `1`}, {"branchId", `"odd"`},
	}
}

// apply returns the arguments of a valid call with a fault.
func apply(o fault) string {
	if o.field == whole {
		return o.value
	}
	members := slices.DeleteFunc(generator{}.valid(), func(m member) bool { return m.name == o.field })
	if o.value != "" {
		members = append(members, member{o.field, o.value})
	}
	return object(members)
}

// Both servers refuse the same calls, except where the table gives a reason. A call
// that classic refuses changes nothing, and the error names the field.
func TestParityOfInvalidCalls(t *testing.T) {
	t.Parallel()
	theirs := reference(t)
	g := newGenerator(t)
	table := faults()
	count := make(map[string]int)
	for i := range max(programtest.Size(invalidCalls), len(table)) {
		o := table[i%len(table)]
		var calls []string
		for range g.IntN(4) {
			calls = append(calls, object(g.call(2+g.IntN(5), false, false)))
		}
		at := len(calls)
		calls = append(calls, apply(o))
		for range 1 + g.IntN(3) {
			calls = append(calls, object(g.call(2+g.IntN(5), false, false)))
		}
		want, got := theirs(t, calls), inProcess(t, calls)

		if verdict(!want[at].Failed) != o.theirs || verdict(!got[at].Failed) != o.ours {
			t.Errorf("%s = %.100s\nours: %v, %s %s\ntheirs: %v, %s %s\nwant: ours %v, theirs %v", o.field, o.value,
				verdict(!got[at].Failed), got[at].Fields, got[at].Text, verdict(!want[at].Failed), want[at].Fields, want[at].Text, o.ours, o.theirs)
			continue
		}
		length := 0
		for j, a := range got {
			if a.Failed {
				if j != at {
					t.Errorf("valid call %s: refused: %s", calls[j], a.Text)
				}
				continue
			}
			if length++; *a.Fields.Length != length {
				t.Errorf("%s = %.100s: got a history of %d thoughts after %d accepted calls", o.field, o.value, *a.Fields.Length, length)
			}
			// They agree until only one of them accepts a call.
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
				t.Errorf("%s = %.100s: got error %s", o.field, o.value, got[at].Text)
			}
		}
		count["ours "+o.ours.String()+", theirs "+o.theirs.String()+": "+o.reason]++
	}
	t.Logf("%d calls of %d kinds", max(programtest.Size(invalidCalls), len(table)), len(table))
	for what, n := range count {
		t.Logf("%4d × %s", n, what)
	}
}

package parity

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator generates calls that both servers accept.
type generator struct{ *rand.Rand }

// A member is a member of the arguments. Its value is JSON.
type member struct{ name, value string }

func object(members []member) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(m.name) + ":" + m.value)
	}
	b.WriteByte('}')
	return b.String()
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// sequence generates the calls of a session. Some sequences end with the completing
// call, others continue after it with calls that reopen the session.
func (g generator) sequence() []string {
	length := 1 + g.IntN(12)
	if g.IntN(50) == 0 {
		length = 200
	}
	var calls []string
	number := 1
	for range length {
		last := g.IntN(12) == 0
		calls = append(calls, object(g.call(number, last, len(calls) == 0)))
		if last && g.IntN(2) == 0 {
			break
		}
		if g.IntN(4) > 0 {
			number++
		}
	}
	return calls
}

// call generates the arguments of a call. Only the first call of a sequence may be a
// plain thought with number 1, with which classic begins a new session.
func (g generator) call(number int, last, first bool) []member {
	switch g.IntN(12) {
	case 0:
		number = 1 + g.IntN(5)
	case 1:
		number = 1 + g.IntN(1<<31)
	case 2:
		number = 1<<53 - 1 - g.IntN(2)
	}
	members := []member{{"thought", g.thought()}, {"nextThoughtNeeded", g.boolean(!last)}}
	plain := true
	maybe := func(odds int, name string, value func() string) {
		if g.IntN(odds) == 0 {
			members = append(members, member{name, value()})
		}
	}
	if g.IntN(3) == 0 {
		branch := g.branch()
		plain = branch == `""`
		members = append(members, member{"branchFromThought", g.reference()}, member{"branchId", branch})
	} else { // sometimes only one of the pair
		maybe(15, "branchFromThought", g.reference)
		maybe(15, "branchId", g.branch)
	}
	flag := func() string {
		set := g.IntN(2) == 0
		plain = plain && !set
		return g.boolean(set)
	}
	maybe(4, "isRevision", flag)
	maybe(5, "revisesThought", func() string {
		plain = false
		return g.reference()
	})
	maybe(6, "needsMoreThoughts", flag)
	if !first && plain {
		number = max(number, 2)
	}
	members = append(members, member{"thoughtNumber", g.integer(number)},
		member{"totalThoughts", g.integer(min(max(1, number+g.IntN(7)-3), 1<<53-1))})
	// Names outside the contract are ignored, also those of other dialects.
	maybe(8, g.pick("sessionId", "thought_number", "requestKey", "Thought", "x", "", "__proto__", "constructor"), func() string {
		return g.pick(`"x"`, `7`, `null`, `{"a":[1,{}]}`, `[]`, `true`)
	})
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return members
}

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) reference() string {
	if g.IntN(5) == 0 {
		return g.integer(1 + g.IntN(1<<20))
	}
	return g.integer(1 + g.IntN(6))
}

// integer formats a number in one of the forms that models use.
func (g generator) integer(n int) string {
	form := g.pick(`%d`, `%d`, `%d`, `"%d"`, `%d.0`, `"%d.0"`, `" %d "`, `%de0`, `"%de0"`)
	if g.IntN(40) == 0 { // those that only JavaScript reads
		form = g.pick(`"0%d"`, `"+%d"`, `"0x%x"`, `"0X%X"`, `"0o%o"`, `"0b%b"`, `"\n%d\t"`, `"%d."`)
	}
	return fmt.Sprintf(form, n)
}

func (g generator) boolean(b bool) string {
	word := fmt.Sprint(b)
	switch g.IntN(6) {
	case 0:
		return quote(word)
	case 1:
		return quote(strings.ToUpper(word))
	case 2:
		return quote(strings.ToUpper(word[:1]) + word[1:])
	default:
		return word
	}
}

// branch generates a name. It excludes the names of properties that every
// JavaScript object has, because the reference server fails on these.
func (g generator) branch() string {
	switch g.IntN(5) {
	case 0: // names that resemble array indexes, which JavaScript orders first
		return quote(g.pick("0", "1", "2", "3", "10", "9", "01", "00", "-1", "-0", "1.5", "1e3", " 1", "0x1", "+1", "١",
			"4294967293", "4294967294", "4294967295", "4294967296", "2147483648", "9007199254740991", "99999999999999999999"))
	case 1:
		return fmt.Sprintf(`"%d"`, g.IntN(1000))
	case 2:
		return quote(g.pick("", " ", "a b", "日本語", "é", "e\u0301", "😀", "𝕏", "A", "a", "\"", "\\", "'", "<b>&", "null", "true",
			"length", "prototype", "..", "/", "$&", "%s", strings.Repeat("long", 32)))
	default:
		return quote(g.pick("a", "b", "c", "alternative", "branch-1", "branch-2"))
	}
}

func (g generator) thought() string {
	switch g.IntN(8) {
	case 0:
		return quote(g.pick(" ", "\n", "\t", "a\nb\r\nc", "\x00", "\x1b[31m", "日本語", "👩‍👩‍👧‍👦", "\u202e", "\u2028", "\ufeff", "\ufffd", "</script>", "null"))
	case 1:
		return quote(strings.Repeat("x", g.IntN(2000)+1))
	case 2:
		return `"\ud83d\ude00 \u0041"`
	default:
		return quote(fmt.Sprintf("thought %d", g.IntN(1000)))
	}
}

package tool

import (
	"fmt"
	"strings"
	"unicode"
)

// An ArgumentError describes an argument that does not fit the schema. Its fields are
// safe to show to the caller.
type ArgumentError struct {
	Field   string // name in the schema; empty for the arguments as a whole
	Value   string // the JSON received, shortened, or a description; empty if missing
	Want    string // description of what is accepted
	Missing bool   // required, but absent or null
}

// Error returns one sentence with the argument, its value and what is accepted.
func (e *ArgumentError) Error() string {
	switch {
	case e.Missing:
		return e.Field + " is missing; it must be " + e.Want
	case e.Field == "":
		return "the arguments are " + e.Value + "; they must be " + e.Want
	default:
		return e.Field + " is " + e.Value + "; it must be " + e.Want
	}
}

// quoted returns the beginning of JSON text for a message, on one line and without
// unprintable characters.
func quoted(raw []byte) string {
	const most = 60
	var b strings.Builder
	n := 0
	for _, r := range string(raw[:min(len(raw), 4*most)]) {
		if n++; n > most {
			break
		}
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "%U", r)
		}
	}
	if n > most || len(raw) > 4*most {
		b.WriteString("…")
	}
	return b.String()
}

// brief is quoted for a name without quotes.
func brief(name []byte) string {
	const most = 40
	s := quoted(name)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

package tool

import (
	"fmt"
	"strings"
	"unicode"
)

// An ArgumentError says which argument of a call does not fit and why. Its parts
// are safe to show to the caller.
type ArgumentError struct {
	Field   string // the argument, as the schema spells it; empty for the arguments as a whole
	Value   string // what it is: the JSON as given, shortened, or a few words; empty if missing
	Want    string // what it must be
	Missing bool   // it is required, and was absent or null
}

// Error returns one sentence that names the argument, what was given and what is
// accepted.
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

// quoted returns the beginning of JSON text for a message: on one line, and with
// nothing in it that does not print.
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

// brief is quoted for a name, which comes without quotes around it.
func brief(name []byte) string {
	const most = 40
	s := quoted(name)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

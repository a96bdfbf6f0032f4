package tool

import (
	"strings"

	"github.com/sequent-dev/sequent/internal/printable"
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

// Fix returns what to do about it.
func (e *ArgumentError) Fix() string {
	switch {
	case e.Missing:
		return "add it and repeat the call"
	case e.Field == "":
		return "send the arguments as one JSON object"
	default:
		return "correct it and repeat the call"
	}
}

// Characters of a value and of a name in a message.
const (
	maxQuoted = 60
	maxName   = 40
)

// quoted returns the beginning of JSON text for a message, on one line.
func quoted(raw []byte, most int) string {
	text := strings.NewReplacer("\n", " ", "\t", " ").Replace(printable.Text(string(raw[:min(len(raw), 4*most+4)])))
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

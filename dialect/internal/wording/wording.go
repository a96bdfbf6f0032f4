// Package wording says an engine's errors in the terms of a dialect. Which terms
// these are is the dialect's own: it has the table.
package wording

import (
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// A Table has a dialect's words for what the engine says.
type Table struct {
	// Codes has the engine's codes, but not the internal error: that one is left
	// to the transport, which logs the cause and tells the client where to find it.
	Codes map[sequent.Code]Words
	// Fields has the engine's names of arguments that have another one here.
	Fields map[string]string
}

// Words are a code of the engine in a dialect.
type Words struct {
	Code string
	Fix  string // where the engine has none, or none in the terms of the dialect
}

// Refusal words an error, and returns the engine's error that it words. It
// reports false for an error without words: a fault.
func (t Table) Refusal(err error) (tool.Refusal, *sequent.Error, bool) {
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return tool.Refusal{}, nil, false
	}
	w, ok := t.Codes[e.Code]
	if !ok {
		return tool.Refusal{}, nil, false
	}
	r := tool.Refusal{Code: w.Code, Field: e.Field, Message: e.Msg, Fix: e.Fix}
	if w.Fix != "" {
		r.Fix = w.Fix
	}
	if here, ok := t.Fields[e.Field]; ok {
		r.Field = here
		if rest, begins := strings.CutPrefix(e.Msg, e.Field+" "); begins {
			r.Message = here + " " + rest
		}
	}
	if r.Message == "" {
		r.Message = strings.ToLower(strings.ReplaceAll(w.Code, "_", " "))
	}
	return r, e, true
}

// Argument words arguments that do not fit a tool's schema.
func Argument(code string, err *tool.ArgumentError) tool.Refusal {
	return tool.Refusal{Code: code, Field: err.Field, Message: err.Error(), Fix: ArgumentFix(err)}
}

// ArgumentFix says what to do about arguments that do not fit a tool's schema.
func ArgumentFix(err *tool.ArgumentError) string {
	switch {
	case err.Missing:
		return "add it and repeat the call"
	case err.Field == "":
		return "send the arguments as one JSON object"
	default:
		return "correct it and repeat the call"
	}
}

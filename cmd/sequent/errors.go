package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// codeUsage is what --json calls a command that was not understood.
const codeUsage = "usage"

// A usageError is a command that was not understood.
type usageError struct {
	msg string
	fix string // what to do; empty means the help of the command
}

// Error returns what was wrong.
func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...)}
}

// errQuiet ends the program with a failure of which everything has been said.
var errQuiet = errors.New("failed")

// A complaint is an error as the user gets to see it.
type complaint struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	exit    int
	more    string // for people: further lines
}

// complain finds the words for an error. Command is what was run, for its help.
func complain(err error, command string) complaint {
	if kept, ok := errors.AsType[*keptError](err); ok {
		c := complain(kept.err, command)
		c.Fix = strings.TrimPrefix(c.Fix+"; to go on: "+kept.resume, "; ")
		return c
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		return complaint{Code: codeUsage, Message: usage.msg, Fix: cmp.Or(usage.fix, command+" --help tells how it is used"), exit: exitUsage}
	}
	if setting, ok := errors.AsType[*app.ConfigError](err); ok {
		return complaint{Code: codeUsage, Message: setting.Msg, Fix: setting.Fix, exit: exitUsage}
	}
	if c, ok := complainOfModel(err); ok {
		return c
	}
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return complaint{Code: string(sequent.CodeInternal), Message: err.Error(), exit: exitFailure}
	}
	c := complaint{Code: string(e.Code), Message: cmp.Or(e.Msg, string(e.Code)), Fix: e.Fix, exit: exitFailure}
	if e.Err != nil && !errors.Is(e.Err, context.Canceled) && !strings.Contains(c.Message, e.Err.Error()) && !errors.Is(e.Err, os.ErrNotExist) {
		c.Message += " (" + e.Err.Error() + ")"
	}
	switch e.Code {
	case sequent.CodeUnavailable, sequent.CodeReadOnly, sequent.CodeFull, sequent.CodeCorrupt, sequent.CodeNewerSchema, sequent.CodeBusy:
		if !strings.Contains(c.Fix, "sequent ") {
			c.Fix = strings.TrimPrefix(c.Fix+"; sequent doctor says more", "; ")
		}
	case sequent.CodeSessionNotFound:
		if e.Field != fieldID {
			c.Fix = "sequent list shows the sessions there are"
		}
	}
	return c
}

// print writes the complaint: two lines for people, one object for programs.
func (c complaint) print(w io.Writer, asJSON bool) {
	if asJSON {
		writeJSON(w, struct {
			Error complaint `json:"error"`
		}{c})
		return
	}
	fmt.Fprintln(w, "sequent: "+draw.One(c.Message, draw.Unicode))
	if c.Fix != "" {
		fmt.Fprintln(w, "  "+draw.One(c.Fix, draw.Unicode))
	}
	fmt.Fprint(w, c.more)
}

// writeJSON writes v as one line. Text for people is left as it is.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

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

// codeUsage is the code of a usage error in JSON output.
const codeUsage = "usage"

// A usageError is an incorrect command line.
type usageError struct {
	msg string
	fix string // what to do; empty means to read the help of the command
}

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...)}
}

// errReported ends the program with exitFailure. Its cause has been reported.
var errReported = errors.New("failed")

// A userError is an error as the user sees it.
type userError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	// Uncertain means that the command may have changed something nevertheless.
	Uncertain bool `json:"uncertain,omitempty"`

	exit int
	more string // further lines, not in JSON output
}

// newUserError converts an error for the user. Command is the command that failed.
func newUserError(err error, command string) userError {
	if e, ok := errors.AsType[*resumableError](err); ok {
		c := newUserError(e.err, command)
		c.Fix = strings.TrimPrefix(c.Fix+"; to resume: "+e.resume, "; ")
		return c
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		return userError{Code: codeUsage, Message: usage.msg, Fix: cmp.Or(usage.fix, "run "+command+" --help for usage"), exit: exitUsage}
	}
	if setting, ok := errors.AsType[*app.ConfigError](err); ok {
		return userError{Code: codeUsage, Message: setting.Msg, Fix: setting.Fix, exit: exitUsage}
	}
	if c, ok := modelUserError(err); ok {
		return c
	}
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return userError{Code: string(sequent.CodeInternal), Message: err.Error(), exit: exitFailure}
	}
	c := userError{Code: string(e.Code), Message: cmp.Or(e.Msg, string(e.Code)), Fix: e.Fix, Uncertain: e.Uncertain, exit: exitFailure}
	if e.Err != nil && !errors.Is(e.Err, context.Canceled) && !strings.Contains(c.Message, e.Err.Error()) && !errors.Is(e.Err, os.ErrNotExist) {
		c.Message += " (" + e.Err.Error() + ")"
	}
	switch e.Code {
	case sequent.CodeUnavailable, sequent.CodeReadOnly, sequent.CodeFull, sequent.CodeCorrupt, sequent.CodeNewerSchema, sequent.CodeBusy:
		if !strings.Contains(c.Fix, "sequent ") {
			c.Fix = strings.TrimPrefix(c.Fix+"; run sequent doctor for details", "; ")
		}
	case sequent.CodeSessionNotFound:
		if e.Field != fieldID {
			c.Fix = "run sequent list for the ids of sessions"
		}
	}
	return c
}

// print writes the error, as text or as a JSON object.
func (c userError) print(w io.Writer, asJSON bool) {
	if asJSON {
		writeJSON(w, struct {
			Error userError `json:"error"`
		}{c})
		return
	}
	fmt.Fprintln(w, "sequent: "+draw.One(c.Message, draw.Unicode))
	if c.Fix != "" {
		fmt.Fprintln(w, "  "+draw.One(c.Fix, draw.Unicode))
	}
	fmt.Fprint(w, c.more)
}

// writeJSON writes v on one line. It does not escape HTML. Characters that a
// terminal acts upon are escaped: controls, and those that change the direction of
// the text.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeActive(b.Bytes()))
	return err
}

// escapeActive escapes, in JSON, the characters that encoding/json leaves and that
// a terminal acts upon. In JSON they occur in strings only.
func escapeActive(text []byte) []byte {
	active := func(r rune) bool {
		return r >= 0x7F && r <= 0x9F || unicode.Is(unicode.Bidi_Control, r)
	}
	if bytes.IndexFunc(text, active) < 0 {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if active(r) {
			out = fmt.Appendf(out, `\u%04x`, r) // all are in the basic plane
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

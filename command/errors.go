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

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
)

// The exit codes.
const (
	exitOK       = 0
	exitFailure  = 1
	exitUsage    = 2
	exitUnproven = 3 // of sequent store verify; of plan and think, that the steps ran out
)

// An exit ends the program with a code. Its cause has been reported.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit with code %d", int(e)) }

// A usageError is an incorrect command line.
type usageError struct {
	msg string
	fix string // what to do; empty means to read the help of the command
}

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{msg: fmt.Sprintf(format, args...)} }

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

// newUserError converts an error for the user. Command is the command that failed. The commands
// that the fix names run as they stand.
func newUserError(err error, command string) (c userError) {
	defer func() { c.Fix = runnable(c.Fix) }()
	if usage, ok := errors.AsType[*usageError](err); ok {
		return userError{Code: string(sequent.CodeUsage), Message: usage.msg, Fix: cmp.Or(usage.fix, "run "+command+" --help for usage"), exit: exitUsage}
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		c = userError{Code: string(e.Code), Message: e.Msg, Fix: e.Fix, exit: exitFailure}
		if e.Code == llm.CodeNoModel || e.Code == llm.CodeNoKey {
			c.exit, c.more = exitUsage, choices()
		}
		if e.Code == llm.CodeNoModel {
			c.Fix = "set the API key of a provider, or pass --model"
		}
		return c
	}
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return userError{Code: string(sequent.CodeInternal), Message: err.Error(), exit: exitFailure}
	}
	c = userError{Code: string(e.Code), Message: cmp.Or(e.Msg, string(e.Code)), Fix: e.Fix, Uncertain: e.Uncertain, exit: exitFailure}
	if e.Err != nil && !errors.Is(e.Err, context.Canceled) && !strings.Contains(c.Message, e.Err.Error()) && !errors.Is(e.Err, os.ErrNotExist) {
		c.Message += " (" + e.Err.Error() + ")"
	}
	switch e.Code {
	case sequent.CodeUsage, plan.CodeNoProblem:
		c.exit = exitUsage
	case plan.CodeExhausted:
		c.exit = exitUnproven
	case sequent.CodeUnavailable, sequent.CodeReadOnly, sequent.CodeFull, sequent.CodeCorrupt, sequent.CodeOtherFormat, sequent.CodeBusy:
		if !strings.Contains(c.Fix, "sequent ") {
			c.Fix = strings.TrimPrefix(c.Fix+"; run sequent doctor for details", "; ")
		}
	}
	return c
}

// choices lists an example model of each provider with the variable of its key.
func choices() string {
	var keys, keyless strings.Builder
	for _, p := range openai.Providers() {
		if p.Keyless {
			fmt.Fprintf(&keyless, "  %-18s --model %s (run %s pull %s first)\n", "(local, no key)",
				p.Model, strings.ToLower(p.Title), strings.TrimPrefix(p.Model, p.Prefix))
			continue
		}
		fmt.Fprintf(&keys, "  %-18s --model %s\n", p.KeyVars[0], p.Model)
	}
	return "\n" + keys.String() + keyless.String() + "\n  docs/providers.md describes all variables.\n"
}

// print writes the error, as text or as a JSON object.
func (c userError) print(w io.Writer, asJSON bool) {
	if asJSON {
		_ = writeJSON(w, map[string]any{"error": c})
		return
	}
	fmt.Fprintln(w, "sequent: "+printable.Line(c.Message))
	if c.Fix != "" {
		fmt.Fprintln(w, "  "+printable.Line(c.Fix))
	}
	fmt.Fprint(w, printable.Text(c.more))
}

// writeJSON writes v on one line. It does not escape HTML, but what [printable.JSON] escapes.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(printable.JSON(b.Bytes()))
	return err
}

// Package diagnosis collects the results of checks that `sequent doctor` prints.
package diagnosis

import (
	"cmp"
	"fmt"

	"github.com/sequent-dev/sequent"
)

// A Status is the result of a check.
type Status string

// The values of Status.
const (
	OK   Status = "ok"
	Warn Status = "warn" // works, but slower or less safely than it could
	Fail Status = "fail" // does not work
)

// A Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"` // name of the check
	Status Status `json:"status"`
	Detail string `json:"detail"`        // what was found; may contain paths
	Fix    string `json:"fix,omitempty"` // what to do
}

// A Report collects findings. The zero Report is empty.
type Report struct {
	Findings []Finding
}

// OK adds a finding without a problem.
func (r *Report) OK(check, format string, args ...any) {
	r.add(check, OK, "", format, args)
}

// Warn adds a finding with a problem that does not prevent operation.
func (r *Report) Warn(check, fix, format string, args ...any) {
	r.add(check, Warn, fix, format, args)
}

// Fail adds a finding with a problem that prevents operation.
func (r *Report) Fail(check, fix, format string, args ...any) {
	r.add(check, Fail, fix, format, args)
}

// Error adds an error, with its cause, as a problem that prevents operation.
func (r *Report) Error(check string, err *sequent.Error) {
	detail := err.Msg
	if err.Err != nil {
		detail += " (" + err.Err.Error() + ")"
	}
	r.add(check, Fail, cmp.Or(err.Fix, "report this as a bug"), "%s", []any{detail})
}

func (r *Report) add(check string, status Status, fix, format string, args []any) {
	r.Findings = append(r.Findings, Finding{Check: check, Status: status, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

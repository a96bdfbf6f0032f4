package workflow

import (
	"fmt"
	"slices"

	"github.com/sequent-dev/sequent"
)

// The codes of this package's errors, which are [*sequent.Error]s. Those of
// package vault come through.
const (
	CodeInvalid            sequent.Code = "workflow_invalid"             // an argument is not acceptable
	CodeUnknownDefinition  sequent.Code = "workflow_unknown_definition"  // no definition has that id
	CodeBadDefinition      sequent.Code = "workflow_bad_definition"      // a definition's file has a mistake
	CodeNotFound           sequent.Code = "workflow_not_found"           // no run has that id
	CodeClosed             sequent.Code = "workflow_closed"              // the run is completed or cancelled
	CodeStepPassed         sequent.Code = "workflow_step_passed"         // the step is not the one that is to be answered now
	CodeAnswered           sequent.Code = "workflow_all_answered"        // every step has its answer; the run can only be closed
	CodeLinkRequired       sequent.Code = "workflow_link_required"       // a response names no concept
	CodeConclusionRequired sequent.Code = "workflow_conclusion_required" // a run is completed without a conclusion
	CodeConclusionLink     sequent.Code = "workflow_conclusion_link"     // the conclusion names no concept
	CodeDamaged            sequent.Code = "workflow_damaged"             // the note does not say where the run is
)

// Codes returns every code of this package, for tables and tests.
func Codes() []sequent.Code {
	return slices.Clone([]sequent.Code{
		CodeInvalid, CodeUnknownDefinition, CodeBadDefinition, CodeNotFound, CodeClosed, CodeStepPassed,
		CodeAnswered, CodeLinkRequired, CodeConclusionRequired, CodeConclusionLink, CodeDamaged,
	})
}

func invalid(field, fix, format string, args ...any) error {
	return &sequent.Error{Code: CodeInvalid, Field: field, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

func notFound(id string) error {
	return &sequent.Error{
		Code: CodeNotFound, Field: "sessionId",
		Msg: fmt.Sprintf("there is no workflow %q", short(id)),
		Fix: "check the id, or start one",
	}
}

func damaged(field, format string, args ...any) error {
	return &sequent.Error{
		Code: CodeDamaged, Field: field,
		Msg: "the workflow's note does not say where it is: " + fmt.Sprintf(format, args...),
		Fix: "mend " + field + " in the front matter of the note",
	}
}

// short keeps what a caller wrote from filling a message.
func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

package workflow

import (
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// The codes of this package's errors, which are [*sequent.Error]s. Errors of package
// vault keep their codes.
const (
	CodeInvalid            sequent.Code = "workflow_invalid"             // an argument is invalid
	CodeUnknownDefinition  sequent.Code = "workflow_unknown_definition"  // no definition has that id
	CodeBadDefinition      sequent.Code = "workflow_bad_definition"      // the file of a definition has a mistake
	CodeNotFound           sequent.Code = "workflow_not_found"           // no run has that id
	CodeClosed             sequent.Code = "workflow_closed"              // the run is completed or cancelled
	CodeStepPassed         sequent.Code = "workflow_step_passed"         // the step is not the next one
	CodeAnswered           sequent.Code = "workflow_all_answered"        // all steps are answered; the run can only be closed
	CodeLinkRequired       sequent.Code = "workflow_link_required"       // a response has no WikiLink
	CodeConclusionRequired sequent.Code = "workflow_conclusion_required" // completing a run needs a conclusion
	CodeConclusionLink     sequent.Code = "workflow_conclusion_link"     // the conclusion has no WikiLink
	CodeDamaged            sequent.Code = "workflow_damaged"             // the front matter of the note is invalid
)

const (
	maxQuoted = 80  // characters of a caller's text in an error and in a title
	maxName   = 200 // characters of a title and of a step's name
)

func invalid(field, fix, format string, args ...any) error {
	return &sequent.Error{Code: CodeInvalid, Field: field, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

func notFound(id string) error {
	return sequent.Errorf(CodeNotFound, "sessionId", "check the id, or start one",
		"there is no workflow %q", printable.Short(id, maxQuoted))
}

func damaged(field, format string, args ...any) error {
	return sequent.Errorf(CodeDamaged, field, "correct "+field+" in the note",
		"%s", "the front matter of the workflow's note is invalid: "+fmt.Sprintf(format, args...))
}

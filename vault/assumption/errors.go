package assumption

import (
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// The codes of this package's errors, which are [*sequent.Error]s. Errors of package
// vault keep their codes.
const (
	CodeInvalid         sequent.Code = "assumption_invalid"          // an argument is invalid
	CodeConceptRequired sequent.Code = "assumption_concept_required" // no concept is named, so that the graph would lack it
	CodeInvalidStatus   sequent.Code = "assumption_invalid_status"   // there is no such status
	CodeNotFound        sequent.Code = "assumption_not_found"        // no assumption has that URI
)

func missing(err error, uri vault.URI) error {
	if !errors.Is(err, vault.ErrNotFound) {
		return err
	}
	return &sequent.Error{
		Code: CodeNotFound, Field: "uri", Err: err,
		Msg: fmt.Sprintf("there is no assumption %s", uri),
		Fix: "check the uri; search_memories in the folder " + Folder + " finds it",
	}
}

func invalid(field, fix, format string, args ...any) error {
	return &sequent.Error{Code: CodeInvalid, Field: field, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

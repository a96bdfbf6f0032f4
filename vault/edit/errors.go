package edit

import (
	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// The codes of this package's errors, which are [*sequent.Error]s. Errors of package
// vault keep their codes.
const (
	CodeInvalid          sequent.Code = "edit_invalid"           // an argument is missing or cannot be used
	CodeLinkRequired     sequent.Code = "edit_link_required"     // the text, or the note after the change, has no WikiLink
	CodeChecksumRequired sequent.Code = "edit_checksum_required" // a whole note cannot be replaced or deleted without a checksum
	CodeChanged          sequent.Code = "note_changed"           // the note has another checksum
	CodeNoSection        sequent.Code = "section_not_found"      // the note has no section with that heading
	CodeAmbiguous        sequent.Code = "text_ambiguous"         // a heading or a text occurs several times
	CodeNoText           sequent.Code = "text_not_found"         // the note does not have the text to replace
	CodeProtected        sequent.Code = "note_protected"         // another tool writes the note
)

const maxQuoted = 80 // characters of a caller's text in an error

func invalid(field, msg, fix string) error {
	return &sequent.Error{Code: CodeInvalid, Field: field, Msg: msg, Fix: fix}
}

func linkRequired(what string) error {
	return sequent.Errorf(CodeLinkRequired, "content", "put its concepts in double brackets, as in [[rate limiting]] (links in code do not count)",
		"%s has no [[WikiLink]]", what)
}

func checksumRequired(uri vault.URI, what string) error {
	return sequent.Errorf(CodeChecksumRequired, "checksum", "read the note and pass the checksum of the reply",
		"%s exists, and %s needs its checksum", uri, what)
}

package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/sequent-dev/sequent"
)

// The codes of this package's errors, which are [*sequent.Error]s.
const (
	CodeInvalidURI   sequent.Code = "invalid_uri"          // a URI or path cannot name a note
	CodeNotFound     sequent.Code = "note_not_found"       // no note has that URI
	CodeExists       sequent.Code = "note_exists"          // Create found something at that URI
	CodeNotANote     sequent.Code = "not_a_note"           // a link, a folder or a device is where a note should be
	CodeTooLarge     sequent.Code = "note_too_large"       // a note would pass, or has passed, Config.MaxBytes
	CodeFrontMatter  sequent.Code = "front_matter_damaged" // the front matter is not YAML that could be edited; the note is as it was
	CodeConflict     sequent.Code = "note_conflict"        // somebody kept changing the note meanwhile; safe to retry
	CodeBusy         sequent.Code = "vault_busy"           // another process held the note for too long; safe to retry
	CodeReadOnly     sequent.Code = "vault_read_only"      // the vault cannot be written
	CodeFull         sequent.Code = "vault_full"           // no space left for the vault
	CodeUnavailable  sequent.Code = "vault_unavailable"    // the vault cannot be opened, read or locked
	CodeNotSupported sequent.Code = "vault_not_supported"  // the file system cannot do what is needed
)

// Sentinels for errors.Is.
var (
	ErrNotFound = &sequent.Error{Code: CodeNotFound}
	ErrExists   = &sequent.Error{Code: CodeExists}
)

// wrap is the one place where errors of the system become coded ones. The URI
// is what a client may know of the place.
func wrap(err error, uri URI) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e
	}
	if uri == scheme {
		uri = "the vault"
	}
	out := &sequent.Error{Err: err}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		out.Code, out.Msg = sequent.CodeCanceled, "the call was given up"
	case errors.Is(err, fs.ErrNotExist) && uri == "the vault":
		out.Code, out.Msg = CodeUnavailable, "the vault's folder is gone"
		out.Fix = "make it again; the notes of sessions come back with sequent vault rebuild"
	case errors.Is(err, fs.ErrNotExist):
		out.Code, out.Msg = CodeNotFound, fmt.Sprintf("there is no note %s", uri)
		out.Fix = "check its URI"
	case errors.Is(err, fs.ErrExist):
		out.Code, out.Msg = CodeExists, fmt.Sprintf("there is something at %s already", uri)
		out.Fix = "choose another name, or update it"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), escapes(err):
		out.Code, out.Msg = CodeNotANote, fmt.Sprintf("%s does not lead to a file of the vault", uri)
		out.Fix = "name a Markdown file that is in the vault itself"
	case isFull(err):
		out.Code, out.Msg = CodeFull, "there is no space left for the vault"
		out.Fix = "free some space on its disk and try again"
	case isReadOnly(err):
		out.Code, out.Msg = CodeReadOnly, fmt.Sprintf("%s cannot be read or written with the permissions that the program has", uri)
		out.Fix = "make the vault's folder and files readable and writable for the program's user"
	case errors.Is(err, syscall.ENAMETOOLONG):
		out.Code, out.Msg = CodeInvalidURI, "the name is longer than the file system allows"
		out.Fix = "choose a shorter one"
	default:
		out.Code, out.Msg = CodeUnavailable, fmt.Sprintf("%s cannot be read or written", uri)
		out.Fix = "check the vault's disk"
	}
	return out
}

func notANote(uri URI, what string) error {
	return &sequent.Error{
		Code: CodeNotANote,
		Msg:  fmt.Sprintf("%s is not a note: %s", uri, what),
		Fix:  "put a Markdown file there, or name another",
	}
}

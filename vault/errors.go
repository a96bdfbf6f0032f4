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
	CodeExists       sequent.Code = "note_exists"          // Create found a file at that URI
	CodeNotANote     sequent.Code = "not_a_note"           // the URI names a link, a folder or a device
	CodeTooLarge     sequent.Code = "note_too_large"       // the note is, or would be, larger than Config.MaxBytes
	CodeNotText      sequent.Code = "note_not_text"        // the file is neither UTF-8 nor UTF-16 with a byte order mark
	CodeFrontMatter  sequent.Code = "front_matter_damaged" // the front matter is not a YAML mapping; the note is unchanged
	CodeConflict     sequent.Code = "note_conflict"        // the note kept changing during the call; safe to retry
	CodeBusy         sequent.Code = "vault_busy"           // another process held the note's lock for too long; safe to retry
	CodeReadOnly     sequent.Code = "vault_read_only"      // the vault is not writable
	CodeFull         sequent.Code = "vault_full"           // the vault's disk is full
	CodeUnavailable  sequent.Code = "vault_unavailable"    // the vault cannot be opened, read or locked
	CodeNotSupported sequent.Code = "vault_not_supported"  // the file system has no locks
)

// Sentinels for errors.Is.
var (
	ErrNotFound = &sequent.Error{Code: CodeNotFound}
	ErrExists   = &sequent.Error{Code: CodeExists}
)

// wrap gives errors of the operating system their codes. The URI names the place for
// the client.
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
		out.Code, out.Msg = sequent.CodeCanceled, "the call was cancelled"
	case errors.Is(err, fs.ErrNotExist) && uri == "the vault":
		out.Code, out.Msg = CodeUnavailable, "the vault's folder was removed"
		out.Fix = "create it again; sequent vault rebuild restores the notes of sessions"
	case errors.Is(err, fs.ErrNotExist):
		out.Code, out.Msg = CodeNotFound, fmt.Sprintf("there is no note %s", uri)
		out.Fix = "check its URI"
	case errors.Is(err, fs.ErrExist):
		out.Code, out.Msg = CodeExists, fmt.Sprintf("%s already exists", uri)
		out.Fix = "choose another name, or update the note"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), escapes(err):
		out.Code, out.Msg = CodeNotANote, fmt.Sprintf("%s does not lead to a file of the vault", uri)
		out.Fix = "name a Markdown file that is in the vault itself"
	case isFull(err):
		out.Code, out.Msg = CodeFull, "the vault's disk is full"
		out.Fix = "free some space and try again"
	case isReadOnly(err):
		out.Code, out.Msg = CodeReadOnly, fmt.Sprintf("the program has no permission to read or write %s", uri)
		out.Fix = "give the program's user read and write permission for the vault's folder and files"
	case errors.Is(err, syscall.ENAMETOOLONG):
		out.Code, out.Msg = CodeInvalidURI, "the name is longer than the file system allows"
		out.Fix = "choose a shorter name"
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

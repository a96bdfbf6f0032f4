package vault

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/sequent-dev/sequent"
)

// The codes of this package's errors, which are [*sequent.Error]s.
const (
	CodeInvalidURI   sequent.Code = "invalid_uri"          // a URI or path cannot name a note
	CodeNotFound     sequent.Code = "note_not_found"       // no note has that URI
	CodeExists       sequent.Code = "note_exists"          // Create found a file at that URI
	CodeNotANote     sequent.Code = "not_a_note"           // the URI names a link, a folder or a device
	CodeTooLarge     sequent.Code = "note_too_large"       // the note is, or would be, larger than Config.MaxBytes, or has more than MaxLinks links
	CodeNotText      sequent.Code = "note_not_text"        // the file is not text in UTF-8
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
	out := sequent.Errorf(CodeUnavailable, "", "check the vault's disk", "%s cannot be read or written", uri)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		out = sequent.Errorf(sequent.CodeCanceled, "", "", "the call was cancelled")
	case errors.Is(err, fs.ErrNotExist) && uri == "the vault":
		out = sequent.Errorf(CodeUnavailable, "", "create it again; sequent vault rebuild restores the notes of sessions", "the vault's folder was removed")
	case errors.Is(err, fs.ErrNotExist):
		out = sequent.Errorf(CodeNotFound, "", "check its URI", "there is no note %s", uri)
	case errors.Is(err, fs.ErrExist):
		out = sequent.Errorf(CodeExists, "", "choose another name, or update the note", "%s already exists", uri)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), strings.Contains(err.Error(), "escapes from parent"): // as os.Root says
		out = sequent.Errorf(CodeNotANote, "", "name a Markdown file that is in the vault itself", "%s does not lead to a file of the vault", uri)
	case isFull(err):
		out = sequent.Errorf(CodeFull, "", "free some space and try again", "the vault's disk is full")
	case isReadOnly(err):
		out = sequent.Errorf(CodeReadOnly, "", "give the program's user read and write permission for the vault's folder and files",
			"the program has no permission to read or write %s", uri)
	case errors.Is(err, syscall.ENAMETOOLONG):
		out = sequent.Errorf(CodeInvalidURI, "", "choose a shorter name", "the name is longer than the file system allows")
	}
	out.Err = err
	return out
}

func notANote(uri URI, what string) error {
	return sequent.Errorf(CodeNotANote, "", "put a Markdown file there, or name another", "%s is not a note: %s", uri, what)
}

func conflict(uri URI) error {
	return sequent.Errorf(CodeConflict, "", "try again", "%s kept changing during the call; nothing was written", uri)
}

// CheckSize refuses a note of more than MaxBytes.
func (v *Vault) CheckSize(uri URI, bytes int) error {
	if int64(bytes) <= v.maxBytes {
		return nil
	}
	return v.tooLarge(uri)
}

func (v *Vault) tooLarge(uri URI) error {
	return sequent.Errorf(CodeTooLarge, "content", "split it into several notes",
		"%s is larger than %d bytes, the limit for a note", uri, v.maxBytes)
}

// MaxLinks limits the WikiLinks of a note.
const MaxLinks = 10_000

// CheckLinks refuses a note with more than MaxLinks.
func CheckLinks(uri URI, links int) error {
	if links <= MaxLinks {
		return nil
	}
	return sequent.Errorf(CodeTooLarge, "content", "split it into several notes",
		"%s has more than %d links, the limit for a note", uri, MaxLinks)
}

package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sequent-dev/sequent"
)

// The codes of this package's errors, which are [*sequent.Error]s.
const (
	CodeInvalidURI   sequent.Code = "invalid_uri"          // a URI or path cannot name a note
	CodeNotFound     sequent.Code = "note_not_found"       // no note has that URI
	CodeExists       sequent.Code = "note_exists"          // Create found a file at that URI
	CodeNotANote     sequent.Code = "not_a_note"           // the URI names, or leads by, a link, a folder or a device
	CodeTooLarge     sequent.Code = "note_too_large"       // the note is, or would be, larger than MaxBytes, or has more than MaxLinks links
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
	if e, ok := errors.AsType[*sequent.Error](err); err == nil || ok {
		if ok {
			return e
		}
		return nil
	}
	if uri == scheme {
		uri = "the vault"
	}
	for _, row := range []struct {
		cause    error
		uri      URI // of the row; empty for any
		code     sequent.Code
		msg, fix string
	}{
		{context.Canceled, "", sequent.CodeCanceled, "the call was cancelled", ""},
		{context.DeadlineExceeded, "", sequent.CodeCanceled, "the call was cancelled", ""},
		{fs.ErrNotExist, "the vault", CodeUnavailable, "the vault's folder was removed", "create it again; sequent vault rebuild restores the notes of sessions"},
		{fs.ErrNotExist, "", CodeNotFound, "there is no note " + string(uri), "check its URI"},
		{fs.ErrExist, "", CodeExists, string(uri) + " already exists", "choose another name, or update the note"},
		{errDiskFull, "", CodeFull, "the vault's disk is full", "free some space and try again"},
		{errQuotaFull, "", CodeFull, "the vault's disk is full", "free some space and try again"},
		{fs.ErrPermission, "", CodeReadOnly, "the program has no permission to read or write " + string(uri), permit},
		{errReadOnly, "", CodeReadOnly, "the program has no permission to read or write " + string(uri), permit},
	} {
		if errors.Is(err, row.cause) && (row.uri == "" || row.uri == uri) {
			return &sequent.Error{Code: row.code, Msg: row.msg, Fix: row.fix, Err: err}
		}
	}
	return &sequent.Error{Code: CodeUnavailable, Msg: string(uri) + " cannot be read or written", Fix: "check the vault's disk", Err: err}
}

const permit = "give the program's user read and write permission for the vault's folder and files"

func notANote(p string) error {
	return sequent.Errorf(CodeNotANote, "", "move it away, or name another note",
		"%s is in the way: it is a link, which is not followed, or of the wrong kind", uriOf(p))
}

// Limits of a note.
const (
	MaxBytes = 1 << 20
	MaxLinks = 10_000 // WikiLinks
)

// Check refuses a note that is larger than MaxBytes or has more links than MaxLinks.
func Check(uri URI, bytes, links int) error {
	limit := fmt.Sprintf("%d bytes", MaxBytes)
	if bytes <= MaxBytes {
		if links <= MaxLinks {
			return nil
		}
		limit = fmt.Sprintf("%d links", MaxLinks)
	}
	return sequent.Errorf(CodeTooLarge, "content", "split it into several notes", "%s has more than %s, the limit for a note", uri, limit)
}

package index

import (
	"context"
	"errors"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
)

// The codes of this package's errors, which are [*sequent.Error]s. An invalid
// query has the code sequent.CodeInvalidQuery.
const (
	CodeNoEmbeddings     sequent.Code = "embeddings_not_configured" // a semantic search without an Embedder
	CodeEmbeddingsFailed sequent.Code = "embeddings_failed"         // the Embedder failed; safe to retry
	CodeUnavailable      sequent.Code = "vault_index_unavailable"   // the index can neither be read nor rebuilt
)

var errDamaged = errors.New("the index is of another version")

// isDamage reports whether err means that the file must be replaced.
func isDamage(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return errors.Is(err, errDamaged) || ok && e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ || ok && slices.Contains([]int{
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT,
		sqlite3.SQLITE_ERROR, // our statements are valid, so a table or column is missing
	}, e.Code()&0xff)
}

// wrap gives errors of the database and the operating system their codes.
func wrap(err error) error {
	e, ok := errors.AsType[*sequent.Error](err)
	switch {
	case err == nil:
		return nil
	case ok:
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: err}
	}
	return &sequent.Error{
		Code: CodeUnavailable, Msg: "the index of the vault cannot be read or written", Err: err,
		Fix: "check that the folder .sequent of the vault is writable, that its disk has space, and that no program that writes to it hangs",
	}
}

func invalid(field, msg, fix string) error {
	return &sequent.Error{Code: sequent.CodeInvalidQuery, Field: field, Msg: msg, Fix: fix}
}

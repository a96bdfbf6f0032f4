package index

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/textsearch"
)

// The codes of this package's errors, which are [*sequent.Error]s. An invalid
// query has the code sequent.CodeInvalidQuery.
const (
	CodeNoEmbeddings     sequent.Code = "embeddings_not_configured" // a semantic search without an Embedder
	CodeEmbeddingsFailed sequent.Code = "embeddings_failed"         // the Embedder failed; safe to retry
	CodeUnavailable      sequent.Code = "vault_index_unavailable"   // the index can neither be read nor rebuilt
)

var (
	errClosed  = errors.New("the index is closed")
	errForeign = errors.New("index.db is not an ordinary file")
	errDamaged = errors.New("the index is of another version")
)

// isDamage reports whether err means that the file must be replaced.
func isDamage(err error) bool {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, errDamaged) { // single rows are read only where an intact index has one
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ || ok && slices.Contains([]int{
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT,
		sqlite3.SQLITE_ERROR, // our statements are valid, so a table or column is missing
	}, e.Code()&0xff)
}

// wrap gives errors of the database and the operating system their codes.
func wrap(err error) error {
	if e, ok := errors.AsType[*sequent.Error](err); err == nil || ok {
		if ok {
			return e
		}
		return nil
	}
	out := &sequent.Error{Code: CodeUnavailable, Err: err}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		out.Code, out.Msg = sequent.CodeCanceled, "the call was cancelled"
	case errors.Is(err, errClosed):
		out.Msg, out.Fix = "the index is closed", "restart the program"
	case errors.Is(err, errForeign):
		out.Msg, out.Fix = "index.db in the folder .sequent of the vault is not an ordinary file", "move it away"
	default:
		out.Msg = "the index of the vault cannot be read or written"
		out.Fix = "check that the folder .sequent of the vault is writable, that its disk has space, " +
			"and that no program that writes to it hangs"
	}
	return out
}

func invalid(field, msg, fix string) error {
	return &sequent.Error{Code: sequent.CodeInvalidQuery, Field: field, Msg: msg, Fix: fix}
}

func badQuery(err error) error {
	if e, ok := errors.AsType[*textsearch.Error](err); ok {
		return invalid("query", e.Msg, e.Fix)
	}
	return &sequent.Error{
		Code: sequent.CodeInvalidQuery, Field: "query", Msg: "the query is invalid", Fix: "write words, separated by spaces", Err: err,
	}
}

func embeddingsFailed(err error) error {
	return &sequent.Error{
		Code: CodeEmbeddingsFailed, Msg: "the embedding model did not answer", Fix: "try again, or search with mode FullText", Err: err,
	}
}

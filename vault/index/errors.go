package index

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/indexfile"
	"github.com/sequent-dev/sequent/words"
)

// The codes of this package's errors, which are [*sequent.Error]s. An invalid
// query has the code sequent.CodeInvalidQuery.
const (
	CodeNoEmbeddings     sequent.Code = "embeddings_not_configured" // a semantic search without an Embedder
	CodeEmbeddingsFailed sequent.Code = "embeddings_failed"         // the Embedder failed; safe to retry
	CodeUnavailable      sequent.Code = "vault_index_unavailable"   // the index can neither be read nor rebuilt
	CodeBusy             sequent.Code = "vault_index_busy"          // another process held the lock for too long; safe to retry
)

// wrap gives errors of the database and the operating system their codes.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: err}
	}
	out := &sequent.Error{
		Code: CodeUnavailable,
		Msg:  "the index of the vault cannot be read or written",
		Fix:  "check that the folder .sequent of the vault is writable and that its disk has space",
		Err:  err,
	}
	switch {
	case errors.Is(err, errClosed):
		out.Msg, out.Fix = "the index is closed", "restart the program"
	case errors.Is(err, indexfile.ErrForeign):
		out.Msg, out.Fix = "the file index.db in the folder .sequent of the vault belongs to another program", "move it away"
	}
	return out
}

func invalid(field, msg, fix string) error {
	return &sequent.Error{Code: sequent.CodeInvalidQuery, Field: field, Msg: msg, Fix: fix}
}

func badQuery(err error) error {
	if e, ok := errors.AsType[*words.Error](err); ok {
		return invalid("query", e.Msg, e.Fix)
	}
	return &sequent.Error{Code: sequent.CodeInvalidQuery, Field: "query", Msg: "the query is invalid", Fix: "write words, separated by spaces", Err: err}
}

func embeddingsFailed(err error) *sequent.Error {
	return &sequent.Error{
		Code: CodeEmbeddingsFailed,
		Msg:  "the embedding model did not answer",
		Fix:  "try again, or search with mode FullText",
		Err:  err,
	}
}

func noEmbeddings() error {
	return &sequent.Error{
		Code: CodeNoEmbeddings, Field: "mode",
		Msg: "a semantic search needs an embedding model, and none is configured",
		Fix: "set SEQUENT_EMBEDDINGS_URL, or search with mode Hybrid or FullText",
	}
}

func busy() error {
	return &sequent.Error{
		Code: CodeBusy,
		Msg:  "another program has been writing the index of the vault for too long",
		Fix:  "try again; if this continues, look for a program that has the vault open and hangs",
	}
}

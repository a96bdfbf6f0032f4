package jsonlines

import (
	"context"
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent"
)

// usable returns the error of a call that cannot begin. The caller holds mu.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return unavailable(errors.New("the store is closed"))
	}
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	return nil
}

func notFound(k sequent.Key) error {
	return &sequent.Error{
		Code: sequent.CodeSessionNotFound, Field: "sessionId",
		Msg: fmt.Sprintf("there is no session %q", k.ID), Fix: "check the id, or begin a new session",
	}
}

func canceled(cause error) error {
	return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: cause}
}

// uncertain returns the error of a write that may be on the disk.
func uncertain(cause error) error {
	return &sequent.Error{
		Code: sequent.CodeUnavailable, Uncertain: true,
		Msg: "the file of the store cannot be written; the change may or may not have been stored",
		Fix: sequent.FixUncertain, Err: cause,
	}
}

func unavailable(cause error) error {
	return &sequent.Error{Code: sequent.CodeUnavailable, Msg: "the file of the store cannot be used", Err: cause}
}

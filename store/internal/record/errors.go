package record

import (
	"fmt"

	"github.com/sequent-dev/sequent"
)

// ErrClosed is the error of every call of a store after Close.
var ErrClosed = &sequent.Error{
	Code: sequent.CodeUnavailable,
	Msg:  "the store is closed",
	Fix:  "restart the program",
}

// NotFound returns the error for a session that does not exist.
func NotFound(id sequent.ID) error {
	return &sequent.Error{
		Code: sequent.CodeSessionNotFound, Field: "sessionId",
		Msg: fmt.Sprintf("there is no session %q", id),
		Fix: "check the id, or begin a new session",
	}
}

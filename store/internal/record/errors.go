package record

import (
	"fmt"

	"github.com/sequent-dev/sequent"
)

// ErrClosed answers every call of a store after its Close.
var ErrClosed = &sequent.Error{
	Code: sequent.CodeUnavailable,
	Msg:  "the store is closed",
	Fix:  "restart the program",
}

// NotFound says that a store has no session of an id.
func NotFound(id sequent.ID) error {
	return &sequent.Error{
		Code: sequent.CodeSessionNotFound, Field: "sessionId",
		Msg: fmt.Sprintf("there is no session %q", id),
		Fix: "check the id, or begin a new session",
	}
}

package sqlite

import (
	"fmt"

	"github.com/sequent-dev/sequent"
)

// A holder is a process that holds a lock on a file.
type holder struct {
	pid     int
	program string // its name
	stopped bool   // by a signal, or by a debugger
}

// String returns the name of the process, such as "sqlite3 (process 1234)".
func (h *holder) String() string { return fmt.Sprintf("%s (process %d)", h.program, h.pid) }

// A byteRange is a part of a file.
type byteRange struct{ first, last int64 }

// lockHolder returns another process that has locked one of the files for writing, or
// nil if that is not known.
func lockHolder(kind lockKind, paths ...string) *holder {
	if all := lockHolders(kind, nil, paths...); len(all) > 0 {
		return all[0]
	}
	return nil
}

// busy returns the error of a wait for a lock that took too long. By is the process
// that holds the lock, or nil if that is not known.
func busy(cause error, by *holder) *sequent.Error {
	e := &sequent.Error{
		Code: sequent.CodeBusy,
		Msg:  "another process locked the store for too long; nothing was stored",
		Fix:  "try again; if it persists, look for a hanging program that has the store open",
		Err:  cause,
	}
	switch {
	case by == nil:
	case by.stopped:
		e.Msg = fmt.Sprintf("the process %d (%s), which is stopped, has locked the store; nothing was stored", by.pid, by.program)
		e.Fix = fmt.Sprintf("continue it with `kill -CONT %d`, or end it", by.pid)
	default:
		e.Msg = fmt.Sprintf("the process %d (%s) locked the store for too long; nothing was stored", by.pid, by.program)
		e.Fix = "try again; if it persists, see why that process hangs, or end it"
	}
	return e
}

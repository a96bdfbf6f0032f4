package sequent

import (
	"errors"
	"fmt"
	"slices"
)

// A Code classifies an error for programs. Codes are stable; messages may change.
type Code string

// The codes of this package and of the stores under it. Codes of a dialect's
// own rules live in the dialect.
const (
	CodeInvalidThought   Code = "invalid_thought"    // a field of a draft is not acceptable
	CodeInvalidSession   Code = "invalid_session"    // a session ID, label or scope is not acceptable
	CodeInvalidQuery     Code = "invalid_query"      // a search or listing request is not valid
	CodeSessionNotFound  Code = "session_not_found"  // no such session, for this owner
	CodeThoughtNotFound  Code = "thought_not_found"  // no such thought or branch in the session
	CodeSessionExists    Code = "session_exists"     // Begin found a session with that ID
	CodeRequestKeyReused Code = "request_key_reused" // a request key came back with another body
	CodeLimitExceeded    Code = "limit_exceeded"     // one of Limits would be exceeded; nothing was stored
	CodeQuotaExceeded    Code = "quota_exceeded"     // the owner's Quota would be exceeded; nothing was stored
	CodeConflict         Code = "conflict"           // another writer changed the session first; safe to retry
	CodeCanceled         Code = "canceled"           // the call was cancelled before anything was stored
	CodeBusy             Code = "store_busy"         // other writers held the store until the timeout; safe to retry
	CodeUnavailable      Code = "store_unavailable"  // the store cannot be reached or opened
	CodeReadOnly         Code = "store_read_only"    // the store cannot be written
	CodeFull             Code = "store_full"         // no space left for the store
	CodeCorrupt          Code = "store_corrupt"      // the store's file is damaged
	CodeOtherFormat      Code = "store_other_format" // the store was written by a program with another format
	CodeInternal         Code = "internal"           // a fault of the program; details are in the log
	CodeUsage            Code = "usage"              // a program was started with a setting that it cannot use; no call returns it
)

// Codes returns every code of this package, for tables and tests.
func Codes() []Code {
	return slices.Clone([]Code{
		CodeInvalidThought, CodeInvalidSession, CodeInvalidQuery,
		CodeSessionNotFound, CodeThoughtNotFound, CodeSessionExists, CodeRequestKeyReused,
		CodeLimitExceeded, CodeQuotaExceeded, CodeConflict, CodeCanceled, CodeBusy, CodeUnavailable,
		CodeReadOnly, CodeFull, CodeCorrupt, CodeOtherFormat, CodeInternal,
	})
}

// An Error is a refusal or a failure with a stable code.
type Error struct {
	Code  Code
	Field string // the argument at fault, in the words of this package; may be empty
	Msg   string // what is wrong, in one sentence; safe to show to a client
	Fix   string // what to do next; safe to show to a client; may be empty
	Err   error  // the cause, for logs only: it may hold paths

	// Uncertain means that a change failed and may have been stored nevertheless:
	// its commit failed halfway, or the reply to it was lost. Without it, a change
	// that failed stored nothing. A store sets Fix to [FixUncertain].
	Uncertain bool
}

// Errorf returns an [Error] with a formatted message, and no cause.
func Errorf(code Code, field, fix, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// FixUncertain is the Fix of an [Error] that is Uncertain.
const FixUncertain = "read the session before you try again, or repeat the call with the same request key"

// IsUncertain reports whether err carries an [Error] that is Uncertain.
func IsUncertain(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Uncertain
}

// Error returns the message, what to do next, and the cause.
func (e *Error) Error() string {
	s := e.Msg
	if s == "" {
		s = string(e.Code)
	}
	if e.Fix != "" {
		s += ": " + e.Fix
	}
	if e.Err != nil {
		s += " (" + e.Err.Error() + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is a sentinel of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Msg == ""
}

// CodeOf returns the code that err carries. It is CodeInternal if err carries
// none, and empty if err is nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// Sentinels for errors.Is.
var (
	ErrNotFound = &Error{Code: CodeSessionNotFound}
	ErrExists   = &Error{Code: CodeSessionExists}
	ErrLimit    = &Error{Code: CodeLimitExceeded}
	ErrConflict = &Error{Code: CodeConflict}
	ErrBusy     = &Error{Code: CodeBusy}
)

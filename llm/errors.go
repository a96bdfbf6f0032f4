package llm

import (
	"errors"
	"slices"
	"time"
)

// A Code classifies an error for programs. Codes are stable and only ever added.
type Code string

// The codes of this package.
const (
	CodeNoModel     Code = "model_not_chosen"      // nobody said which model to ask
	CodeNoKey       Code = "model_key_missing"     // the provider needs a key, and there is none in the environment
	CodeBadKey      Code = "model_key_refused"     // the provider does not accept the key, or not for this
	CodeUnknown     Code = "model_unknown"         // the provider has no such model
	CodeRefused     Code = "model_request_refused" // the provider does not accept the request as it is
	CodeDeclined    Code = "model_declined"        // the model, or a filter before it, will not answer this
	CodeRateLimited Code = "model_rate_limited"    // too many requests, or no quota left
	CodeUnavailable Code = "model_unavailable"     // the provider cannot be reached, or failed
	CodeTimeout     Code = "model_timeout"         // no answer in time
	CodeInterrupted Code = "model_interrupted"     // the answer broke off
	CodeBadAnswer   Code = "model_bad_answer"      // the answer is not what was asked for
	CodeTooLarge    Code = "model_answer_large"    // the answer passes the limit of what is read
	CodeCanceled    Code = "model_canceled"        // the caller gave up
)

// Codes returns every code of this package, for tables and tests.
func Codes() []Code {
	return slices.Clone([]Code{
		CodeNoModel, CodeNoKey, CodeBadKey, CodeUnknown, CodeRefused, CodeDeclined, CodeRateLimited,
		CodeUnavailable, CodeTimeout, CodeInterrupted, CodeBadAnswer, CodeTooLarge, CodeCanceled,
	})
}

// An Error is why there is no answer. None of its parts holds a key.
type Error struct {
	Code   Code
	Msg    string        // what is wrong, in one sentence; safe to show
	Fix    string        // what to do next; safe to show; may be empty
	Status int           // of the HTTP answer, if there was one
	After  time.Duration // how long the provider asks to be left alone; 0 if it does not say
	Err    error         // the cause, for logs
}

// Error returns the message and what to do next.
func (e *Error) Error() string {
	s := e.Msg
	if s == "" {
		s = string(e.Code)
	}
	if e.Fix != "" {
		s += ": " + e.Fix
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an Error that has the same code and no message.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Msg == ""
}

// CodeOf returns the code that err carries, or an empty one.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

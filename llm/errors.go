package llm

import (
	"errors"
	"time"
)

// A Code classifies an error for programs. Codes are stable and only ever added.
type Code string

// The codes of this package.
const (
	CodeNoModel     Code = "model_not_chosen"      // no model is configured
	CodeNoKey       Code = "model_key_missing"     // the provider needs an API key and the environment has none
	CodeBadKey      Code = "model_key_refused"     // the provider rejected the API key
	CodeUnknown     Code = "model_unknown"         // the provider has no model of this name
	CodeRefused     Code = "model_request_refused" // the provider rejected the request
	CodeDeclined    Code = "model_declined"        // the model or a content filter declined to answer
	CodeRateLimited Code = "model_rate_limited"    // too many requests, or the quota is used up
	CodeUnavailable Code = "model_unavailable"     // the provider is unreachable or failed
	CodeTimeout     Code = "model_timeout"         // the request timed out
	CodeInterrupted Code = "model_interrupted"     // the connection closed before the answer was complete
	CodeBadAnswer   Code = "model_bad_answer"      // the answer does not have the requested form
	CodeTooLarge    Code = "model_answer_large"    // the answer exceeds the size limit
	CodeCanceled    Code = "model_canceled"        // the caller canceled the request
)

// An Error is a failed request to a model. None of its fields contains an API key.
type Error struct {
	Code       Code
	Msg        string        // what is wrong, in one sentence; safe to show
	Fix        string        // what to do next; safe to show; may be empty
	Status     int           // HTTP status; 0 without a response
	RetryAfter time.Duration // wait that the provider asks for; 0 if it asks for none
	Err        error         // the cause, for logs
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

// CodeOf returns the code of the first Error in err's chain, or an empty one.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

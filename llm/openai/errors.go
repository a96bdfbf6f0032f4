package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/llm"
)

// fail returns a failure that a retry does not resolve.
func fail(code llm.Code, err error, msg, fix string) *failure {
	return &failure{err: &llm.Error{Code: code, Err: err, Msg: msg, Fix: fix}}
}

// again returns a failure that a retry may resolve.
func again(code llm.Code, err error, msg, fix string) *failure {
	f := fail(code, err, msg, fix)
	f.retryable = true
	return f
}

// failed classifies an error of an exchange that the provider does not report. Its URL may contain
// a secret.
func (c *caller) failed(ctx context.Context, err error) *failure {
	title, cause := c.at.Title, err
	sent, unreachable := errors.AsType[*url.Error](err)
	if unreachable {
		cause = sent.Err
	}
	_, large := errors.AsType[*http.MaxBytesError](err)
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, mismatch := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return again(llm.CodeTimeout, errTimeout, fmt.Sprintf("%s did not answer within %v", title, c.timeout),
			"try again, or raise the timeout")
	case ctx.Err() != nil:
		return &failure{err: canceled(ctx)}
	case large:
		return fail(llm.CodeTooLarge, cause, fmt.Sprintf("the answer of %s exceeds %d MiB", title, maxBody>>20),
			"ask for a shorter answer")
	case errors.Is(err, errRedirect):
		return fail(llm.CodeUnavailable, cause, title+" redirects to another URL",
			"set "+c.at.BaseVar+" to the target of the redirect")
	case unreachable:
		fix := "check the network, and " + c.at.BaseVar + " if it is set"
		if title == "Ollama" {
			fix = "run ollama serve, or set OLLAMA_BASE_URL to its URL"
		}
		return again(llm.CodeUnavailable, cause, title+" is unreachable ("+c.safe(cause.Error())+")", fix)
	case syntax, mismatch, errors.Is(err, io.EOF):
		return c.badAnswer(cause)
	}
	return c.interrupted(cause)
}

// interrupted reports a reply that ended too early.
func (c *caller) interrupted(err error) *failure {
	return again(llm.CodeInterrupted, err, c.at.Title+" closed the connection before the answer was complete", "try again")
}

// badAnswer reports a reply that is not valid Chat Completions JSON.
func (c *caller) badAnswer(err error) *failure {
	return again(llm.CodeBadAnswer, err, "the reply of "+c.at.Title+" is not a valid reply of the protocol",
		"if "+c.at.BaseVar+" is set, check that it is the URL of a service compatible with OpenAI's")
}

// A report is an error as a provider reports it: an object or a text.
type report struct {
	message string
	code    string // a word or a number
	param   string // the member of the request that it is about
}

// UnmarshalJSON reads both forms, and leaves out what is not understood.
func (r *report) UnmarshalJSON(raw []byte) error {
	var members struct {
		Message json.RawMessage `json:"message"`
		Code    json.RawMessage `json:"code"`
		Param   json.RawMessage `json:"param"`
	}
	if json.Unmarshal(raw, &members) != nil {
		r.message = textOf(raw)
		return nil
	}
	r.message, r.param = textOf(members.Message), textOf(members.Param)
	if r.code = textOf(members.Code); r.code == "" && string(members.Code) != "null" {
		r.code = string(members.Code)
	}
	return nil
}

// reportIn returns the error in the body of a response.
func reportIn(body []byte) report {
	var reply struct {
		Error   report          `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	_ = json.Unmarshal(body, &reply) // a proxy may answer with an HTML page
	reply.Error.message = cmp.Or(reply.Error.message, textOf(reply.Message), textOf(reply.Detail))
	return reply.Error
}

// rejected classifies an error that the provider reports; status and header are zero if it is in
// the body of an answer.
func (c *caller) rejected(status int, header http.Header, reported report) *failure {
	if status == 0 {
		status = 500
		if n, err := strconv.Atoi(reported.code); err == nil && n >= 400 && n < 600 {
			status = n
		}
	}
	f := c.rejection(status, reported)
	if f.err.Status = status; f.retryable {
		f.err.RetryAfter = retryAfter(header, time.Now())
	}
	if f.err.RetryAfter > c.timeout {
		f.err.Fix = "try again in " + f.err.RetryAfter.Round(time.Second).String()
	}
	return f
}

func (c *caller) rejection(status int, reported report) *failure {
	title, detail := c.at.Title, ""
	if reported.message != "" {
		detail = " (" + c.safe(reported.message) + ")"
	}
	switch {
	case status == 403 && mentions(reported.message, "flagged", "moderation", "guardrail"): // not about the key
		return fail(llm.CodeDeclined, nil, "a content filter of "+title+" blocked the request"+detail,
			"rephrase the request, or choose another model")
	case (status == 401 || status == 403) && c.at.key == "":
		return fail(llm.CodeBadKey, nil, title+" requires an API key", "set "+c.at.KeyVars[0])
	case status == 401 || status == 403: // without the detail, which may contain a part of the key
		return fail(llm.CodeBadKey, nil, title+" rejected the API key", "check "+c.at.KeyVars[0])
	case slices.Contains(c.at.noQuota, reported.code) || slices.Contains(c.at.noQuota, strconv.Itoa(status)):
		return fail(llm.CodeRateLimited, nil, "the quota of this "+title+" key is used up"+detail,
			"check the plan and the billing of the account")
	case status == 429:
		return again(llm.CodeRateLimited, nil, title+" receives too many requests"+detail, "try again later")
	case status == 408 || status == 409 || status == 425 || status >= 500:
		return again(llm.CodeUnavailable, nil, fmt.Sprintf("%s failed with status %d%s", title, status, detail),
			"try again later")
	case mentions(reported.message, "image", "vision", "multimodal") &&
		mentions(reported.message, "support", "not allowed", "only text"):
		f := fail(llm.CodeRefused, nil, title+" cannot show images to the model"+detail, "choose a model that can see")
		f.rejected = optionImages
		return f
	case status == 404 && !mentions(reported.message, "parameters"):
		fix := "check its name"
		if title == "Ollama" {
			fix = "run ollama pull NAME"
		}
		return fail(llm.CodeUnknown, nil, title+" does not know the model"+detail, fix)
	case status == 413:
		return fail(llm.CodeRefused, nil, "the request is too large for "+title+detail, "shorten the request")
	}
	f := fail(llm.CodeRefused, nil, fmt.Sprintf("%s rejected the request with status %d%s", title, status, detail), "")
	f.rejected = rejectedOption(reported)
	return f
}

// mentions reports whether a text contains one of some words in lower case.
func mentions(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// rejectedOption returns the option that an error is about, empty if it is about
// none.
func rejectedOption(reported report) option {
	text := reported.message + " " + reported.param
	switch {
	case mentions(text, "temperature"):
		return optionTemperature
	case mentions(text, "tool_choice"):
		return optionToolChoice
	case mentions(text, "response_format", "json_schema", "requested parameters"):
		return optionSchema
	}
	return ""
}

// secrets matches keys, complete or partly masked with asterisks.
var secrets = lazyregexp.New(`(?i)\b(sk|pk|rk|key|api)-[\w*.-]{4,}|\bbearer\s+\S+`)

// safe returns a text of the provider on one line, shortened and without keys.
func (c *caller) safe(s string) string {
	const maxRunes = 300
	if c.at.key != "" {
		s = strings.ReplaceAll(s, c.at.key, "…")
	}
	s = secrets().ReplaceAllString(s, "…")
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > maxRunes {
		s = string(r[:maxRunes]) + "…"
	}
	return s
}

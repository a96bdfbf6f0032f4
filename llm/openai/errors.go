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

// failed classifies an error of an exchange that the provider does not report.
func (x *exchange) failed(err error) *failure {
	c, cause := x.c, withoutURL(err)
	switch {
	case errors.Is(context.Cause(x.ctx), errTimeout):
		return &failure{retryable: true, err: &llm.Error{
			Code: llm.CodeTimeout, Err: errTimeout,
			Msg: fmt.Sprintf("%s did not answer within %v", c.at.Title, c.timeout),
			Fix: "try again, or raise the timeout",
		}}
	case x.ctx.Err() != nil:
		return &failure{err: canceled(x.ctx)}
	case errors.Is(err, errTooLarge):
		return &failure{err: &llm.Error{
			Code: llm.CodeTooLarge, Err: errTooLarge,
			Msg: fmt.Sprintf("the answer of %s exceeds %d MiB", c.at.Title, maxBody>>20),
			Fix: "ask for a shorter answer",
		}}
	case errors.Is(err, errRedirect):
		return &failure{err: &llm.Error{
			Code: llm.CodeUnavailable, Err: errRedirect,
			Msg: c.at.Title + " redirects to another URL",
			Fix: "set " + c.at.BaseVar + " to the target of the redirect",
		}}
	}
	if _, sent := errors.AsType[*url.Error](err); sent {
		f := &failure{retryable: true, err: &llm.Error{
			Code: llm.CodeUnavailable, Err: cause,
			Msg: c.at.Title + " is unreachable (" + c.safe(cause.Error()) + ")",
			Fix: "check the network, and " + c.at.BaseVar + " if it is set",
		}}
		if c.at.Title == "Ollama" {
			f.err.Fix = "run ollama serve, or set OLLAMA_BASE_URL to its URL"
		}
		return f
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, mismatch := errors.AsType[*json.UnmarshalTypeError](err)
	if syntax || mismatch || errors.Is(err, io.EOF) {
		return c.badAnswer(cause)
	}
	return &failure{retryable: true, err: &llm.Error{
		Code: llm.CodeInterrupted, Err: cause,
		Msg: c.at.Title + " closed the connection before the answer was complete", Fix: "try again",
	}}
}

// badAnswer reports a reply that is not valid Chat Completions JSON.
func (c *caller) badAnswer(err error) *failure {
	return &failure{retryable: true, err: &llm.Error{
		Code: llm.CodeBadAnswer, Err: err, Msg: "the reply of " + c.at.Title + " is not a valid reply of the protocol",
		Fix: "if " + c.at.BaseVar + " is set, check that it is the URL of a service compatible with OpenAI's",
	}}
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
	e := &llm.Error{Status: status}
	f := &failure{err: e}
	detail := ""
	if reported.message != "" {
		detail = " (" + c.safe(reported.message) + ")"
	}
	switch {
	case status == 403 && flagged(reported.message):
		e.Code, e.Msg, e.Fix = llm.CodeDeclined, "a content filter of "+c.at.Title+" blocked the request"+detail, "rephrase the request, or choose another model"
	case status == 401 || status == 403:
		// Without the detail, which may contain a part of the key.
		e.Code, e.Msg = llm.CodeBadKey, c.at.Title+" rejected the API key"
		e.Fix = "check " + c.at.KeyVars[0]
		if c.at.key == "" {
			e.Msg, e.Fix = c.at.Title+" requires an API key", "set "+c.at.KeyVars[0]
		}
	case slices.Contains(c.at.noQuota, reported.code) || slices.Contains(c.at.noQuota, fmt.Sprint(status)):
		e.Code, e.Msg, e.Fix = llm.CodeRateLimited, "the quota of this "+c.at.Title+" key is used up"+detail, "check the plan and the billing of the account"
	case status == 429:
		e.Code, e.Msg, e.Fix = llm.CodeRateLimited, c.at.Title+" receives too many requests"+detail, "try again later"
		e.RetryAfter, f.retryable = retryAfter(header, time.Now()), true
		if e.RetryAfter > c.timeout {
			e.Fix = "try again in " + e.RetryAfter.Round(time.Second).String()
		}
	case status == 408 || status == 409 || status == 425 || status >= 500:
		e.Code, e.Msg, e.Fix = llm.CodeUnavailable, fmt.Sprintf("%s failed with status %d%s", c.at.Title, status, detail), "try again later"
		e.RetryAfter, f.retryable = retryAfter(header, time.Now()), true
	case status < 500 && aboutImages(reported.message):
		e.Code, e.Msg, e.Fix = llm.CodeRefused, c.at.Title+" cannot show images to the model"+detail, "choose a model that can see"
		f.rejected = optionImages
	case status == 404 && !strings.Contains(reported.message, "parameters"):
		e.Code, e.Msg = llm.CodeUnknown, c.at.Title+" does not know the model"+detail
		e.Fix = "check its name"
		if c.at.Title == "Ollama" {
			e.Fix = "run ollama pull NAME"
		}
	case status == 413:
		e.Code, e.Msg, e.Fix = llm.CodeRefused, "the request is too large for "+c.at.Title+detail, "shorten the request"
	default:
		e.Code, e.Msg = llm.CodeRefused, fmt.Sprintf("%s rejected the request with status %d%s", c.at.Title, status, detail)
		f.rejected = rejectedOption(reported)
	}
	return f
}

// aboutImages reports whether an error says that the model cannot see.
func aboutImages(message string) bool {
	message = strings.ToLower(message)
	return (strings.Contains(message, "image") || strings.Contains(message, "vision") || strings.Contains(message, "multimodal")) &&
		(strings.Contains(message, "support") || strings.Contains(message, "not allowed") || strings.Contains(message, "only text"))
}

// flagged reports whether a status of 403 is about the content of the request
// rather than the key.
func flagged(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "flagged") || strings.Contains(message, "moderation") || strings.Contains(message, "guardrail")
}

// rejectedOption returns the option that an error is about, empty if it is about
// none.
func rejectedOption(reported report) option {
	text := strings.ToLower(reported.message) + " " + reported.param
	switch {
	case strings.Contains(text, "temperature"):
		return optionTemperature
	case strings.Contains(text, "tool_choice"):
		return optionToolChoice
	case strings.Contains(text, "response_format"), strings.Contains(text, "json_schema"), strings.Contains(text, "requested parameters"):
		return optionSchema
	case strings.Contains(text, "not support") || strings.Contains(text, "unsupported"):
		if strings.Contains(text, "max_tokens") || strings.Contains(text, "max_completion_tokens") {
			return optionMaxTokens
		}
	}
	return ""
}

// withoutURL unwraps a url.Error, because its URL may contain a secret.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
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

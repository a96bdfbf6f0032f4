package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/sequent-dev/sequent/llm"
)

// failed finds out what an error of an exchange means.
func (c *caller) failed(ctx context.Context, x *exchange, err error) *failure {
	cause := bare(err)
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return &failure{again: true, err: &llm.Error{
			Code: llm.CodeTimeout, Err: errTimeout,
			Msg: fmt.Sprintf("%s did not answer within %v", c.at.Title, c.timeout),
			Fix: "try again, or allow it more time",
		}}
	case ctx.Err() != nil:
		return &failure{err: canceled(ctx)}
	case errors.Is(err, errTooLarge):
		return &failure{err: &llm.Error{
			Code: llm.CodeTooLarge, Err: errTooLarge,
			Msg: fmt.Sprintf("the answer of %s has more than %d bytes", c.at.Title, c.maxBody),
		}}
	case errors.Is(err, errRedirect):
		return &failure{err: &llm.Error{
			Code: llm.CodeUnavailable, Err: errRedirect, Status: x.status,
			Msg: c.at.Title + " redirects to another URL",
			Fix: "set " + c.at.BaseVar + " to the one that it redirects to",
		}}
	}
	// It may hold an APIError that was read in part.
	if says, ok := errors.AsType[*openai.RequestError](err); ok {
		return c.refused(x, &openai.APIError{HTTPStatusCode: says.HTTPStatusCode, Message: plainly(says.Body)})
	}
	if says, ok := errors.AsType[*openai.APIError](err); ok {
		return c.refused(x, says)
	}
	for _, unsupported := range []error{
		openai.ErrReasoningToolsRequireResponses, openai.ErrReasoningEffortUnsupported,
		openai.ErrReasoningSamplingUnsupported, openai.ErrChatCompletionInvalidModel,
	} {
		if errors.Is(err, unsupported) {
			return &failure{err: &llm.Error{
				Code: llm.CodeRefused, Err: err, Msg: unsupported.Error(), Fix: "choose another model",
			}}
		}
	}
	if _, sent := errors.AsType[*url.Error](err); sent && x.status == 0 {
		f := &failure{again: true, err: &llm.Error{
			Code: llm.CodeUnavailable, Err: cause,
			Msg: c.at.Title + " cannot be reached (" + c.safe(cause.Error()) + ")",
			Fix: "check the network, and " + c.at.BaseVar + " if it is set",
		}}
		if c.at.Title == "Ollama" {
			f.err.Fix = "start it with: ollama serve; or set OLLAMA_BASE_URL to where it is"
		}
		return f
	}
	malformed := errors.Is(err, io.EOF)
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		malformed = true
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		malformed = true
	}
	if malformed {
		return &failure{err: c.badAnswer(cause)}
	}
	return &failure{again: true, err: &llm.Error{
		Code: llm.CodeInterrupted, Err: cause, Status: x.status,
		Msg: "the answer of " + c.at.Title + " broke off", Fix: "try again",
	}}
}

// badAnswer is an answer that is none of the protocol.
func (c *caller) badAnswer(err error) *llm.Error {
	return &llm.Error{
		Code: llm.CodeBadAnswer, Err: err, Msg: c.at.Title + " did not answer as the protocol has it",
		Fix: "check that " + c.at.BaseVar + ", if it is set, is the URL of a Chat Completions service",
	}
}

// plainly returns what an error says that is not in the protocol's form.
func plainly(body []byte) string {
	var says struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	_ = json.Unmarshal(body, &says) // it may be a page of a proxy
	return cmp.Or(textOf(says.Error), textOf(says.Message), textOf(says.Detail))
}

// refused finds out what a provider means by an error.
func (c *caller) refused(x *exchange, says *openai.APIError) *failure {
	status := says.HTTPStatusCode
	code := strings.TrimSuffix(fmt.Sprint(says.Code), "<nil>")
	if status == 0 { // in the midst of an answer
		if n, ok := says.Code.(int); ok && n >= 400 && n < 600 {
			status = n
		} else {
			status = 500
		}
	}
	e := &llm.Error{Status: status}
	f := &failure{err: e}
	told := ""
	if says.Message != "" {
		told = " (" + c.safe(says.Message) + ")"
	}
	switch {
	case status == 403 && flagged(says.Message):
		e.Code, e.Msg, e.Fix = llm.CodeDeclined, "a filter of "+c.at.Title+" stopped the question"+told, "ask for something else, or another model"
	case status == 401 || status == 403:
		// What it says may hold a part of the key.
		e.Code, e.Msg = llm.CodeBadKey, c.at.Title+" does not accept the API key"
		e.Fix = "check " + c.at.KeyVars[0]
		if c.at.key == "" {
			e.Msg, e.Fix = c.at.Title+" wants an API key", "set "+c.at.KeyVars[0]
		}
	case slices.Contains(c.at.noQuota, code) || slices.Contains(c.at.noQuota, fmt.Sprint(status)):
		e.Code, e.Msg, e.Fix = llm.CodeRateLimited, c.at.Title+" has no quota left for this key"+told, "check the plan and the billing of the account"
	case status == 429:
		e.Code, e.Msg, e.Fix = llm.CodeRateLimited, c.at.Title+" gets too many requests"+told, "try again later"
		e.After, f.again = retryAfter(x.header, time.Now()), true
		if e.After > c.timeout {
			e.Fix = "try again in " + e.After.Round(time.Second).String()
		}
	case status == 408 || status == 409 || status == 425 || status >= 500:
		e.Code, e.Msg, e.Fix = llm.CodeUnavailable, fmt.Sprintf("%s failed with status %d%s", c.at.Title, status, told), "try again later"
		e.After, f.again = retryAfter(x.header, time.Now()), true
	case status == 404 && !strings.Contains(says.Message, "parameters"):
		e.Code, e.Msg = llm.CodeUnknown, c.at.Title+" does not know the model"+told
		e.Fix = "check its name"
		if c.at.Title == "Ollama" {
			e.Fix = "get it with: ollama pull NAME"
		}
	case status == 413:
		e.Code, e.Msg, e.Fix = llm.CodeRefused, c.at.Title+" does not take a request of that size"+told, "ask with less"
	default:
		e.Code, e.Msg = llm.CodeRefused, fmt.Sprintf("%s does not accept the request, status %d%s", c.at.Title, status, told)
		f.drop = unwelcome(says)
	}
	return f
}

// flagged reports whether a refusal is about what was asked, and not about the key.
func flagged(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "flagged") || strings.Contains(message, "moderation") || strings.Contains(message, "guardrail")
}

// unwelcome returns what a model refuses to be told, if that is what a refusal
// is about.
func unwelcome(says *openai.APIError) string {
	about := strings.ToLower(says.Message)
	if says.Param != nil {
		about += " " + *says.Param
	}
	switch {
	case strings.Contains(about, "temperature"):
		return saysTemperature
	case strings.Contains(about, "response_format"), strings.Contains(about, "json_schema"), strings.Contains(about, "requested parameters"):
		return saysSchema
	case strings.Contains(about, "not support") || strings.Contains(about, "unsupported"):
		if strings.Contains(about, "max_tokens") || strings.Contains(about, "max_completion_tokens") {
			return saysMaxTokens
		}
	}
	return ""
}

// bare returns an error without the URL that was asked, which may hold a secret.
func bare(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// secrets look like keys, whole or with a part starred out.
var secrets = regexp.MustCompile(`(?i)\b(sk|pk|rk|key|api)-[\w*.-]{4,}|\bbearer\s+\S+`)

// safe returns what a provider says, on one line, short, and without a key.
func (c *caller) safe(s string) string {
	const most = 300
	if c.at.key != "" {
		s = strings.ReplaceAll(s, c.at.key, "…")
	}
	s = secrets.ReplaceAllString(s, "…")
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

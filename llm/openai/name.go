package openai

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent/llm"
)

// modelVars returns the environment variables with the default model, in the order
// in which they apply. Those that begin with LUX are variables of lux-mcp, the others
// of this program.
func modelVars() []string {
	return []string{"LUX_MODEL_NORMAL", "LUX_DEFAULT_CHAT_MODEL", "SEQUENT_MODEL", "LUX_MODEL_REASONING", "LUX_DEFAULT_REASONING_MODEL"}
}

// Variables of lux-mcp for requests. A value that is not a positive number is ignored,
// as lux-mcp does.
const (
	timeoutVar  = "LUX_REQUEST_TIMEOUT_SECS" // timeout of an attempt, in seconds
	attemptsVar = "LUX_MAX_RETRIES"          // maximum attempts, the first one included
)

// maxNumber limits the numbers in these variables; more seconds would overflow.
const maxNumber = 1_000_000

// positive returns a positive number, and 0 for any other text.
func positive(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxNumber {
		return 0
	}
	return n
}

// An alias is a short name of a model, in any case.
type alias struct {
	name  string
	vars  []string // variables with the model that it means; the first that is set wins
	model string   // the model if none is set
}

// aliases returns all aliases. They are those of lux-mcp, but the names of models are
// those under which the providers offer them today. Names of models that people run
// themselves, such as mistral, are no aliases.
func aliases() []alias {
	return []alias{
		{"reasoning", []string{"LUX_MODEL_REASONING", "LUX_DEFAULT_REASONING_MODEL"}, "gpt-5"},
		{"mini", []string{"LUX_MODEL_MINI", "LUX_DEFAULT_BIAS_CHECKER_MODEL"}, "gpt-5-mini"},
		{"opus", []string{"LUX_MODEL_OPUS"}, "anthropic/claude-opus-4.1"},
		{"sonnet", []string{"LUX_MODEL_SONNET"}, "anthropic/claude-sonnet-4.5"},
		{"grok", []string{"LUX_MODEL_GROK"}, "x-ai/grok-4"},
		{"claude", nil, "anthropic/claude-sonnet-4.5"},
		{"haiku", nil, "anthropic/claude-haiku-4.5"},
		{"gemini", nil, "google/gemini-2.5-pro"},
		{"flash", nil, "google/gemini-2.5-flash"},
		{"gpt4", nil, "gpt-4"},
		{"gpt4.1", nil, "gpt-4.1"},
		{"gpt5", nil, "gpt-5"},
		{"gpt5-mini", nil, "gpt-5-mini"},
		{"o3pro", nil, "o3-pro"},
		{"o4mini", nil, "o4-mini"},
	}
}

// choose returns the name of the model to use, with aliases replaced: name or, if that
// is empty, the model of the environment or of the only provider that has a key.
// Without any, the error has the code [llm.CodeNoModel].
func choose(name string, getenv func(string) string) (string, error) {
	for _, v := range modelVars() {
		name = cmp.Or(name, getenv(v))
	}
	if name == "" {
		return soleModel(getenv)
	}
	for _, a := range aliases() {
		if !strings.EqualFold(a.name, name) {
			continue
		}
		model := ""
		for _, v := range a.vars {
			model = cmp.Or(model, getenv(v))
		}
		return cmp.Or(model, a.model), nil
	}
	return name, nil
}

// soleModel returns the model of the only provider that has a key.
func soleModel(getenv func(string) string) (string, error) {
	var keys []string // of the providers that have one
	model := ""
	for _, p := range Providers() {
		for _, v := range p.KeyVars {
			if strings.TrimSpace(getenv(v)) != "" {
				keys, model = append(keys, v), p.Model
				break
			}
		}
	}
	switch len(keys) {
	case 0:
		return "", &llm.Error{Code: llm.CodeNoModel, Msg: "no model is configured", Fix: "pass a model name, or set SEQUENT_MODEL"}
	case 1:
		return model, nil
	}
	return "", &llm.Error{
		Code: llm.CodeNoModel, Fix: "pass a model name, or set SEQUENT_MODEL",
		Msg: "no model is configured, and several providers have a key (" + strings.Join(keys, ", ") + ")",
	}
}

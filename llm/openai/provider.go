package openai

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent/llm"
)

// A Provider is a service that speaks the Chat Completions protocol, and how its
// dialect of it differs.
type Provider struct {
	Title   string   // as people call it
	Prefix  string   // of model names, when nothing else tells: "ollama:qwen3"
	Models  string   // which names mean it without the prefix, in words; empty for none
	Example string   // a model to begin with, as --model takes it
	BaseURL string   // where it is, unless a variable says so
	BaseVar string   // the variable of the environment with another URL
	KeyVars []string // the variables with the key; the first that is set counts
	Keyless bool     // it needs no key

	maxTokens   string        // what the limit of an answer is called
	structured  structured    // how it is held to a schema
	noUsageFlag bool          // it counts tokens of streams unasked, and refuses to be asked
	hottest     float64       // temperatures above are lowered to it
	withSchema  []field       // what else a request with a schema says
	noQuota     []string      // error codes that say that waiting does not help
	quirks      []modelQuirks // the first that matches a model counts
}

// structured says how a provider is held to a schema.
type structured int

const (
	bySchema structured = iota // response_format json_schema
	byObject                   // response_format json_object, the schema in words
	byWords                    // the schema in words
)

// A field is a member of a request that the library has no name for.
type field struct {
	name  string
	value json.RawMessage
}

// modelQuirks say how models differ from others of their provider.
type modelQuirks struct {
	prefixes    []string // of their names
	temperature bool     // they refuse to be told one
	toolEffort  string   // the reasoning effort with which they call tools; empty for any
}

// reasoners are OpenAI's models that think before they speak.
func reasoners() []string { return []string{"gpt-6", "gpt-5", "o1", "o3", "o4"} }

// of returns names with their vendor's before them.
func of(vendor string, names []string) []string {
	for i := range names {
		names[i] = vendor + names[i]
	}
	return names
}

// Providers returns all providers that are known by name. The last is meant by
// names that mean no other.
func Providers() []Provider {
	return []Provider{
		{
			Title: "OpenRouter", Prefix: "openrouter:", Models: "a name with a slash in it", Example: "anthropic/claude-sonnet-4.5",
			BaseURL: "https://openrouter.ai/api/v1", BaseVar: "OPENROUTER_BASE_URL", KeyVars: []string{"OPENROUTER_API_KEY"},
			maxTokens: "max_tokens", structured: bySchema, hottest: 2,
			// Else it may choose a host for the model that ignores the schema.
			withSchema: []field{{"provider", json.RawMessage(`{"require_parameters":true}`)}},
			noQuota:    []string{"402"},
			quirks:     []modelQuirks{{prefixes: of("openai/", reasoners()), temperature: true}},
		},
		{
			Title: "Z.ai", Prefix: "zai:", Models: "a name that begins with `glm-`", Example: "glm-4.7",
			BaseURL: "https://api.z.ai/api/paas/v4", BaseVar: "ZAI_BASE_URL", KeyVars: []string{"ZAI_API_KEY", "Z_AI_API_KEY"},
			maxTokens: "max_tokens", structured: byObject, noUsageFlag: true, hottest: 1,
			noQuota: []string{"1113", "1308", "1309"}, // no balance, quota used up, plan expired
		},
		{
			Title: "Ollama", Prefix: "ollama:", Example: "ollama:qwen3",
			BaseURL: "http://localhost:11434/v1", BaseVar: "OLLAMA_BASE_URL", KeyVars: []string{"OLLAMA_API_KEY"}, Keyless: true,
			maxTokens: "max_tokens", structured: bySchema, hottest: 2,
		},
		{
			Title: "OpenAI", Prefix: "openai:", Models: "any other name", Example: "gpt-5.4-mini",
			BaseURL: "https://api.openai.com/v1", BaseVar: "OPENAI_BASE_URL", KeyVars: []string{"OPENAI_API_KEY"},
			maxTokens: "max_completion_tokens", structured: bySchema, hottest: 2,
			noQuota: []string{"insufficient_quota", "billing_hard_limit_reached"},
			quirks: []modelQuirks{
				{prefixes: []string{"gpt-6-sol", "gpt-6-luna"}, temperature: true, toolEffort: "none"},
				{prefixes: reasoners(), temperature: true},
			},
		},
	}
}

// Resolve finds out whose model a name means, and what the provider calls it: a
// prefix says it, else "glm-…" is Z.ai's, a name with a slash OpenRouter's, and
// any other OpenAI's, or of whatever is at OPENAI_BASE_URL.
func Resolve(name string) (p Provider, model string) {
	all := Providers()
	for _, p := range all {
		if model, ok := strings.CutPrefix(name, p.Prefix); ok {
			return p, model
		}
	}
	title := "OpenAI"
	switch {
	case strings.HasPrefix(name, "glm-"):
		title = "Z.ai"
	case strings.Contains(name, "/"):
		title = "OpenRouter"
	}
	for _, p = range all {
		if p.Title == title {
			break
		}
	}
	return p, name
}

// ModelVars are the variables of the environment that choose a model when nothing
// else does, the first that is set first.
func ModelVars() []string { return []string{"LUX_MODEL_NORMAL", "SEQUENT_MODEL"} }

// Choose returns the name of the model to ask: the given one or, if it is empty,
// that of the environment. If there is none either, the error has the code
// [llm.CodeNoModel].
func Choose(name string, getenv func(string) string) (string, error) {
	for _, v := range ModelVars() {
		name = cmp.Or(name, getenv(v))
	}
	if name == "" {
		return "", &llm.Error{Code: llm.CodeNoModel, Msg: "no model is chosen", Fix: "name one, or set SEQUENT_MODEL"}
	}
	return name, nil
}

// An endpoint is a provider as the environment of this process has it.
type endpoint struct {
	Provider
	url string
	key string
}

// locate reads where the provider is, and the key for it.
func (p Provider) locate(getenv func(string) string) (endpoint, error) {
	at := endpoint{Provider: p, url: cmp.Or(getenv(p.BaseVar), p.BaseURL)}
	for _, v := range p.KeyVars {
		at.key = cmp.Or(at.key, strings.TrimSpace(getenv(v)))
	}
	u, err := url.Parse(at.url)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return at, &llm.Error{
			Code: llm.CodeUnavailable, Msg: p.BaseVar + " is not the URL of a service",
			Fix: "set it to one such as " + p.BaseURL,
		}
	case strings.ContainsFunc(at.key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return at, &llm.Error{
			Code: llm.CodeNoKey, Msg: p.KeyVars[0] + " holds characters that no key has",
			Fix: "set it to the key alone",
		}
	case at.key == "" && !p.Keyless && !loopback(u.Hostname()):
		return at, &llm.Error{
			Code: llm.CodeNoKey, Msg: p.Title + " API key not configured",
			Fix: "set " + p.KeyVars[0] + " in the environment",
		}
	}
	return at, nil
}

// loopback reports whether a host is this machine, where servers of models need
// no key.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// about returns what is peculiar about a model.
func (p Provider) about(model string) modelQuirks {
	for _, q := range p.quirks {
		for _, prefix := range q.prefixes {
			if strings.HasPrefix(model, prefix) {
				return q
			}
		}
	}
	return modelQuirks{}
}

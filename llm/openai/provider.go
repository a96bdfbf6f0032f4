package openai

import (
	"cmp"
	"net/netip"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent/llm"
)

// A Provider describes a service that speaks the Chat Completions protocol, and how
// it deviates from the protocol.
type Provider struct {
	Title   string   // display name
	Prefix  string   // prefix of model names that selects the provider: "ollama:"
	Models  string   // description of the names that select it without the prefix; empty for none
	Model   string   // its model, as --model takes it, where no model is configured
	BaseURL string   // default base URL
	BaseVar string   // variable that overrides BaseURL
	KeyVars []string // variables with the API key; the first that is set wins
	Keyless bool     // needs no API key

	structured        structured    // how it receives a schema
	noUsageFlag       bool          // rejects stream_options; reports the usage of streams anyway
	maxTemperature    float64       // higher temperatures are lowered to it
	requireParameters bool          // a request with a schema asks for a host that enforces it
	noQuota           []string      // error codes that mean that a retry cannot help
	quirks            []modelQuirks // the first entry that matches a model applies
}

// structured is the way in which a provider receives a schema.
type structured int

const (
	bySchema structured = iota // response_format json_schema
	byObject                   // response_format json_object, and the schema in the prompt
	byWords                    // the schema in the prompt
)

// modelQuirks describes models that differ from others of their provider.
type modelQuirks struct {
	prefixes      []string // prefixes of the models' names
	noTemperature bool     // they reject a temperature
	toolEffort    string   // the only reasoning effort with which they call tools; empty for any
}

// reasoners returns the name prefixes of OpenAI's reasoning models.
func reasoners() []string { return []string{"gpt-6", "gpt-5", "o1", "o3", "o4"} }

// withVendor prepends a vendor to each name.
func withVendor(vendor string, names []string) []string {
	for i := range names {
		names[i] = vendor + names[i]
	}
	return names
}

// Providers returns all known providers. Without a configured model, the first that has a
// key is used.
func Providers() []Provider {
	return []Provider{
		{
			Title: "Z.ai", Prefix: "zai:", Models: "names that begin with `glm-`", Model: "glm-4.7",
			BaseURL: "https://api.z.ai/api/paas/v4", BaseVar: "ZAI_BASE_URL", KeyVars: []string{"ZAI_API_KEY", "Z_AI_API_KEY"},
			structured: byObject, noUsageFlag: true, maxTemperature: 1,
			noQuota: []string{"1113", "1308", "1309"}, // no balance, quota used up, plan expired
		},
		{
			Title: "OpenAI", Prefix: "openai:", Models: "all other names", Model: "gpt-5.4-mini",
			BaseURL: "https://api.openai.com/v1", BaseVar: "OPENAI_BASE_URL", KeyVars: []string{"OPENAI_API_KEY"},
			structured: bySchema, maxTemperature: 2,
			noQuota: []string{"insufficient_quota", "billing_hard_limit_reached"},
			quirks: []modelQuirks{
				{prefixes: []string{"gpt-6-sol", "gpt-6-luna"}, noTemperature: true, toolEffort: "none"},
				{prefixes: reasoners(), noTemperature: true},
			},
		},
		{
			Title: "OpenRouter", Prefix: "openrouter:", Models: "names with a slash", Model: "anthropic/claude-sonnet-4.5",
			BaseURL: "https://openrouter.ai/api/v1", BaseVar: "OPENROUTER_BASE_URL", KeyVars: []string{"OPENROUTER_API_KEY"},
			structured: bySchema, maxTemperature: 2,
			// Without it, OpenRouter may select a host that ignores the schema.
			requireParameters: true,
			noQuota:           []string{"402"},
			quirks:            []modelQuirks{{prefixes: withVendor("openai/", reasoners()), noTemperature: true}},
		},
		{
			Title: "Ollama", Prefix: "ollama:", Model: "ollama:qwen3",
			BaseURL: "http://localhost:11434/v1", BaseVar: "OLLAMA_BASE_URL", KeyVars: []string{"OLLAMA_API_KEY"}, Keyless: true,
			structured: bySchema, maxTemperature: 2,
		},
	}
}

// choose returns the name of the model to use: name or, if that is empty, the model of
// the environment or of the first provider that has a key. Without any, the error has the
// code [llm.CodeNoModel].
func choose(name string, getenv func(string) string) (string, error) {
	for _, v := range modelVars() {
		name = cmp.Or(name, getenv(v))
	}
	for _, p := range Providers() {
		if name == "" && p.key(getenv) != "" {
			name = p.Model
		}
	}
	if name == "" {
		return "", &llm.Error{Code: llm.CodeNoModel, Msg: "no model is configured", Fix: "pass a model name, or set SEQUENT_MODEL"}
	}
	return name, nil
}

// modelVars returns the environment variables with the default model, in the order in which
// they apply. The first is that of lux-mcp, the program of seed 002.
func modelVars() []string { return []string{"LUX_MODEL_NORMAL", "SEQUENT_MODEL"} }

// key returns the API key of the environment.
func (p Provider) key(getenv func(string) string) (key string) {
	for _, v := range p.KeyVars {
		key = cmp.Or(key, strings.TrimSpace(getenv(v)))
	}
	return key
}

// resolve returns the provider that a model name selects, and the provider's own
// name of the model. A prefix such as "ollama:" selects its provider. Without one,
// "glm-…" selects Z.ai, a name with a slash OpenRouter, and any other name OpenAI
// or the service at OPENAI_BASE_URL.
func resolve(name string) (p Provider, model string) {
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

// An endpoint is a provider with its URL and key.
type endpoint struct {
	Provider
	url string
	key string
}

// endpoint reads the URL and the key from the environment.
func (p Provider) endpoint(getenv func(string) string) (endpoint, error) {
	at := endpoint{Provider: p, url: cmp.Or(getenv(p.BaseVar), p.BaseURL), key: p.key(getenv)}
	u, err := url.Parse(at.url)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return at, &llm.Error{
			Code: llm.CodeUnavailable, Msg: p.BaseVar + " is not an http or https URL",
			Fix: "set it to a URL such as " + p.BaseURL,
		}
	case strings.ContainsFunc(at.key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return at, &llm.Error{
			Code: llm.CodeNoKey, Msg: p.KeyVars[0] + " contains characters that are not allowed in an API key",
			Fix: "set it to the key without spaces or line breaks",
		}
	case at.key == "" && !p.Keyless && !loopback(u.Hostname()):
		return at, &llm.Error{
			Code: llm.CodeNoKey, Msg: p.Title + " API key not configured",
			Fix: "set " + p.KeyVars[0] + " in the environment",
		}
	}
	return at, nil
}

// loopback reports whether a host is this machine. Model servers on this machine
// need no key.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

func (p Provider) quirksOf(model string) modelQuirks {
	for _, q := range p.quirks {
		for _, prefix := range q.prefixes {
			if strings.HasPrefix(model, prefix) {
				return q
			}
		}
	}
	return modelQuirks{}
}

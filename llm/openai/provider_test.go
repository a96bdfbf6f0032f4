package openai_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/llm/openai"
)

func TestResolve(t *testing.T) {
	tests := []struct{ name, provider, model string }{
		{"gpt-4o", "OpenAI", "gpt-4o"},
		{"o3-mini", "OpenAI", "o3-mini"},
		{"anthropic/claude-sonnet-4.5", "OpenRouter", "anthropic/claude-sonnet-4.5"},
		{"z-ai/glm-4.7", "OpenRouter", "z-ai/glm-4.7"},
		{"glm-4.7", "Z.ai", "glm-4.7"},
		{"zai:glm-4.7", "Z.ai", "glm-4.7"},
		{"zai:something-else", "Z.ai", "something-else"},
		{"ollama:qwen3:8b", "Ollama", "qwen3:8b"},
		{"ollama:hf.co/someone/model", "Ollama", "hf.co/someone/model"},
		{"openai:meta-llama/llama-3", "OpenAI", "meta-llama/llama-3"},
		{"openrouter:auto", "OpenRouter", "auto"},
		{"qwen3:8b", "OpenAI", "qwen3:8b"},
		{"日本語", "OpenAI", "日本語"},
	}
	for _, tt := range tests {
		if p, model := openai.Resolve(tt.name); p.Title != tt.provider || model != tt.model {
			t.Errorf("Resolve(%q) = %s, %q, want %s, %q", tt.name, p.Title, model, tt.provider, tt.model)
		}
	}
	for _, p := range openai.Providers() {
		if got, _ := openai.Resolve(p.Model); got.Title != p.Title {
			t.Errorf("example %s of %s resolves to %s", p.Model, p.Title, got.Title)
		}
	}
}

func TestNew(t *testing.T) {
	tests := []struct {
		name  string
		model string
		env   string // NAME=value …
		code  llm.Code
		msg   string // a part of the error
		used  string // name of the model in use
	}{
		{"nothing", "", "", llm.CodeNoModel, "SEQUENT_MODEL", ""},
		{"OpenAI without a key", "gpt-4o", "", llm.CodeNoKey, "OpenAI API key not configured: set OPENAI_API_KEY", ""},
		{"OpenRouter without a key", "a/b", "OPENAI_API_KEY=x", llm.CodeNoKey, "OpenRouter API key not configured", ""},
		{"Z.ai without a key", "glm-4.7", "OPENAI_API_KEY=x", llm.CodeNoKey, "Z.ai API key not configured", ""},
		{"Z.ai with the older variable", "glm-4.7", "Z_AI_API_KEY=x", "", "", "glm-4.7"},
		{"Ollama without a key", "ollama:qwen3", "", "", "", "ollama:qwen3"},
		{"a server on this machine", "qwen3", "OPENAI_BASE_URL=http://127.0.0.1:8000/v1", "", "", "qwen3"},
		{"a server on another machine", "qwen3", "OPENAI_BASE_URL=http://gpu:8000/v1", llm.CodeNoKey, "OPENAI_API_KEY", ""},
		{"a prefix alone", "ollama:", "", llm.CodeNoModel, "ollama:NAME", ""},
		{"no URL", "gpt-4o", "OPENAI_API_KEY=x OPENAI_BASE_URL=gpu", llm.CodeUnavailable, "OPENAI_BASE_URL is not an http or https URL", ""},
		{"from the environment", "", "SEQUENT_MODEL=glm-4.7 ZAI_API_KEY=x", "", "", "glm-4.7"},
		{"Lux's variable wins", "", "SEQUENT_MODEL=glm-4.7 LUX_MODEL_NORMAL=gpt-4o OPENAI_API_KEY=x", "", "", "gpt-4o"},
		{"the only key, of Z.ai", "", "ZAI_API_KEY=x", "", "", "glm-4.7"},
		{"the only key, of OpenRouter", "", "OPENROUTER_API_KEY=x", "", "", "anthropic/claude-sonnet-4.5"},
		{"the only key, of OpenAI", "", "OPENAI_API_KEY=x", "", "", "gpt-5.4-mini"},
		{"both keys of Z.ai", "", "ZAI_API_KEY=x Z_AI_API_KEY=y", "", "", "glm-4.7"},
		{"two keys", "", "ZAI_API_KEY=x OPENAI_API_KEY=y", "", "", "glm-4.7"},
		{"the order of providers", "", "OLLAMA_API_KEY=w OPENROUTER_API_KEY=x OPENAI_API_KEY=y", "", "", "gpt-5.4-mini"},
		{"the argument wins", "ollama:a", "SEQUENT_MODEL=glm-4.7 LUX_MODEL_NORMAL=gpt-4o", "", "", "ollama:a"},
		{"a key with a line break", "gpt-4o", "OPENAI_API_KEY=sk-a\nX-Evil:1", llm.CodeNoKey, "not allowed in an API key", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := make(map[string]string)
			for pair := range strings.SplitSeq(tt.env, " ") {
				name, value, _ := strings.Cut(pair, "=")
				env[name] = value
			}
			c, err := openai.New(openai.Config{Model: tt.model, Getenv: func(name string) string { return env[name] }})
			if llm.CodeOf(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.msg) {
				t.Fatalf("got %v, want code %q with %q", err, tt.code, tt.msg)
			}
			if err == nil && c.Name() != tt.used {
				t.Errorf("got model %q, want %q", c.Name(), tt.used)
			}
		})
	}
}

// TestRequests checks the bodies of requests where providers differ.
func TestRequests(t *testing.T) {
	schema := &llm.Schema{Name: "answer", JSON: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)}
	full := llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: "Be brief."}, {Role: llm.User, Text: "?"},
			{Role: llm.Assistant, Reasoning: "hm", Calls: []llm.Call{{ID: "a", Name: "look", Args: ""}, {ID: "b", Name: "look", Args: `{"x":`}, {ID: "c", Name: "look", Args: `["x"]`}}},
			{Role: llm.Result, CallID: "a", Text: ""},
		},
		Tools:       []llm.Tool{{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Temperature: new(1.5),
	}
	tests := []struct {
		model string
		alter func(*llm.Request)
		want  []string
		not   []string
	}{
		{"gpt-4o", nil, []string{
			`"model":"gpt-4o"`, `"temperature":1.5`, `"content":"(nothing)"`, `"name":"look","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}`,
			`"parameters":{"type":"object"}`, `"tool_call_id":"a"`,
		}, []string{`"hm"`, `"reasoning_effort"`}},
		{"gpt-5.4-mini", nil, nil, []string{`"temperature"`}},
		{"gpt-6-sol", nil, []string{`"reasoning_effort":"none"`}, []string{`"temperature"`}},
		{"o3", nil, nil, []string{`"temperature"`}},
		{"openai/gpt-5", nil, nil, []string{`"temperature"`}},
		{"a/b", func(r *llm.Request) { r.Temperature = new(0.0) }, []string{`"temperature":0`}, []string{`"require_parameters"`}},
		{"glm-4.7", nil, []string{`"temperature":1,`}, nil},
		{"ollama:qwen3", nil, []string{`"model":"qwen3"`}, nil},
		{"gpt-4o", func(r *llm.Request) { r.Schema = schema }, []string{`"response_format":{"json_schema":{"name":"answer"`, `"strict":true`, `"content":"Be brief."`}, nil},
		{"a/b", func(r *llm.Request) { r.Schema = schema }, []string{`"type":"json_schema"`, `"provider":{"require_parameters":true}`}, nil},
		{"ollama:qwen3", func(r *llm.Request) { r.Schema = schema }, []string{`"type":"json_schema"`}, nil},
		{"glm-4.7", func(r *llm.Request) { r.Schema = schema }, []string{`"response_format":{"type":"json_object"}`, `Be brief.\n\nAnswer with nothing but one JSON object`}, nil},
		{"glm-4.7", func(r *llm.Request) { r.Schema, r.Messages = schema, r.Messages[1:2] }, []string{`{"role":"system","content":"Answer with nothing`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.model, func(t *testing.T) {
			r := full
			if tt.alter != nil {
				tt.alter(&r)
			}
			s := serve(llmtest.Reply{Turn: llmtest.Say("ok")})
			if _, err := answerOf(t.Context(), s.connect(t, tt.model), r); err != nil {
				t.Fatal(err)
			}
			sent := s.Requests()
			for _, want := range tt.want {
				if !strings.Contains(string(sent[0].Body), want) {
					t.Errorf("request lacks %s:\n%s", want, sent[0].Body)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(string(sent[0].Body), not) {
					t.Errorf("request contains %s:\n%s", not, sent[0].Body)
				}
			}
			if sent[0].Path != "/v1/chat/completions" || sent[0].Authorization != "Bearer "+secret {
				t.Errorf("got path %s, authorization %s", sent[0].Path, sent[0].Authorization)
			}
			asked := strings.Contains(string(sent[0].Body), `"stream_options":{"include_usage":true}`)
			if p, _ := openai.Resolve(tt.model); !sent[0].Stream || asked == (p.Title == "Z.ai") {
				t.Errorf("request for a stream is\n%s", sent[0].Body)
			}
		})
	}
}

func TestTitlesAndVariablesAreDistinct(t *testing.T) {
	var seen []string
	for _, p := range openai.Providers() {
		for _, s := range append([]string{p.Title, p.Prefix, p.BaseVar, p.BaseURL}, p.KeyVars...) {
			if slices.Contains(seen, s) || s == "" {
				t.Errorf("%q of %s is empty or not unique", s, p.Title)
			}
			seen = append(seen, s)
		}
	}
}

// Package status tests the dialect status over both transports, with scripted
// language models.
package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

// testTimeout is generous, for busy machines.
const testTimeout = 2 * time.Minute

const key = "sk-test-0123456789abcdef"

// keyVars are variables that may be set on a developer's machine.
var keyVars = []string{
	"OPENAI_API_KEY", "OPENROUTER_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY", "OLLAMA_API_KEY",
	"OPENAI_BASE_URL", "OPENROUTER_BASE_URL", "ZAI_BASE_URL", "OLLAMA_BASE_URL", "LUX_MODEL_NORMAL", "SEQUENT_MODEL",
}

func clearKeys(t *testing.T) {
	t.Helper()
	for _, name := range keyVars {
		t.Setenv(name, "")
	}
}

// A client is a client of the program.
type client struct {
	*testing.T
	session *mcp.ClientSession
	stderr  bytes.Buffer // standard error of the program (stdio)

	progress chan string // messages of progress notifications
}

// open starts the program and connects to it.
func open(t *testing.T, transport, program string, args ...string) *client {
	t.Helper()
	c := &client{T: t, progress: make(chan string, 1000)}
	m := mcp.NewClient(&mcp.Implementation{Name: "status-test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.progress <- r.Params.Message
		},
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testTimeout)
	var tr mcp.Transport
	args = append(args, "--dialect", "status")
	if transport == "http" {
		url := programtest.ServeHTTP(t, program, args...)
		tr = &mcp.StreamableClientTransport{Endpoint: url + "?scope=test"}
	} else {
		cmd := exec.CommandContext(ctx, program, append([]string{"serve"}, args...)...)
		cmd.Stderr = &c.stderr
		tr = &mcp.CommandTransport{Command: cmd}
	}
	var err error
	if c.session, err = m.Connect(ctx, tr, nil); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer cancel()
		if err := c.session.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if c.stderr.Len() > 0 {
			t.Errorf("the server wrote to standard error:\n%s", &c.stderr)
		}
	})
	return c
}

// A reply is the reply of sequential_thinking_external.
type reply struct {
	Length     int      `json:"thought_history_length"`
	Session    string   `json:"session_id"`
	Status     string   `json:"status"`
	Content    string   `json:"thought_content"`
	Model      string   `json:"model_used"`
	Confidence *float64 `json:"confidence"`
	Hint       string   `json:"reasoning_hint"`
}

// call calls a tool.
func (c *client) call(tool, args string) (r reply, err error) {
	res, err := c.session.CallTool(c.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return r, err
	}
	if res.IsError || len(res.Content) != 1 {
		return r, fmt.Errorf("got %+v", res)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	structured, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return r, err
	}
	var a, b any
	if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(structured, &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
		return r, fmt.Errorf("text %s and structured content %s differ", text, structured)
	}
	return r, json.Unmarshal([]byte(text), &r)
}

func (c *client) external(args string) reply {
	c.Helper()
	r, err := c.call("sequential_thinking_external", args)
	if err != nil {
		c.Fatalf("%s: %v", args, err)
	}
	return r
}

// refused checks that a call fails with a JSON-RPC error.
func (c *client) refused(tool, args string, code int64, message, data string) {
	c.Helper()
	_, err := c.call(tool, args)
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code != code || e.Message != message {
		c.Fatalf("%s %s: %v, want %d %s", tool, args, err, code, message)
	}
	var got string
	if err := json.Unmarshal(e.Data, &got); err != nil || got != data {
		c.Errorf("%s %s: got data %s, want %q", tool, args, e.Data, data)
	}
	if strings.Contains(string(e.Data), key) {
		c.Errorf("the error contains the key: %s", e.Data)
	}
}

func thought(text, confidence string) llmtest.Reply {
	return llmtest.Reply{Turn: llmtest.Say(fmt.Sprintf(`{"thought":%q,"confidence":%s}`, text, confidence))}
}

// each runs a test over both transports, each with a new store.
func each(t *testing.T, test func(t *testing.T, open func(args ...string) *client, store string)) {
	program := programtest.Build(t)
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "sequent.db")
			test(t, func(args ...string) *client { return open(t, transport, program, append(args, "--store", store)...) }, store)
		})
	}
}

// TestExternal makes the calls of the contract's example, with a model.
func TestExternal(t *testing.T) {
	each(t, func(t *testing.T, open func(...string) *client, store string) {
		clearKeys(t)
		models := llmtest.Serve(t,
			thought("Count at the edge, share the counters.", "0.8"),
			thought("Use a sliding window in Redis.", "0.9"),
			thought("Use one window a tenant.", "0.7"))
		t.Setenv("OPENAI_BASE_URL", models.URL)
		t.Setenv("OPENAI_API_KEY", key)
		t.Setenv("SEQUENT_MODEL", "gpt-other")
		t.Setenv("LUX_MODEL_NORMAL", "gpt-4o-mini")
		c := open()

		r := c.external(`{"thought":"How do I implement rate limiting in a distributed system?","thought_number":1,"total_thoughts":5,"next_thought_needed":true,"model":"gpt-4o","temperature":0.7,"session_id":"rate-limit-design"}`)
		if r.Status != "thinking" || r.Content != "Count at the edge, share the counters." || r.Model != "gpt-4o" || *r.Confidence != 0.8 || r.Hint == "" || r.Length != 1 {
			t.Errorf("problem: got %+v", r)
		}
		r = c.external(`{"thought":"Focus on Redis-based solutions","thought_number":2,"total_thoughts":5,"next_thought_needed":true,"session_id":"rate-limit-design"}`)
		if r.Content != "Use a sliding window in Redis." || r.Model != "gpt-4o-mini" || r.Length != 2 || r.Session != "rate-limit-design" {
			t.Errorf("guidance: got %+v", r)
		}
		r = c.external(`{"thought":"This is my manual thought content","thought_number":3,"total_thoughts":5,"next_thought_needed":true,"use_llm":false,"session_id":"rate-limit-design"}`)
		if r.Content != "This is my manual thought content" || r.Model != "" || r.Confidence != nil || r.Length != 3 {
			t.Errorf("caller's own thought: got %+v", r)
		}
		r = c.external(`{"thought":"For each tenant","thought_number":4,"total_thoughts":5,"next_thought_needed":false,"is_revision":true,"revises_thought":2,"temperature":0,"session_id":"rate-limit-design"}`)
		if r.Status != "complete" || r.Hint != "" || r.Length != 4 {
			t.Errorf("last thought: got %+v", r)
		}

		asked := models.Requests()
		if len(asked) != 3 {
			t.Fatalf("got %d requests to the model, want 3", len(asked))
		}
		for i, q := range asked {
			var body struct {
				Temperature *float64
				Format      struct {
					Type string
				} `json:"response_format"`
			}
			if err := json.Unmarshal(q.Body, &body); err != nil || body.Format.Type != "json_schema" {
				t.Errorf("request %d is %s", i, q.Body)
			}
			if want := []float64{0.7, 0.7, 0}[i]; body.Temperature != nil && *body.Temperature != want || body.Temperature == nil && want != 0 {
				t.Errorf("request %d has temperature %v, want %v", i, body.Temperature, want)
			}
			if q.Authorization != "Bearer "+key || q.Model != []string{"gpt-4o", "gpt-4o-mini", "gpt-4o-mini"}[i] {
				t.Errorf("request %d has model %s and authorization %s", i, q.Model, q.Authorization)
			}
		}
		last := asked[2].Messages[1].Content
		for _, want := range []string{
			"The problem:\nHow do I implement rate limiting", "[1] Count at the edge", "[2] Use a sliding", "[3] This is my manual",
			"revision", "step 2", "Guidance for it:\nFor each tenant",
		} {
			if !strings.Contains(last, want) {
				t.Errorf("the prompt lacks %q:\n%s", want, last)
			}
		}

		program := programtest.Build(t)
		shown := string(programtest.Output(t, exec.Command(program, "show", "rate-limit-design", "--store", store)))
		for _, text := range []string{"Count at the edge", "This is my manual", "Use one window a tenant."} {
			if !strings.Contains(shown, text) {
				t.Errorf("sequent show lacks %q:\n%s", text, shown)
			}
		}
	})
}

// Errors reach the client with the code and the data of the contract. The server starts
// without a key; only calls that need one fail.
func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, open func(...string) *client, store string) {
		clearKeys(t)
		c := open()
		const args, external = `{"thought":"a","thought_number":1,"total_thoughts":5,"next_thought_needed":true,"session_id":"s"`, "sequential_thinking_external"
		c.refused("sequential_thinking", `{"thought":"a","total_thoughts":5,"next_thought_needed":true}`,
			-32602, "Invalid params", "Missing required field: thought_number")
		c.refused("sequential_thinking", `null`, -32602, "Invalid params", "Missing arguments for sequential_thinking")
		c.refused(external, args+`,"model":"gpt-4o"}`, -32603, "Internal error", "OpenAI API key not configured")
		c.refused(external, args+`,"model":"anthropic/claude"}`, -32603, "Internal error", "OpenRouter API key not configured")
		c.refused(external, args+`}`, -32603, "Internal error", "Failed to generate thought with LLM: no model is configured; "+
			"pass model, or set the API key of a provider or SEQUENT_MODEL for the server")
		if r := c.external(args + `,"use_llm":"False"}`); r.Length != 1 {
			t.Errorf("caller's own thought: got %+v", r)
		}
	})
}

// A failed call records nothing and can be repeated. The server retries temporary
// failures only. A call with guidance needs one key and nothing else.
func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, open func(...string) *client, store string) {
		clearKeys(t)
		models := llmtest.Serve(t,
			llmtest.Reply{Status: 500, Body: `{"error":{"message":"no luck with ` + key + `"}}`}, llmtest.Reply{Status: 503},
			llmtest.Reply{Status: 401, Body: `{"error":{"message":"wrong key ` + key + `"}}`},
			llmtest.Reply{Turn: llmtest.Turn{Text: `{"thought":"It`, Stop: llm.StopLength}},
			llmtest.Reply{Status: 429, Header: http.Header{"Retry-After": {"1"}}}, thought("At last.", "0.5"))
		t.Setenv("ZAI_BASE_URL", models.URL)
		t.Setenv("ZAI_API_KEY", key)
		c := open("--model-tries", "2")
		const args = `{"thought":"Focus on Redis","thought_number":2,"total_thoughts":5,"next_thought_needed":true,"session_id":"s"}`
		const failed = "Failed to generate thought with LLM: "
		for i, want := range []string{
			"Z.ai failed with status 503 (status 503); try again later",
			"Z.ai rejected the API key; check ZAI_API_KEY",
			"the model's answer was truncated at its maximum length; ask for a shorter one, or choose another model",
		} {
			c.refused("sequential_thinking_external", args, -32603, "Internal error", failed+want)
			if n := len(models.Requests()); n != i+2 {
				t.Fatalf("after failure %d: got %d requests to the model, want %d", i, n, i+2)
			}
		}
		start := time.Now()
		if r := c.external(args); r.Content != "At last." || r.Model != "glm-4.7" || r.Length != 1 {
			t.Errorf("repeated call: got %+v", r)
		}
		if took := time.Since(start); took < time.Second {
			t.Errorf("took %v, want at least the second of Retry-After", took)
		}
	})
}

package models

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
)

const key = "sk-proj-verysecret0123456789"

// fake starts the npm package @copilotkit/aimock with the answers of fixtures.json
// and returns its URL. It accepts only requests with the key.
func fake(t *testing.T) string {
	t.Helper()
	cli := filepath.Join("node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(cli); err != nil {
		needtest.Missing(t, "the npm packages of e2e/models are not installed", "run make npm")
	}
	cmd := exec.Command(programtest.Node(t, "../node_modules"), cli, "-p", "0", "-f", "fixtures.json", "--journal-max", "100")
	cmd.Env = append(os.Environ(), "AIMOCK_API_KEYS="+key)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	ended := make(chan struct{})
	var log strings.Builder
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			log.WriteString(lines.Text() + "\n")
			if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
				ready <- url
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait() // it was killed
	})
	select {
	case url := <-ready:
		return url
	case <-ended:
		t.Fatalf("the fake exited before it was ready:\n%s", log.String())
		return ""
	}
}

// A path is the path of a provider's protocol on the fake.
type path struct{ model, variable, base string }

var paths = map[string]path{
	"OpenAI":     {"gpt-4o", "OPENAI", "/v1"},
	"OpenRouter": {"openai/gpt-4o", "OPENROUTER", "/api/v1"},
	"Z.ai":       {"glm-4.7", "ZAI", "/api/paas/v4"},
	"Ollama":     {"ollama:llama3.2", "OLLAMA", "/v1"},
}

func connect(t *testing.T, p path, url, key string, timeout time.Duration) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Config{Model: p.model, Timeout: timeout, MaxAttempts: 2, Getenv: func(name string) string {
		return map[string]string{p.variable + "_BASE_URL": url + p.base, p.variable + "_API_KEY": key}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "Be brief."}, {Role: llm.User, Text: text}}, Temperature: new(0.7)}
}

// answer reads a stream to its end, and checks that the pieces are the answer.
func answer(ctx context.Context, c *openai.Client, r llm.Request) (res llm.Response, err error) {
	text := ""
	for e, err := range c.Stream(ctx, r) {
		switch {
		case err != nil:
			return res, err
		case e.Retry != nil:
			text = ""
		case e.Response != nil:
			res = *e.Response
			if text != res.Message.Text {
				return res, &llm.Error{Code: "test", Msg: "the pieces add up to " + text}
			}
		}
		text += e.Text
	}
	return res, nil
}

func TestProviders(t *testing.T) {
	t.Parallel()
	for name, p := range paths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := fake(t)
			c := connect(t, p, url, key, 30*time.Second)
			res, err := answer(t.Context(), c, ask("Why do orders time out?"))
			if err != nil {
				t.Fatal(err)
			}
			if m := res.Message; m.Text != "The pool is empty at noon." || m.Reasoning != "The database is idle." || res.Stop != llm.StopEnd {
				t.Errorf("got %+v, stop %s", m, res.Stop)
			}
			// Z.ai reports the usage of a stream without a request for it; the fake does not.
			if want := (llm.Usage{Input: 21, Output: 7}); res.Usage != want && name != "Z.ai" {
				t.Errorf("got usage %+v, want %+v", res.Usage, want)
			}

			r := ask("Look into the file.")
			r.Tools = []llm.Tool{{Name: "read_file", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}}
			if res, err = answer(t.Context(), c, r); err != nil {
				t.Fatal(err)
			}
			calls := res.Message.Calls
			if len(calls) != 2 || calls[0] != (llm.Call{ID: "call_a", Name: "read_file", Args: `{"path":"pool.go"}`}) ||
				calls[1].Args != `{"path":"main.go"}` || res.Stop != llm.StopCalls || res.Message.Text != "Let me see." {
				t.Fatalf("got %+v, stop %s", res.Message, res.Stop)
			}
			r.Messages = append(r.Messages, res.Message)
			for _, call := range calls {
				r.Messages = append(r.Messages, llm.Message{Role: llm.Result, CallID: call.ID, Text: "max = 10"})
			}
			if res, err = answer(t.Context(), c, r); err != nil || res.Message.Text != "Ten connections." {
				t.Errorf("after the results: got %+v, %v", res.Message, err)
			}
			if res, err = answer(t.Context(), c, ask("too long")); err != nil || res.Stop != llm.StopLength || res.Message.Text != "There was no room for" {
				t.Errorf("truncated answer: got %+v, %v", res, err)
			}
		})
	}
}

// What the fake breaks off or delays is retried, at the time that it asks for.
func TestFailures(t *testing.T) {
	t.Parallel()
	url := fake(t)
	for _, tt := range []struct {
		ask, text string // a part of the answer or of the error
		timeout   time.Duration
		code      llm.Code // empty: success
	}{
		{"busy", "Now I have time.", 30 * time.Second, ""},
		{"cut", "This one is whole.", 30 * time.Second, ""},
		{"drip", "did not answer within", 1500 * time.Millisecond, llm.CodeTimeout},
		{"forbidden", "a content filter of OpenAI", 30 * time.Second, llm.CodeDeclined},
	} {
		t.Run(tt.ask, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			res, err := answer(t.Context(), connect(t, paths["OpenAI"], url, key, tt.timeout), ask(tt.ask))
			text := res.Message.Text
			if err != nil {
				text = err.Error()
			}
			if llm.CodeOf(err) != tt.code || !strings.Contains(text, tt.text) {
				t.Errorf("got %q and code %q, want %q and %q", text, llm.CodeOf(err), tt.text, tt.code)
			}
			if tt.ask == "busy" && time.Since(start) < time.Second {
				t.Errorf("retried after %v, want at least the second of Retry-After", time.Since(start))
			}
		})
	}
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	url := fake(t)
	for name, p := range paths {
		_, err := answer(t.Context(), connect(t, p, url, "sk-wrong-verysecret", 30*time.Second), ask("Why do orders time out?"))
		if llm.CodeOf(err) != llm.CodeBadKey || !strings.Contains(err.Error(), p.variable+"_API_KEY") || strings.Contains(err.Error(), "verysecret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStructured(t *testing.T) {
	t.Parallel()
	schema := llm.Schema{Name: "verdict", JSON: json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"},` +
		`"confidence":{"type":"number","minimum":0,"maximum":1}},"required":["answer","confidence"],"additionalProperties":false}`)}
	url := fake(t)
	for name, p := range paths {
		r := ask("How sure are you?")
		r.Schema = &schema
		got, err := answer(t.Context(), connect(t, p, url, key, 30*time.Second), r)
		if err != nil || !strings.Contains(got.Message.Text, "The pool.") || !strings.Contains(got.Message.Text, "0.8") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	url := fake(t)
	e, err := openai.NewEmbedder(openai.Config{Getenv: func(name string) string {
		return map[string]string{openai.EmbeddingsURL: url + "/v1", openai.EmbeddingsModel: "text-embedding-3-small", openai.EmbeddingsKey: key}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Embed(t.Context(), []string{"the pool", "and the pool"})
	if err != nil || len(got) != 2 || len(got[0]) != 3 || got[1][2] != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

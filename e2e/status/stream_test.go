package status

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

// long is a thought that arrives in about 200 pieces.
var long = strings.Repeat("A step of reasoning, ", 49) + "and the end."

// streamed calls the second tool with a progress token. It returns the pieces of the
// thought as soon as they have at least size bytes.
func (c *client) streamed(args string, size int) (text string, res *mcp.CallToolResult, err error) {
	c.Helper()
	p := &mcp.CallToolParams{Name: "sequential_thinking_external", Arguments: rawJSON(args)}
	p.SetProgressToken("writing")
	res, err = c.session.CallTool(c.Context(), p)
	for wait := time.After(testTimeout); len(text) < size; { // the SDK delivers notifications beside the reply
		select {
		case m := <-c.progress:
			if !strings.HasPrefix(m, "waiting for ") {
				text += m
			}
		case <-wait:
			c.Fatalf("only %q came", text)
		}
	}
	return text, res, err
}

type rawJSON string

// MarshalJSON returns the text.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// The text of a thought reaches the client while a model writes it. An answer that breaks
// off is not requested again, records nothing, and can be repeated.
func TestStream(t *testing.T) {
	each(t, func(t *testing.T, open func(...string) *client, store string) {
		clearKeys(t)
		cut := thought(long, "0.5")
		cut.Cut = true
		models := llmtest.Serve(t, llmtest.Reply{Status: 503}, thought(long, "0.5"), cut, thought("Short.", "0.5"))
		t.Setenv("OPENAI_BASE_URL", models.URL)
		t.Setenv("OPENAI_API_KEY", key)
		c := open("--model", "gpt-4o")
		const args = `{"thought":"p","thought_number":1,"total_thoughts":3,"next_thought_needed":true,"session_id":"s"}`
		text, res, err := c.streamed(args, len(long))
		if err != nil || res.IsError || text != long {
			t.Fatalf("got %d bytes of %d, %v", len(text), len(long), err)
		}
		if n := len(models.Requests()); n != 2 || !models.Requests()[1].Stream {
			t.Fatalf("got %d requests, want 2 for a stream", n)
		}
		text, _, err = c.streamed(args, 1)
		if err == nil || !strings.Contains(err.Error(), "Internal error") || text == "" || !strings.HasPrefix(long, text) {
			t.Fatalf("the answer that breaks off: got %q, %v", text, err)
		}
		if n := len(models.Requests()); n != 3 {
			t.Errorf("got %d requests, want 3", n)
		}
		if r := c.external(args); r.Content != "Short." || r.Length != 2 {
			t.Errorf("the repeated call: got %+v", r)
		}
	})
}

// The client of docs/providers.md prints a thought while a model writes it.
func TestStreamClient(t *testing.T) {
	clearKeys(t)
	const file = "stream.mjs"
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(strings.ReplaceAll(string(code), "\r\n", "\n"), "\n")
	if !strings.Contains(strings.ReplaceAll(string(page), "\r\n", "\n"), "```js\n"+shown+"```\n") {
		t.Errorf("docs/providers.md does not have the code of %s", file)
	}
	if _, err := os.Stat("../node_modules/@modelcontextprotocol/client"); err != nil {
		needtest.Missing(t, "the npm packages of e2e are not installed", "run make npm")
	}
	models := llmtest.Serve(t, thought(long, "0.5"))
	t.Setenv("OPENAI_BASE_URL", models.URL)
	t.Setenv("SEQUENT_MODEL", "gpt-4o")
	t.Setenv("SEQUENT_STORE", filepath.Join(t.TempDir(), "sequent.db"))
	t.Setenv("PATH", filepath.Dir(programtest.Build(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if out := programtest.Output(t, exec.Command(programtest.Node(t, "../node_modules"), file, "Why do orders fail at noon?")); string(out) != long {
		t.Errorf("the client printed %q, want %q", out, long)
	}
}

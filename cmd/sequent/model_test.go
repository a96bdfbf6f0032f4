package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

// secretKey is the key in stories with a model. It must not show anywhere.
const secretKey = "sk-proj-verysecret0123456789"

// A scriptedReply is a line of the script of a model.
type scriptedReply struct {
	Text, Reasoning string
	Calls           []struct {
		Name string
		Args json.RawMessage // an object, or a string with whatever the model writes
	}
	Status int
	Body   string
	Cut    bool
	Stop   llm.Stop
	Want   string // a part of the request
	Hold   bool   // until the client has gone
}

func (r scriptedReply) reply() llmtest.Reply {
	out := llmtest.Reply{Turn: llmtest.Turn{Text: r.Text, Reasoning: r.Reasoning, Stop: r.Stop}, Status: r.Status, Body: r.Body, Cut: r.Cut}
	if r.Hold {
		out.Hold = func(r *http.Request) { <-r.Context().Done() }
	}
	for _, c := range r.Calls {
		args := string(c.Args)
		var text string
		if json.Unmarshal(c.Args, &text) == nil {
			args = text
		}
		out.Calls = append(out.Calls, llm.Call{Name: c.Name, Args: args})
	}
	return out
}

// modelKey finds the model of a story, which is a **llmtest.Server.
type modelKey struct{}

// startModel starts a model that follows the script in a file, a JSON object a
// line, and points every provider there.
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	var script []scriptedReply
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var r scriptedReply
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			ts.Fatalf("%s: %v in %s", args[0], err, line)
		}
		script = append(script, r)
	}
	s := &llmtest.Server{Answer: func(n int, q llmtest.Request) llmtest.Reply {
		if n > len(script) {
			return llmtest.Reply{Status: 400, Body: `{"error":{"message":"the script is at its end"}}`}
		}
		if r := script[n-1]; strings.Contains(string(q.Body), r.Want) {
			return r.reply()
		}
		ts.Logf("request %d has no %q: %s", n, script[n-1].Want, q.Body)
		return llmtest.Reply{Status: 400, Body: `{"error":{"message":"the request is not what the script wants"}}`}
	}}
	web := httptest.NewServer(s)
	ts.Defer(func() {
		web.CloseClientConnections()
		web.Close()
	})
	*ts.Value(modelKey{}).(**llmtest.Server) = s
	for _, p := range []string{"OPENAI", "OPENROUTER", "ZAI", "OLLAMA"} {
		ts.Setenv(p+"_BASE_URL", web.URL+"/v1")
		ts.Setenv(p+"_API_KEY", secretKey)
	}
}

// asked checks how often the model was asked, and that what the last command wrote
// has no key in it.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: asked N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := len((*ts.Value(modelKey{}).(**llmtest.Server)).Requests()); got != want {
		ts.Fatalf("the model was asked %d times, want %d", got, want)
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(stream), "verysecret") {
			ts.Fatalf("the key is in %s", stream)
		}
	}
}

// waitAsked waits until the model has been asked so often.
func waitAsked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitasked N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := *ts.Value(modelKey{}).(**llmtest.Server)
	for begun := time.Now(); len(s.Requests()) < want; time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			ts.Fatalf("the model was asked %d times, want %d", len(s.Requests()), want)
		}
	}
}

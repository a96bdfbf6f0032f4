package command

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

// secretKey is the API key in scripts with a model. No output may contain it.
const secretKey = "sk-proj-verysecret0123456789"

// A scriptedReply is a line of the script of a model.
type scriptedReply struct {
	Text, Reasoning string
	Calls           []struct {
		Name string
		Args json.RawMessage // an object, or a string with any text
	}
	Status int
	Body   string
	Cut    bool
	Stop   llm.Stop
	Want   string // required part of the request
	Stall  bool   // send half of a stream, then nothing until the client closes the connection
	Hold   bool   // do not answer until the client closes the connection
}

func (r scriptedReply) reply() llmtest.Reply {
	out := llmtest.Reply{Turn: llmtest.Turn{Text: r.Text, Reasoning: r.Reasoning, Stop: r.Stop}, Status: r.Status, Body: r.Body, Cut: r.Cut, Stall: r.Stall}
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

// modelKey is the key of a script's model, a **llmtest.Server.
type modelKey struct{}

// startModel implements the script command model. The file has one JSON object per
// line.
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
			return llmtest.Reply{Status: 400, Body: `{"error":{"message":"the script has no more replies"}}`}
		}
		if r := script[n-1]; strings.Contains(string(q.Body), r.Want) {
			return r.reply()
		}
		ts.Logf("request %d lacks %q: %s", n, script[n-1].Want, q.Body)
		return llmtest.Reply{Status: 400, Body: `{"error":{"message":"unexpected request"}}`}
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

// asked implements the script command asked.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: asked N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := len((*ts.Value(modelKey{}).(**llmtest.Server)).Requests()); got != want {
		ts.Fatalf("got %d requests to the model, want %d", got, want)
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(stream), "verysecret") {
			ts.Fatalf("%s contains the key", stream)
		}
	}
}

// waitAsked implements the script command waitasked.
func waitAsked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitasked N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := *ts.Value(modelKey{}).(**llmtest.Server)
	for start := time.Now(); len(s.Requests()) < want; time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			ts.Fatalf("timeout: got %d requests to the model, want %d", len(s.Requests()), want)
		}
	}
}

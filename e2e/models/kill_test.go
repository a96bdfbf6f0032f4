package models

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

// A planner is a model whose answer depends on the phase and the step of a request,
// and not on the number of requests, so that a repeated request gets the same answer.
type planner struct {
	server *llmtest.Server

	mu    sync.Mutex
	asked []string      // phase and step of each request, such as "research 2"
	hold  string        // phase and step at which it does not answer
	held  chan struct{} // closed at a request for hold
	turns map[string]llmtest.Turn
}

func thought(number int, text string) llm.Call {
	return llm.Call{Name: "sequentialthinking", Args: fmt.Sprintf(`{"thought":%q,"thoughtNumber":%d,"totalThoughts":9,"nextThoughtNeeded":true}`, text, number)}
}

func newPlanner(t *testing.T) *planner {
	note := func(text string) llm.Call { // a writing tool of an MCP server
		return llm.Call{Name: "sequentialthinking_2", Args: fmt.Sprintf(`{"thought":%q,"nextThoughtNeeded":false}`, text)}
	}
	p := &planner{held: make(chan struct{}), turns: map[string]llmtest.Turn{
		"analyze_code 1": {Text: "Ten connections, 32 workers."},
		"research 1":     {Calls: []llm.Call{thought(2, "What holds one?"), thought(3, "The worker.")}},
		"research 2":     {Calls: []llm.Call{note("Looked at the worker."), {Name: "recall_thinking", Args: "{}"}, thought(4, "It calls out.")}},
		"research 3":     {Text: "The check holds the connection."},
		"design 1":       {Calls: []llm.Call{thought(6, "Move the check.")}},
		"design 2":       {Calls: []llm.Call{note("Decided.")}},
		"design 3":       {Text: "1. Move the check."},
	}}
	p.server = llmtest.ServeFunc(t, p.answer)
	return p
}

func (p *planner) answer(_ int, r llmtest.Request) llmtest.Reply {
	phase, step := "", 1
	for _, m := range r.Messages {
		if _, rest, ok := strings.Cut(m.Content, "This is the phase "); ok && phase == "" {
			phase, _, _ = strings.Cut(rest, ".")
		}
		if m.Role == "assistant" {
			step++
		}
	}
	at := fmt.Sprintf("%s %d", phase, step)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, at)
	turn, ok := p.turns[at]
	if !ok {
		return llmtest.Reply{Status: 400}
	}
	reply := llmtest.Reply{Turn: turn}
	reply.Calls = slices.Clone(turn.Calls)
	for i := range reply.Calls {
		reply.Calls[i].ID = fmt.Sprintf("%s.%d", strings.ReplaceAll(at, " ", "."), i)
	}
	if at == p.hold {
		held := p.held
		reply.Hold = func(r *http.Request) {
			close(held)
			<-r.Context().Done()
		}
	}
	return reply
}

func (p *planner) holdAt(at string) (held chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold, p.held = at, make(chan struct{})
	return p.held
}

func (p *planner) questions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// A scenario is one plan in its own store.
type scenario struct {
	program string
	dir     string
	model   *planner
}

func newScenario(t *testing.T, program string) *scenario {
	return &scenario{program: program, dir: t.TempDir(), model: newPlanner(t)}
}

// command returns a command of the program with the model and a writing tool.
func (s *scenario) command(args ...string) *exec.Cmd {
	other := filepath.Join(s.dir, "other.db")
	cmd := exec.Command(s.program, append(args, "--json", "--model", "gpt-4o", "--store", filepath.Join(s.dir, "store.db"),
		"--mcp", fmt.Sprintf(`'%s' serve --store '%s'`, s.program, other))...)
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+s.model.server.URL, "OPENAI_API_KEY="+key)
	return cmd
}

// An event is a line of JSON output.
type event struct {
	Event, State string
	Step         int
}

// run runs a command to its end, or kills it when held is closed. It returns its events.
func (s *scenario) run(t *testing.T, cmd *exec.Cmd, held <-chan struct{}) (events []event) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	killed := make(chan bool)
	go func() {
		select {
		case <-held:
			_ = cmd.Process.Kill() // the model holds its request
			killed <- true
		case <-ended:
			killed <- false
		}
	}()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("%v in %s", err, lines.Text())
		}
		events = append(events, e)
	}
	close(ended)
	if err := cmd.Wait(); (err != nil) != <-killed {
		t.Fatalf("got %v after %v\n%s", err, events, stderr.String())
	}
	return events
}

// log returns the thoughts of the plan and the number of sessions that the writing
// tool created.
func (s *scenario) log(t *testing.T, id string) (thoughts []string, notes int) {
	t.Helper()
	var doc archive.Export
	raw := programtest.Output(t, exec.Command(s.program, "export", id, "--format", "json", "--store", filepath.Join(s.dir, "store.db")))
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.State != "completed" || doc.Conclusion != "1. Move the check." {
		t.Errorf("got state %s and conclusion %q", doc.State, doc.Conclusion)
	}
	for _, th := range doc.Thoughts {
		thoughts = append(thoughts, fmt.Sprintf("%d %s", th.Number, th.Text))
	}
	list := programtest.Output(t, exec.Command(s.program, "list", "--json", "--store", filepath.Join(s.dir, "other.db")))
	return thoughts, strings.Count(string(list), `"id":`)
}

var wantThoughts = []string{
	"1 Ten connections, 32 workers.", "2 What holds one?", "3 The worker.", "4 It calls out.",
	"5 The check holds the connection.", "6 Move the check.",
}

// A plan that is killed during any request can be resumed by another process. No answered
// request is repeated, no thought is recorded twice and no tool writes twice.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	program := programtest.Build(t)
	for _, at := range []string{"", "analyze_code 1", "research 1", "research 2", "research 3", "design 1", "design 2", "design 3"} {
		s := newScenario(t, program)
		events := s.run(t, s.command("plan", "Move the fraud check."), s.model.holdAt(at))
		before := s.model.questions()
		id := s.only(t)
		if at != "" {
			s.model.holdAt("")
			s.run(t, s.command("plan", "resume", id), nil)
		}
		after := s.model.questions()[len(before):]
		for _, e := range events {
			if asked := fmt.Sprintf("%s %d", e.State, e.Step); e.Event == "answer" && slices.Contains(after, asked) {
				t.Errorf("killed at %q: request %s was answered and is repeated", at, asked)
			}
		}
		if thoughts, notes := s.log(t, id); !slices.Equal(thoughts, wantThoughts) || notes != 2 {
			t.Errorf("killed at %q: got %d notes and thoughts\n%s", at, notes, strings.Join(thoughts, "\n"))
		}
	}
}

// only returns the id of the only session.
func (s *scenario) only(t *testing.T) string {
	t.Helper()
	var list struct{ Sessions []struct{ ID string } }
	raw := programtest.Output(t, exec.Command(s.program, "list", "--json", "--store", filepath.Join(s.dir, "store.db")))
	if err := json.Unmarshal(raw, &list); err != nil || len(list.Sessions) != 1 {
		t.Fatalf("%v: list %s", err, raw)
	}
	return list.Sessions[0].ID
}

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
	"sync/atomic"
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
	Event, Session, State, From string
	Step                        int
}

func (e event) String() string {
	if e.Event == "move" {
		return "move from " + e.From
	}
	return fmt.Sprintf("%s %s %d", e.Event, e.State, e.Step)
}

// run runs a command to its end, or kills it when stop returns true for an event or
// held is closed. It returns the events until then.
func (s *scenario) run(t *testing.T, cmd *exec.Cmd, stop func(event) bool, held <-chan struct{}) (events []event) {
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
	var killed atomic.Bool
	kill := func() {
		if !killed.Swap(true) {
			_ = cmd.Process.Kill() // fails if it has ended
		}
	}
	ended := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-held:
			kill()
		case <-ended:
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("%v in %s", err, lines.Text())
		}
		if !killed.Load() || held != nil {
			events = append(events, e)
		}
		if stop != nil && stop(e) {
			kill()
		}
	}
	close(ended)
	waiting.Wait()
	if err := cmd.Wait(); (err != nil) != killed.Load() {
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

// resume resumes a plan and checks that nothing acknowledged is done again.
func (s *scenario) resume(t *testing.T, events []event) {
	t.Helper()
	before := s.model.questions()
	s.run(t, s.command("plan", "resume", events[0].Session), nil, nil)
	after := s.model.questions()[len(before):]
	for _, e := range events {
		if at := fmt.Sprintf("%s %d", e.State, e.Step); e.Event == "answer" && slices.Contains(after, at) {
			t.Errorf("killed after %v: request %s was answered and is repeated", events[len(events)-1], at)
		}
	}
	thoughts, notes := s.log(t, events[0].Session)
	if !slices.Equal(thoughts, wantThoughts) {
		t.Errorf("killed after %v: got thoughts\n%s", events[len(events)-1], strings.Join(thoughts, "\n"))
	}
	if notes > 2 {
		t.Errorf("killed after %v: got %d notes, want at most 2", events[len(events)-1], notes)
	}
}

// A plan that is killed at any point can be resumed by another process. No answered
// request is repeated, no thought is recorded twice and no tool writes twice.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	program := programtest.Build(t)
	whole := newScenario(t, program)
	events := whole.run(t, whole.command("plan", "Move the fraud check."), nil, nil)
	thoughts, notes := whole.log(t, events[0].Session)
	if !slices.Equal(thoughts, wantThoughts) || notes != 2 || len(whole.model.questions()) != 7 {
		t.Fatalf("without a kill: got %d notes, requests %v and thoughts\n%s", notes, whole.model.questions(), strings.Join(thoughts, "\n"))
	}
	t.Run("concurrently", func(t *testing.T) { resumeConcurrently(t, program) })
	t.Run("after each event", func(t *testing.T) {
		t.Parallel()
		for n := range len(events) - 1 {
			s := newScenario(t, program)
			left := n + 1
			seen := s.run(t, s.command("plan", "Move the fraud check."), func(event) bool { left--; return left == 0 }, nil)
			s.resume(t, seen)
		}
	})
	t.Run("during each request", func(t *testing.T) {
		t.Parallel()
		for _, at := range whole.model.questions() {
			s := newScenario(t, program)
			seen := s.run(t, s.command("plan", "Move the fraud check."), nil, s.model.holdAt(at))
			s.model.holdAt("")
			if len(seen) == 0 { // killed before the first event, which has the id
				seen = []event{{Session: s.only(t)}}
			}
			s.resume(t, seen)
		}
	})
}

// If several processes resume a plan concurrently, one completes it, the others
// fail with plan_taken, and the log is the same as that of one process.
func resumeConcurrently(t *testing.T, program string) {
	t.Parallel()
	s := newScenario(t, program)
	seen := s.run(t, s.command("plan", "Move the fraud check."), func(e event) bool { return e.Event == "move" }, nil)
	const processes = 4
	var working sync.WaitGroup
	var done, taken atomic.Int32
	for range processes {
		working.Go(func() {
			cmd := s.command("plan", "resume", seen[0].Session)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			switch err := cmd.Run(); {
			case err == nil:
				done.Add(1)
			case strings.Contains(stderr.String(), `"plan_taken"`):
				taken.Add(1)
			default:
				t.Errorf("%v\n%s", err, stderr.String())
			}
		})
	}
	working.Wait()
	// A process that starts late finds the plan complete and succeeds.
	if done.Load() < 1 || done.Load()+taken.Load() != processes {
		t.Errorf("%d processes succeeded and %d failed with plan_taken", done.Load(), taken.Load())
	}
	if thoughts, _ := s.log(t, seen[0].Session); !slices.Equal(thoughts, wantThoughts) {
		t.Errorf("got thoughts\n%s", strings.Join(thoughts, "\n"))
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

package panel

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/tool"
)

// Run runs a session's panel to its end and yields its events. An error ends it without
// the last event: ctx is done, the store failed, all perspectives failed, or there is no
// synthesis. In all cases Run can be called again; it begins again only what failed.
func (p *Panel) Run(ctx context.Context, id sequent.ID) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &run{Config: p.cfg, id: id, runner: rand.Text(), events: make(chan Event), stop: cancel}
		failed := make(chan error, 1)
		go func() {
			failed <- r.run(ctx)
			close(r.events)
		}()
		stopped := false
		for e := range r.events {
			if !stopped && !yield(e, nil) {
				stopped = true
				cancel()
			}
		}
		if err := <-failed; err != nil && !stopped {
			yield(Event{Usage: r.st.Usage}, err)
		}
	}
}

type run struct {
	Config
	id     sequent.ID
	runner string
	events chan Event
	stop   func()

	mu sync.Mutex // guards st, and is held during a commit
	st State
}

func (r *run) emit(e Event) {
	r.mu.Lock()
	e.Usage = r.st.Usage
	r.mu.Unlock()
	r.events <- e
}

func (r *run) run(ctx context.Context) error {
	s, err := r.Engine.Session(ctx, r.id)
	if err != nil {
		return err
	}
	st, ok := StateOf(s)
	if !ok {
		return &Error{CodeNoPanel, fmt.Sprintf("session %s has no panel", r.id), "pass the id of a session of sequent think --panel"}
	}
	r.st = st
	if st.Synthesis != nil {
		r.emit(Event{Done: st.Synthesis})
		return nil
	}
	views := r.perspectives()
	err = r.commit(ctx, true, func(st *State, _ *sequent.Change) error {
		st.Runner = r.runner
		for i := range st.Views {
			if v := &st.Views[i]; v.State == Failed {
				v.State, v.Why = Working, ""
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, len(views))
	meter := &metered{Model: r.Model, r: r}
	for i := range views {
		if r.view(i).State == Working {
			wg.Go(func() {
				if errs[i] = r.work(ctx, i, views[i], meter); errs[i] != nil {
					r.stop()
				}
			})
		}
	}
	wg.Wait()
	for _, err := range errs { // the first cause, not what it cancelled
		if err != nil && !errors.Is(err, context.Canceled) && llm.CodeOf(err) != llm.CodeCanceled {
			return err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.synthesise(ctx)
}

// perspectives returns the perspectives of the session in its order, with the tools and
// times of the configuration.
func (r *run) perspectives() (views []Perspective) {
	for _, v := range r.st.Views {
		p := Perspective{Name: v.Name, Instructions: v.Instructions}
		if i := slices.IndexFunc(r.Perspectives, func(q Perspective) bool { return q.Name == v.Name }); i >= 0 {
			p.Tools, p.Timeout = r.Perspectives[i].Tools, r.Perspectives[i].Timeout
		}
		if p.Timeout == 0 {
			p.Timeout = r.Timeout
		}
		views = append(views, p)
	}
	return views
}

// commit changes the stored state and the session in one commit, unless another process
// has taken the panel over. Take takes it over.
func (r *run) commit(ctx context.Context, take bool, change func(st *State, c *sequent.Change) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var next State
	_, err := r.Engine.Update(ctx, r.id, func(c *sequent.Change) error {
		st, ok := StateOf(c.Session())
		if !ok || !take && st.Runner != r.runner {
			return taken(r.id)
		}
		if err := change(&st, c); err != nil {
			return err
		}
		next = st
		return st.put(c)
	})
	if err == nil {
		r.st = next
	}
	return err
}

// errBudget ends a perspective that would exceed a budget.
var errBudget = errors.New("panel: a budget is used up")

// A metered model refuses requests beyond the budgets.
type metered struct {
	llm.Model
	r *run

	mu      sync.Mutex
	running int
}

// Stream implements [llm.Model].
func (m *metered) Stream(ctx context.Context, q llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if !m.enter() {
			yield(llm.Event{}, errBudget)
			return
		}
		defer m.leave()
		for e, err := range m.Model.Stream(ctx, q) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// enter counts a request, unless it exceeds a budget.
func (m *metered) enter() bool {
	m.r.mu.Lock()
	calls, tokens := m.r.st.Calls, m.r.st.Usage.Total()
	m.r.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.r.CallBudget; b > 0 && calls+m.running >= b-synthesisCalls {
		return false
	}
	if b := m.r.TokenBudget; b > 0 && tokens >= b-b/5 {
		return false
	}
	m.running++
	return true
}

func (m *metered) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
}

// system is the system message of every perspective.
const system = "You look at a problem from one perspective, while others look at it from theirs. Record what you find with the tool " +
	"record_thought, one thought a call, two to five in all. When you are done, answer in plain text with what your perspective " +
	"comes to, in a few sentences."

var recordSpec = tool.Spec{
	Name: "record_thought", Description: "Record a thought of your perspective.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"thought":{"type":"string","minLength":1,"description":"One thought, in a few sentences"}},"required":["thought"]}`),
}

type recordArgs struct {
	Thought string `json:"thought"`
}

// work runs a perspective. It returns an error only if the whole panel ends with it.
func (r *run) work(ctx context.Context, i int, p Perspective, model llm.Model) error {
	if err := r.answerInterrupted(ctx, i); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	record := tool.New(recordSpec, func(ctx context.Context, _ tool.Call, in recordArgs) (tool.Reply, error) {
		call, _ := agent.CallOf(ctx)
		t, err := r.record(ctx, i, in.Thought, func(v *View, t sequent.Thought) {
			v.Answered(call.ID, recorded(t), "")
		})
		if sequent.CodeOf(err) == sequent.CodeLimitExceeded || sequent.CodeOf(err) == sequent.CodeInvalidThought {
			return tool.Reply{Text: err.Error(), Failed: true}, nil
		}
		return tool.Reply{Text: recorded(t)}, err
	}, func(err *tool.ArgumentError) (tool.Reply, error) {
		return tool.Reply{Text: err.Error(), Failed: true}, nil
	})
	st, view := r.state(), r.view(i)
	if text, done := view.Finished(); done {
		return r.end(ctx, i, text, nil)
	}
	prompt := []llm.Message{
		{Role: llm.System, Text: system + "\n\nYour perspective is " + p.Name + ". " + p.Instructions},
		{Role: llm.User, Text: "The problem:\n\n" + st.Problem},
	}
	text, err := "", error(nil)
	for e, failed := range agent.Run(limited, agent.Config{
		Model: model, Tools: append([]tool.Tool{record}, p.Tools...), Temperature: r.Temperature,
		Messages: append(prompt, view.Messages...), MaxSteps: r.Steps, FirstStep: view.Steps + 1, Used: view.Usage,
	}) {
		if err = failed; err == nil {
			err = r.store(ctx, i, e)
		}
		if err != nil {
			break
		}
		switch {
		case e.Retry != nil, e.Calling != nil && e.Calling.Call.Name != record.Name:
			r.emit(Event{Perspective: p.Name, Retry: e.Retry, Calling: e.Calling})
		case e.Done != nil:
			text = e.Done.Text
		}
	}
	if err != nil && ours(ctx, err) {
		return err
	}
	if err != nil && limited.Err() != nil {
		err = fmt.Errorf("it took longer than %v", p.Timeout)
	}
	return r.end(ctx, i, text, err)
}

func recorded(t sequent.Thought) string { return fmt.Sprintf("Recorded as %s#%d.", t.Branch, t.Number) }

func (r *run) state() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.st
}

func (r *run) view(i int) View {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.st.Views[i]
	v.Messages = slices.Clone(v.Messages)
	return v
}

// record appends a thought to the branch of a perspective, and changes its state with it.
func (r *run) record(ctx context.Context, i int, text string, change func(*View, sequent.Thought)) (t sequent.Thought, err error) {
	err = r.commit(ctx, false, func(st *State, c *sequent.Change) error {
		v := &st.Views[i]
		d := sequent.Draft{Text: text, Branch: v.Name, More: true}
		if _, exists := c.Session().End(v.Name); exists {
			d.Number = c.Session().NextNumber(v.Name)
		} else {
			d.Number, d.From = 2, sequent.To(1)
		}
		d.Total = d.Number
		if t, err = c.Append(d); err != nil {
			return err
		}
		change(v, t)
		return nil
	})
	if err == nil {
		r.emit(Event{Perspective: t.Branch, Thought: t})
	}
	return t, err
}

// store stores an event of a perspective.
func (r *run) store(ctx context.Context, i int, e agent.Event) error {
	switch {
	case e.Answer != nil:
		return r.commit(ctx, false, func(st *State, _ *sequent.Change) error {
			v := &st.Views[i]
			m := e.Answer.Message
			m.Reasoning = ""
			v.Messages, v.Begun, v.Steps = append(v.Messages, m), nil, e.Step
			v.Usage, st.Usage, st.Calls = v.Usage.Plus(e.Answer.Usage), st.Usage.Plus(e.Answer.Usage), st.Calls+1
			return nil
		})
	case e.Calling != nil && !e.Calling.Repeatable && e.Calling.Call.Name != recordSpec.Name:
		return r.commit(ctx, false, func(st *State, _ *sequent.Change) error {
			st.Views[i].Begin(e.Calling.Call.ID)
			return nil
		})
	case e.Called != nil:
		return r.commit(ctx, false, func(st *State, _ *sequent.Change) error {
			st.Views[i].Answered(e.Called.Call.ID, e.Called.Text, e.Called.Refusal)
			return nil
		})
	}
	return nil
}

// answerInterrupted answers calls that began before a crash.
func (r *run) answerInterrupted(ctx context.Context, i int) error {
	v := r.view(i)
	if v.Interrupted() == nil {
		return nil
	}
	return r.commit(ctx, false, func(st *State, _ *sequent.Change) error {
		st.Views[i].AnswerInterrupted()
		return nil
	})
}

// end records the answer of a perspective as its last thought, and how it ended.
func (r *run) end(ctx context.Context, i int, text string, failed error) error {
	s, err := r.Engine.Session(ctx, r.id)
	if err != nil {
		return err
	}
	name := r.view(i).Name
	text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""))
	_, has := s.End(name)
	settle := func(v *View, _ sequent.Thought) {
		v.State, v.Messages, v.Begun = Ended, nil, nil
		switch {
		case errors.Is(failed, errBudget):
			v.State, v.Why = Cut, "the budget is used up"
		case failed != nil:
			v.State, v.Why = Cut, failed.Error()
		case text == "":
			v.State, v.Why = Cut, "it gave no answer"
		}
		if v.State == Cut && !has {
			v.State = Failed
		}
	}
	if text != "" && failed == nil {
		if limit := r.Engine.Limits().Text; limit > 0 && len(text) > limit {
			text = strings.ToValidUTF8(text[:limit], "")
		}
		_, err = r.record(ctx, i, text, settle)
	} else {
		err = r.commit(ctx, false, func(st *State, _ *sequent.Change) error {
			settle(&st.Views[i], sequent.Thought{})
			return nil
		})
	}
	if err == nil {
		v := r.view(i)
		r.emit(Event{Perspective: name, Ended: &v})
	}
	return err
}

package status

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// defaultTemperature is the temperature of calls without one.
const defaultTemperature = 0.7

// maxModelName limits the name of a model, in characters.
const maxModelName = 200

// heartbeat is the interval of progress reports while a model writes.
const heartbeat = time.Second

// Labels of a thought that a model wrote. The note of the thought is the prompt.
const (
	labelModel      = name + ".model"
	labelConfidence = name + ".confidence"
)

// externalArgs are the arguments of sequential_thinking_external.
type externalArgs struct {
	step
	modelArgs
}

// modelArgs say which model writes a thought, and how.
type modelArgs struct {
	Model       string   `json:"model,omitzero"`
	Temperature *float64 `json:"temperature"`
	UseLLM      *bool    `json:"use_llm"`
}

// An externalReply has the members of the contract, in its order.
type externalReply struct {
	Number     int        `json:"thought_number"`
	Total      int        `json:"total_thoughts"`
	Next       bool       `json:"next_thought_needed"`
	Content    string     `json:"thought_content"`
	Branches   []string   `json:"branches"`
	Length     int        `json:"thought_history_length"`
	Status     string     `json:"status"`
	Session    sequent.ID `json:"session_id,omitzero"`
	Model      string     `json:"model_used,omitzero"`
	Confidence *float64   `json:"confidence,omitempty"`
	Hint       string     `json:"reasoning_hint,omitzero"`
}

// check refuses arguments that the schema allows.
func (in externalArgs) check() error {
	if n := utf8.RuneCountInString(in.Model); n > maxModelName {
		return &tool.ArgumentError{
			Field: "model", Value: fmt.Sprintf("%d characters long", n), Want: fmt.Sprintf("at most %d", maxModelName),
		}
	}
	return in.step.check()
}

// asks reports whether a model writes the thought.
func (in externalArgs) asks() bool { return in.UseLLM == nil || *in.UseLLM }

// external answers sequential_thinking_external.
func (d *server) external(ctx context.Context, c tool.Call, in externalArgs) (tool.Reply, error) {
	if err := in.check(); err != nil {
		return tool.Reply{}, err
	}
	begun := func() {}
	if in.asks() {
		stop := sync.OnceFunc(beat(c.Progress, in.Model)) // also while the call waits for others
		defer stop()
		begun = stop
	}
	turn, err := d.enter(ctx, c.Caller, in.id())
	if err != nil {
		return tool.Reply{}, err
	}
	defer turn.Leave()
	draft, reply, err := d.produce(ctx, c, in, turn, begun)
	if err != nil {
		return tool.Reply{}, err
	}
	s, err := turn.Record(ctx, d.newID, func(c *sequent.Change) error { return add(c, draft) })
	if err != nil {
		return tool.Reply{}, err
	}
	reply.Branches, reply.Length = s.Branches(), s.Len()
	r := tool.JSONReply(reply)
	r.Beside = brief.Beside(s)
	return r, nil
}

// produce returns the thought of a step, from a model if the step asks for one, and the
// reply for when it is recorded. It calls begun before the first piece of the thought, if
// the thought comes in pieces.
func (d *server) produce(ctx context.Context, c tool.Call, in externalArgs, turn *dialect.Turn, begun func()) (sequent.Draft, externalReply, error) {
	st, draft := in.step, in.draft()
	reply := externalReply{
		Number: st.Number, Total: st.total(), Next: st.Next, Content: st.Thought,
		Session: in.id(), Status: st.status("thinking"), Hint: st.hint(),
	}
	if !in.asks() {
		return draft, reply, nil
	}
	// Refuse before the model call, which costs money.
	s, err := d.try(ctx, turn, draft)
	if err != nil {
		return draft, reply, err
	}
	p := Prompt{
		Model: in.Model, Temperature: defaultTemperature,
		System: system, User: st.user(s), Schema: []byte(form),
	}
	if in.Temperature != nil {
		p.Temperature = *in.Temperature
	}
	id := in.id()
	if s.Version() > 0 {
		id = s.ID()
	}
	w := d.write(c, st, id, begun)
	if w != nil {
		defer w.end()
		p.Piece = w.piece
	}
	answer, err := d.model.Write(ctx, p)
	switch {
	case err != nil && ctx.Err() != nil:
		return draft, reply, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: ctx.Err()}
	case err != nil:
		return draft, reply, err
	}
	thought, confidence, err := answer.read(d.engine.Limits().Text)
	if err != nil {
		return draft, reply, err
	}
	if w != nil {
		w.done(thought)
	}
	reply.Model, reply.Content, reply.Confidence = answer.Model, thought, confidence
	draft.Text, draft.Note = thought, st.Thought
	draft.Labels = map[string]string{labelModel: answer.Model}
	if confidence != nil {
		draft.Labels[labelConfidence] = strconv.FormatFloat(*confidence, 'g', -1, 64)
	}
	return draft, reply, nil
}

// errTried ends a change that only tests whether it is valid.
var errTried = errors.New("status: the change is only tried")

// try returns the session of a turn without changing it, empty if there is none, or the
// error with which a thought would be refused.
func (d *server) try(ctx context.Context, turn *dialect.Turn, draft sequent.Draft) (s *sequent.Session, err error) {
	_, err = turn.Record(ctx, d.newID, func(c *sequent.Change) error {
		s = c.Session()
		if err := add(c, draft); err != nil {
			return err
		}
		return errTried
	})
	if errors.Is(err, errTried) {
		err = nil
	}
	return s, err
}

// beat reports progress until stop is called.
func beat(report func(message string, done, total float64), model string) (stop func()) {
	if report == nil {
		return func() {}
	}
	if model == "" {
		model = "the model"
	}
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for n := 0; ; n++ {
			report("waiting for "+model, float64(n), 0)
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	})
	return func() {
		close(end)
		wg.Wait()
	}
}

// hint returns a suggestion for the next step.
func (st step) hint() string {
	switch {
	case !st.Next:
		return ""
	case st.revises():
		return "Check what rested on the step that was corrected, and go on from the correction."
	case st.branches():
		return "Follow this way far enough to compare it with the others."
	case 2*st.Number < st.total():
		return "Explore further: facts, constraints, other ways."
	case st.Number < st.total():
		return "Begin to draw the steps together into an answer."
	}
	return "Conclude, or raise total_thoughts if something is still open."
}

package status

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/tool"
)

// defaultSession is the id that calls without a session id mean: the session of their
// scope.
const defaultSession = "default"

// A batchStep is a step of a batch: a step without a session of its own.
type batchStep struct {
	Thought  string `json:"thought"`
	Number   int    `json:"thought_number"`
	Total    int    `json:"total_thoughts"`
	Next     bool   `json:"next_thought_needed"`
	Revision *bool  `json:"is_revision"`
	Revises  int    `json:"revises_thought,omitzero"`
	From     int    `json:"branch_from_thought,omitzero"`
	Branch   string `json:"branch_id,omitzero"`
	More     bool   `json:"needs_more_thoughts,omitzero"`
}

// in returns the step as one of a session.
func (b batchStep) in(session string) step { return step{b, session} }

// A step has the arguments of sequential_thinking, which both tools have. A number that
// is absent is 0, and 0 refers to no thought.
type step struct {
	batchStep
	Session string `json:"session_id,omitzero"`
}

// check refuses negative references, which the schema allows.
func (st step) check() error {
	for _, f := range []struct {
		name  string
		value int
	}{{"revises_thought", st.Revises}, {"branch_from_thought", st.From}} {
		if f.value < 0 {
			return &tool.ArgumentError{Field: f.name, Value: strconv.Itoa(f.value), Want: "a whole number of at least 1"}
		}
	}
	return nil
}

// revises reports whether the step is a revision. A call that gives revises_thought but
// not is_revision is one.
func (st step) revises() bool {
	if st.Revision != nil {
		return *st.Revision
	}
	return st.Revises > 0
}

// branches reports whether the step is on a branch or begins one.
func (st step) branches() bool { return st.Branch != "" || st.From > 0 }

// total returns the estimate, which is at least the number.
func (st step) total() int { return max(st.Total, st.Number) }

// status returns the status word of the step, or plain for an ordinary step.
func (st step) status(plain string) string {
	switch {
	case !st.Next:
		return "complete"
	case st.revises():
		return "revision"
	case st.branches():
		return "branch"
	}
	return plain
}

// id returns the session id of the call; empty means the session of the scope.
func (st step) id() sequent.ID {
	if st.Session == defaultSession {
		return ""
	}
	return sequent.ID(st.Session)
}

func (st step) draft() sequent.Draft {
	d := sequent.Draft{
		Number: st.Number, Total: st.total(), Text: st.Thought, Branch: st.Branch,
		Revision: st.revises(), Final: !st.Next, Extend: st.More,
	}
	if d.Revision && st.Revises > 0 {
		d.Revises = sequent.To(st.Revises)
	}
	if st.From > 0 {
		d.From = sequent.To(st.From)
	}
	return d
}

// lane returns the lane of a call, which is its session. Arguments without a session id
// are refused later, or mean the session of the scope.
func lane(c tool.Call) string {
	args := c.Args
	var text string
	if json.Unmarshal(args, &text) == nil { // some models write the object into a string
		args = json.RawMessage(text)
	}
	var in struct {
		Session string `json:"session_id"`
	}
	if json.Unmarshal(args, &in) != nil || in.Session == "" {
		return defaultSession
	}
	return in.Session
}

// A plainReply has the members of the contract, in its order.
type plainReply struct {
	Number   int        `json:"thought_number"`
	Total    int        `json:"total_thoughts"`
	Next     bool       `json:"next_thought_needed"`
	Branches []string   `json:"branches"`
	Length   int        `json:"thought_history_length"`
	Session  sequent.ID `json:"session_id,omitzero"`
	Status   string     `json:"status"`
}

// think answers sequential_thinking.
func (d *server) think(ctx context.Context, c tool.Call, st step) (tool.Reply, error) {
	if err := st.check(); err != nil {
		return tool.Reply{}, err
	}
	turn, err := d.enter(ctx, c.Caller, st.id())
	if err != nil {
		return tool.Reply{}, err
	}
	defer turn.Leave()
	s, err := turn.Record(ctx, d.newID, func(c *sequent.Change) error { return add(c, st.draft()) })
	if err != nil {
		return tool.Reply{}, err
	}
	r := tool.JSONReply(plainReply{
		Number: st.Number, Total: st.total(), Next: st.Next,
		Branches: s.Branches(), Length: s.Len(), Session: st.id(), Status: st.status("recorded"),
	})
	r.Beside = brief.Beside(s)
	return r, nil
}

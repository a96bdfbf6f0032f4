package status

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/scope"
	"github.com/sequent-dev/sequent/tool"
)

// defaultSession is the session of calls that name none. It is the caller's own:
// see package implicit.
const defaultSession = "default"

// plainArgs are the arguments of sequential_thinking.
type plainArgs struct {
	Thought  string `json:"thought"`
	Number   int    `json:"thought_number"`
	Total    int    `json:"total_thoughts"`
	Next     bool   `json:"next_thought_needed"`
	Revision *bool  `json:"is_revision"`
	Revises  int    `json:"revises_thought,omitzero"`
	From     int    `json:"branch_from_thought,omitzero"`
	Branch   string `json:"branch_id,omitzero"`
	More     bool   `json:"needs_more_thoughts,omitzero"`
	Session  string `json:"session_id,omitzero"`
}

// A step is what a call of either tool says. A number that is not given is 0,
// and one that is given as 0 names nothing.
type step struct{ plainArgs }

// check refuses what the schema lets pass and the contract does not: references
// are counts.
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

// revises reports whether the step corrects another. Who names the other and does
// not say is_revision means it.
func (st step) revises() bool {
	if st.Revision != nil {
		return *st.Revision
	}
	return st.Revises > 0
}

// branches reports whether the step is on a branch, or leaves for one.
func (st step) branches() bool { return st.Branch != "" || st.From > 0 }

// total is the estimate, which is not lower than the number.
func (st step) total() int { return max(st.Total, st.Number) }

// status is the word for the step, or else if it is nothing special.
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

// id returns the session that the step names; empty means the default one.
func (st step) id() sequent.ID {
	if st.Session == defaultSession {
		return ""
	}
	return sequent.ID(st.Session)
}

func (st step) draft() sequent.Draft {
	d := sequent.Draft{
		Number: st.Number, Total: st.total(), Text: st.Thought, Branch: st.Branch,
		Revision: st.revises(), More: st.Next, Extend: st.More,
	}
	if d.Revision && st.Revises > 0 {
		d.Revises = sequent.To(st.Revises)
	}
	if st.From > 0 {
		d.From = sequent.To(st.From)
	}
	return d
}

// enter has the call wait for those before it that mean the same session.
func (d *server) enter(ctx context.Context, c tool.Call, st step) (leave func(), err error) {
	key := lineKey{owner: c.Caller.Owner, id: st.id()}
	if key.id == "" {
		if key.scope = c.Caller.Scope.Name; key.scope == "" {
			return nil, scope.ErrRequired
		}
	}
	return d.lines.enter(ctx, key)
}

// lane names the lane of a call by the session that it means. Arguments that name
// none are refused, or mean the default one.
func lane(c tool.Call) string {
	args := c.Args
	var text string
	if json.Unmarshal(args, &text) == nil { // models write the object into a string, too
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

// A plainReply has the members of the contract in their order.
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
func (d *server) think(ctx context.Context, c tool.Call, in plainArgs) (tool.Reply, error) {
	st := step{in}
	if err := st.check(); err != nil {
		return tool.Reply{}, err
	}
	leave, err := d.enter(ctx, c, st)
	if err != nil {
		return tool.Reply{}, err
	}
	defer leave()
	s, err := d.record(ctx, c.Caller, st.id(), st.draft())
	if err != nil {
		return tool.Reply{}, err
	}
	return tool.JSONReply(plainReply{
		Number: st.Number, Total: st.total(), Next: st.Next,
		Branches: s.Branches(), Length: s.Len(), Session: st.id(), Status: st.status("recorded"),
	}), nil
}

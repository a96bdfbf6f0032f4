package status

import (
	"context"
	"errors"
	"strconv"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/tool"
)

// batchArgs are the arguments of sequential_thinking_batch.
type batchArgs struct {
	Steps   []batchStep `json:"steps"`
	Session string      `json:"session_id,omitzero"`
}

// atStep returns the error of a step with the step in its words.
func atStep(i int, err error) error {
	at := "steps[" + strconv.Itoa(i) + "]"
	if e, ok := errors.AsType[*tool.ArgumentError](err); ok {
		named := *e
		named.Field = at + "." + e.Field
		return &named
	}
	if said, ok := table.Refusal(err); ok {
		named := *said.Cause
		named.Msg = at + ": " + said.Message
		return &named
	}
	return err
}

// batch answers sequential_thinking_batch: all steps are recorded in one commit, or none.
func (d *server) batch(ctx context.Context, c tool.Call, in batchArgs) (tool.Reply, error) {
	id := step{Session: in.Session}.id()
	for i, b := range in.Steps {
		if err := b.in(in.Session).check(); err != nil {
			return tool.Reply{}, atStep(i, err)
		}
	}
	turn, err := d.enter(ctx, c.Caller, id)
	if err != nil {
		return tool.Reply{}, err
	}
	defer turn.Leave()
	replies := make([]plainReply, len(in.Steps))
	s, err := turn.Record(ctx, d.newID, func(c *sequent.Change) error {
		for i, b := range in.Steps {
			st := b.in(in.Session)
			if err := add(c, st.draft()); err != nil {
				return atStep(i, err)
			}
			s := c.Session()
			replies[i] = plainReply{
				Number: st.Number, Total: st.total(), Next: st.Next,
				Branches: s.Branches(), Length: s.Len(), Session: id, Status: st.status("recorded"),
			}
		}
		return nil
	})
	if err != nil {
		return tool.Reply{}, err
	}
	r := tool.JSONReply(struct {
		Steps []plainReply `json:"steps"`
	}{replies})
	r.Beside = brief.Beside(s)
	return r, nil
}

package wiki

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// thinkArgs are the arguments of sequential_thinking.
type thinkArgs struct {
	learnArgs
	Response   string `json:"response,omitzero"`
	Next       bool   `json:"nextThoughtNeeded,omitzero" alias:"next_thought_needed"`
	Number     *int   `json:"thoughtNumber" alias:"thought_number"`
	Total      *int   `json:"totalThoughts" alias:"total_thoughts"`
	Session    string `json:"sessionId,omitzero" alias:"session_id"`
	Cancel     bool   `json:"cancel,omitzero"`
	Thoughts   string `json:"thoughts,omitzero"`
	Revision   bool   `json:"isRevision,omitzero" alias:"is_revision"`
	Revises    *int   `json:"revisesThought" alias:"revises_thought"`
	From       *int   `json:"branchFromThought" alias:"branch_from_thought"`
	Branch     string `json:"branchId,omitzero" alias:"branch_id"`
	More       bool   `json:"needsMoreThoughts,omitzero" alias:"needs_more_thoughts"`
	Analysis   string `json:"analysisType,omitzero" alias:"analysis_type"`
	Parent     string `json:"parentWorkflowId,omitzero" alias:"parent_workflow_id"`
	Conclusion string `json:"conclusion,omitzero"`
}

// A step is one call. Everything that is slow is computed before the session is
// changed, because a change function must not wait.
type step struct {
	thinkArgs
	agent     string
	limits    sequent.Limits
	linked    bool   // response has a WikiLink
	ambient   bool   // thoughts has a WikiLink
	concluded bool   // conclusion has a WikiLink
	lacks     []part // of the conclusion
}

const cancelled = "cancelled"

// think answers sequential_thinking.
func (d *server) think(ctx context.Context, c tool.Call, in thinkArgs) (tool.Reply, error) {
	st := &step{thinkArgs: in, agent: d.author(ctx), limits: d.engine.Limits()}
	if !in.Cancel {
		st.linked, st.ambient, st.concluded = d.links(in.Response), d.links(in.Thoughts), d.links(in.Conclusion)
	}
	if err := st.check(); err != nil {
		if r, ok := errors.AsType[*refusal](err); ok && in.Response == "" && len(c.Unknown) > 0 {
			err = &refusal{r.Code, fmt.Sprintf("%s (unknown fields: %s)", r.Message, strings.Join(c.Unknown, ", "))}
		}
		return refuse(err)
	}
	if !in.Next && !in.Cancel && !d.tooLong(in.Conclusion) {
		st.lacks = missing(in.Conclusion)
	}
	v, opening := d.open(ctx, c.Caller.Owner)
	s, err := d.record(ctx, c.Caller, v, opening, st)
	if err != nil {
		return refuse(err)
	}
	a := st.answer(s)
	a.unknown(c.Unknown)
	// The thought is recorded; its note is written even if the caller cancels.
	ctx = context.WithoutCancel(ctx)
	d.project(ctx, v, opening, s, st, a)
	if opening == nil {
		d.remind(ctx, v, s, a)
	}
	r := a.reply()
	r.Beside = brief.Beside(s)
	return r, nil
}

// links reports whether a text has a WikiLink. It does not parse a text that is too
// long, which is refused for its length.
func (d *server) links(text string) bool {
	return text != "" && (d.tooLong(text) || wikilink.HasConcept([]byte(text)))
}

func (d *server) tooLong(text string) bool {
	limit := d.engine.Limits().Text
	return limit > 0 && len(text) > limit
}

// check refuses calls that are wrong in any session.
func (st *step) check() error {
	switch {
	case !st.Cancel && (!st.linked || st.Thoughts != "" && !st.ambient):
		return st.errLinks()
	case st.Session != "" && !thinking.ValidID(sequent.ID(st.Session)):
		return &errInvalidID
	}
	return nil
}

// checkNew refuses calls that cannot begin a session.
func (st *step) checkNew() error {
	switch {
	case st.number(0) > 0:
		return &errSessionMissing
	case st.From != nil && st.Branch == "":
		return &errBranchID
	case st.Cancel || st.branches() || st.revises():
		return &errSessionMissing
	}
	return nil
}

// checkEnd refuses to complete a session without a conclusion.
func (st *step) checkEnd() error {
	switch {
	case st.Next, st.Cancel:
	case st.Conclusion == "":
		return &errConclusion
	case !st.concluded:
		return &errConclusionLinks
	}
	if limit := st.limits.Text; limit > 0 && len(st.Conclusion) > limit {
		return tooLong("conclusion", len(st.Conclusion), limit)
	}
	return nil
}

// apply appends the step to an existing session.
func (st *step) apply(c *sequent.Change) error {
	s := c.Session()
	switch {
	case st.number(0) == 0 && !st.Cancel && !st.branches() && !st.revises():
		return errExists(s)
	case st.From != nil && st.Branch == "":
		return &errBranchID
	case st.Parent != "":
		return &errInvalidParent
	}
	if err := st.checkEnd(); err != nil {
		return err
	}
	if s.State() == sequent.Cancelled || s.State() == sequent.Completed && !(st.More && !st.Cancel) {
		return errClosed(s)
	}
	return st.append(c)
}

func (st *step) branches() bool { return st.Branch != "" || st.From != nil }
func (st *step) revises() bool  { return st.Revision || st.Revises != nil }

// number returns the thought's number, or a default if the call gives none.
func (st *step) number(otherwise int) int {
	if st.Number == nil {
		return otherwise
	}
	return *st.Number
}

// append records the thought and the new state of the session.
func (st *step) append(c *sequent.Change) error {
	d := sequent.Draft{
		Number: st.number(0), Text: st.Response, Note: st.Thoughts,
		Branch: st.Branch, Revision: st.revises(), More: st.Next && !st.Cancel, Extend: st.More,
		Labels: map[string]string{thinking.LabelAgent: st.agent},
	}
	// Without a number, a call after others gets the next one.
	s := c.Session()
	if d.Number == 0 && s.Len() > 0 && (st.Cancel || st.Number == nil) {
		d.Number = st.next(s)
	}
	if last, ok := s.Last(); ok {
		d.Total = last.Total
	}
	if st.Total != nil {
		d.Total = *st.Total
	}
	if st.Revises != nil {
		d.Revises = sequent.To(*st.Revises)
	}
	if st.From != nil {
		d.From = sequent.To(*st.From)
	}
	conclusion, lacks := "", ""
	if !d.More {
		conclusion, lacks = st.Conclusion, keys(st.lacks)
	}
	if conclusion != "" {
		d.Labels[thinking.LabelConclusion] = conclusion
	}
	if _, err := c.Append(d); err != nil {
		return err
	}
	if st.Analysis != "" {
		c.SetLabel(thinking.LabelAnalysisType, st.Analysis)
	}
	if lacks != s.Label(thinking.LabelMissing) {
		c.SetLabel(thinking.LabelMissing, lacks)
	}
	if conclusion != s.Conclusion() {
		c.Conclude(conclusion)
	}
	if st.Cancel {
		c.SetState(sequent.Cancelled)
		c.SetLabel(thinking.LabelStatus, cancelled)
	}
	return nil
}

// next returns the next number on the step's branch.
func (st *step) next(s *sequent.Session) int {
	if _, begun := s.End(st.Branch); begun {
		return s.NextNumber(st.Branch)
	}
	if st.From != nil {
		if origin, ok := s.FindOrigin(*st.From); ok {
			return s.NumberAfter(origin.Seq)
		}
	}
	return s.NumberAfter(s.Len())
}

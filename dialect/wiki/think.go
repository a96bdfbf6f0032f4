package wiki

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/vaults"
	"github.com/sequent-dev/sequent/vault/wikilink"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// thinkArgs are the arguments of sequential_thinking.
type thinkArgs struct {
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

// A step is one call.
type step struct {
	thinkArgs
	agent string
	limit int      // bytes of a text
	lacks []string // of the conclusion
}

// think answers sequential_thinking.
func think(ctx context.Context, t *turn, in thinkArgs) error {
	st := &step{thinkArgs: in, agent: t.agent(), limit: t.engine.Limits().Text}
	if err := st.check(); err != nil {
		return err
	}
	var s *sequent.Session
	var err error
	if st.Session != "" {
		s, err = t.update(ctx, sequent.ID(st.Session), st.apply)
	} else {
		s, err = t.begin(ctx, st)
	}
	if err != nil {
		return err
	}
	// The thought is recorded; its note is written even if the caller cancels.
	note, problem := t.project(context.WithoutCancel(ctx), s, st)
	t.answer(s, st, note)
	if problem != "" {
		t.linef("⚠️ %s", problem)
	}
	t.beside = brief.Beside(s)
	return nil
}

// linked reports whether a text has a WikiLink.
func linked(text string) bool { return wikilink.HasConcept([]byte(text)) }

// check refuses calls that are wrong in any session.
func (st *step) check() error {
	const fix = "; put its concepts in double brackets, as in [[rate limiting]], and repeat the call (links in code do not count)"
	switch {
	case st.Cancel:
	case st.Response == "":
		return &refusal{codeWikiLink, "response is missing; write this step of your thinking into response, with at least one [[WikiLink]]"}
	case !linked(st.Response):
		return &refusal{codeWikiLink, "response has no [[WikiLink]]" + fix}
	case st.Thoughts != "" && !linked(st.Thoughts):
		return &refusal{codeWikiLink, "thoughts has no [[WikiLink]]" + fix + ", or leave thoughts out"}
	}
	if st.Session != "" && !thinking.ValidID(sequent.ID(st.Session)) {
		return &errInvalidID
	}
	return nil
}

// checkEnd refuses to complete a session without a conclusion, and looks for what that lacks.
func (st *step) checkEnd() error {
	switch {
	case st.Next, st.Cancel:
	case st.Conclusion == "":
		return &errConclusion
	case !linked(st.Conclusion):
		return &errConclusionLinks
	}
	if st.limit > 0 && len(st.Conclusion) > st.limit {
		return sequent.Errorf(sequent.CodeLimitExceeded, "conclusion", "shorten it",
			"conclusion has %d bytes, the limit is %d", len(st.Conclusion), st.limit)
	}
	if !st.Next && !st.Cancel {
		st.lacks = missing(st.Conclusion)
	}
	return nil
}

// begin records the step in a new session.
func (t *turn) begin(ctx context.Context, st *step) (*sequent.Session, error) {
	switch {
	case st.number(0) > 0:
		return nil, &errSessionMissing
	case st.From != nil && st.Branch == "":
		return nil, &errBranchID
	case st.Cancel || st.branches() || st.revises():
		return nil, &errSessionMissing
	}
	if st.Parent != "" {
		if err := t.parentOpen(ctx, st.Parent); err != nil {
			return nil, err
		}
	}
	if err := st.checkEnd(); err != nil {
		return nil, err
	}
	if err := t.vault.Notes.Room(ctx); err != nil {
		return nil, err
	}
	return dialect.Begin(ctx, t.engine, t.mint, func(c *sequent.Change) error {
		c.BeginIn("", thinking.Dialect)
		c.SetLabel(thinking.LabelVault, t.vault.Sessions.ID())
		if st.Parent != "" {
			c.SetLabel(thinking.LabelParent, st.Parent)
		}
		return st.append(c)
	})
}

// parentOpen refuses a parent that does not exist or is closed.
func (t *turn) parentOpen(ctx context.Context, id string) error {
	status, err := t.vault.Workflows.Status(ctx, id)
	switch {
	case sequent.CodeOf(err) == workflow.CodeNotFound:
		return &refusal{codeParentNotFound, fmt.Sprintf("there is no workflow %.60q; start one with the tool workflow and pass its id, or leave parentWorkflowId out", id)}
	case workflow.Closed(status):
		return &refusal{codeParentClosed, fmt.Sprintf("the workflow %s is closed; start another with the tool workflow, or leave parentWorkflowId out", id)}
	}
	return err
}

// update changes a session. One that exists only as a note is stored first, unless it
// would refuse the change.
func (t *turn) update(ctx context.Context, id sequent.ID, change func(*sequent.Change) error) (*sequent.Session, error) {
	s, err := t.engine.Update(ctx, id, change)
	if !errors.Is(err, sequent.ErrNotFound) {
		return s, err
	}
	h, log, err := t.vault.Sessions.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	trial := sequent.New(sequent.Config{Now: t.engine.Now, Limits: t.engine.Limits()})
	if _, err = trial.Restore(ctx, h, log); err == nil {
		_, err = trial.Update(ctx, id, change)
	}
	if err == nil {
		_, err = t.engine.Restore(ctx, h, log)
	}
	if err != nil {
		return nil, err
	}
	return t.engine.Update(ctx, id, change)
}

// apply appends the step to an existing session.
func (st *step) apply(c *sequent.Change) error {
	s := c.Session()
	switch {
	case st.number(0) == 0 && !st.Cancel && !st.branches() && !st.revises():
		return &refusal{codeExists, fmt.Sprintf("the session %s has already begun; pass thoughtNumber %d to continue it, "+
			"add branchId or isRevision to branch or revise, or leave sessionId out to begin another", s.ID(), s.NextNumber(""))}
	case st.From != nil && st.Branch == "":
		return &errBranchID
	case st.Parent != "":
		return &errInvalidParent
	}
	if err := st.checkEnd(); err != nil {
		return err
	}
	switch {
	case s.State() == sequent.Cancelled:
		return &refusal{codeClosed, "the session was cancelled; leave sessionId out and begin another with thoughtNumber 0"}
	case s.State() == sequent.Completed && !(st.More && !st.Cancel):
		return &refusal{codeClosed, "the session is completed; set needsMoreThoughts to reopen it, or leave sessionId out and begin another with thoughtNumber 0"}
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
		Branch: st.Branch, Revision: st.revises(), Final: !st.Next || st.Cancel, Extend: st.More,
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
	if d.Final {
		conclusion, lacks = st.Conclusion, strings.Join(st.lacks, ", ")
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
	}
	return nil
}

// next returns the next number on the step's branch.
func (st *step) next(s *sequent.Session) int {
	switch _, begun := s.End(st.Branch); {
	case begun:
		return s.NextNumber(st.Branch)
	case st.From != nil:
		return *st.From + 1
	}
	return s.NumberAfter(s.Len())
}

// project writes a session that has got a thought into its note, and a new one into that of
// its parent. A failure is told in the reply and does not undo the thought.
func (t *turn) project(ctx context.Context, s *sequent.Session, st *step) (note vault.URI, problem string) {
	said := "the thought is recorded, but its note was not written (%s); sync makes up for it"
	note, err := t.vault.Sessions.Write(ctx, s)
	if err != nil {
		note = ""
	} else if st.Session == "" && st.Parent != "" {
		said = "the thought is recorded, but its workflow has no link to it (%s)"
		err = t.vault.Workflows.Link(ctx, st.Parent, string(s.ID()))
	}
	if err != nil {
		t.Vaults.Logger().WarnContext(ctx, "a thought is recorded, and a note of it was not written", "session", string(s.ID()), "error", err)
		problem = fmt.Sprintf(said, vaults.Reason(err))
	}
	return note, problem
}

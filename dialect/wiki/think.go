package wiki

import (
	"context"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/tool"
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

// A step is one call on its way into a session. What it asks of collaborators
// is asked before, for a change of a session waits for nothing.
type step struct {
	thinkArgs
	agent     string
	limits    sequent.Limits
	linked    bool   // the response holds a WikiLink
	ambient   bool   // so do the thoughts beside it
	concluded bool   // so does the conclusion
	lacks     []part // of the conclusion
}

// The keys of labels. A session's file is written by them.
const (
	labelAgent      = "agent"        // of a thought: who thought it
	labelConclusion = "conclusion"   // of a thought: what was concluded with it
	labelAnalysis   = "analysisType" // of a session
	labelParent     = "parent"       // of a session: the id of a workflow
	labelStatus     = "status"       // of a session: cancelled, or nothing
	labelMissing    = "missing"      // of a session: the parts that its conclusion lacks
	labelVault      = "vault"        // of a session: the id of the vault that has its file
)

const cancelled = "cancelled"

// think answers sequential_thinking.
func (d *server) think(ctx context.Context, c tool.Call, in thinkArgs) (tool.Reply, error) {
	st := &step{thinkArgs: in, agent: d.agent, limits: d.engine.Limits()}
	if !in.Cancel {
		st.linked, st.ambient, st.concluded = d.links(in.Response), d.links(in.Thoughts), d.links(in.Conclusion)
	}
	if err := st.check(); err != nil {
		return refuse(err)
	}
	if !in.Next && !in.Cancel && !d.tooLong(in.Conclusion) {
		st.lacks = d.book.missing(in.Conclusion)
	}
	v, opening := d.open(ctx, c.Caller.Owner)
	s, err := d.record(ctx, c.Caller, v, opening, st)
	if err != nil {
		return refuse(err)
	}
	a := st.answer(s)
	a.unknown(c.Unknown)
	// The thought is recorded; its file belongs to it, whether the caller waits
	// or not.
	ctx = context.WithoutCancel(ctx)
	d.project(ctx, v, opening, s, st, a)
	return a.reply(), nil
}

// links reports whether a text holds a WikiLink. One that is too long is not looked
// at, but refused for that.
func (d *server) links(text string) bool { return text != "" && (d.tooLong(text) || d.linked(text)) }

func (d *server) tooLong(text string) bool {
	most := d.engine.Limits().Text
	return most > 0 && len(text) > most
}

// validID is what a session may be called: its time in milliseconds, and what
// tells it from others of that time. What fits is a name for a file.
var validID = lazyregexp.New(`^session-[0-9]{1,15}(-[A-Za-z0-9_-]+)?$`)

const longestID = 128

// check refuses what is wrong with the call in itself.
func (st *step) check() error {
	switch {
	case !st.Cancel && (!st.linked || st.Thoughts != "" && !st.ambient):
		return st.errLinks()
	case st.Session != "" && (len(st.Session) > longestID || !validID().MatchString(st.Session)):
		return &errInvalidID
	}
	return nil
}

// checkNew refuses what a new session cannot begin with.
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
	if most := st.limits.Text; most > 0 && len(st.Conclusion) > most {
		return tooLong("conclusion", len(st.Conclusion), most)
	}
	return nil
}

// apply is the change that the step makes to a session that exists.
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

// number returns the thought's number, or another if the call gives none.
func (st *step) number(other int) int {
	if st.Number == nil {
		return other
	}
	return *st.Number
}

// append records the thought and what the session becomes with it.
func (st *step) append(c *sequent.Change) error {
	d := sequent.Draft{
		Number: st.number(0), Text: st.Response, Note: st.Thoughts,
		Branch: st.Branch, Revision: st.revises(), More: st.Next && !st.Cancel, Extend: st.More,
		Labels: map[string]string{labelAgent: st.agent},
	}
	// A call that comes after others and gives no number counts as the next one.
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
		d.Labels[labelConclusion] = conclusion
	}
	if _, err := c.Append(d); err != nil {
		return err
	}
	if st.Analysis != "" {
		c.SetLabel(labelAnalysis, st.Analysis)
	}
	if lacks != s.Label(labelMissing) {
		c.SetLabel(labelMissing, lacks)
	}
	if conclusion != s.Conclusion() {
		c.Conclude(conclusion)
	}
	if st.Cancel {
		c.SetState(sequent.Cancelled)
		c.SetLabel(labelStatus, cancelled)
	}
	return nil
}

// next returns the number that follows on the line of the step.
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

package wiki

import (
	"context"
	"errors"
	"regexp"

	"github.com/sequent-dev/sequent"
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
	if !in.Next && !d.tooLong(in.Conclusion) {
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

// record puts the step into the session that it means.
func (d *server) record(ctx context.Context, caller tool.Caller, v *Vault, opening error, st *step) (*sequent.Session, error) {
	engine := d.engine.Owned(caller.Owner)
	if st.Session == "" {
		if err := st.checkNew(); err != nil {
			return nil, err
		}
		if st.Parent != "" {
			if opening != nil {
				return nil, opening
			}
			if err := parentOpen(ctx, v, st.Parent); err != nil {
				return nil, err
			}
		}
		if err := st.checkEnd(); err != nil {
			return nil, err
		}
		return d.begin(ctx, engine, v, st)
	}
	id := sequent.ID(st.Session)
	s, err := engine.Update(ctx, id, st.apply)
	if !errors.Is(err, sequent.ErrNotFound) {
		return s, err
	}
	if opening != nil {
		return nil, opening
	}
	if err := d.adopt(ctx, engine, v, id, st); err != nil {
		return nil, err
	}
	return engine.Update(ctx, id, st.apply)
}

// begin puts the step into a new session.
func (d *server) begin(ctx context.Context, engine *sequent.Engine, v *Vault, st *step) (*sequent.Session, error) {
	const tries = 5 // one id in 90,000 is taken for each session begun in that millisecond
	for try := 1; ; try++ {
		id, err := d.mint(engine.Now())
		if err != nil {
			return nil, err
		}
		s, err := engine.Begin(ctx, id, func(s *sequent.Session) error {
			s.BeginIn("", name)
			if v != nil && v.ID != "" {
				s.SetLabel(labelVault, v.ID)
			}
			if st.Parent != "" {
				s.SetLabel(labelParent, st.Parent)
			}
			return st.append(s)
		})
		if !errors.Is(err, sequent.ErrExists) || try == tries {
			return s, err
		}
	}
}

// adopt takes a session into the store of which there is only a file. A call
// that the session would refuse leaves the store as it was.
func (d *server) adopt(ctx context.Context, engine *sequent.Engine, v *Vault, id sequent.ID, st *step) error {
	h, log, err := v.Files.Session(ctx, id)
	if err != nil {
		return err
	}
	trial := sequent.New(sequent.Config{Now: engine.Now, Limits: engine.Limits()})
	if _, err := trial.Restore(ctx, h, log); err != nil {
		return err
	}
	if _, err := trial.Update(ctx, id, st.apply); err != nil {
		return err
	}
	_, err = engine.Restore(ctx, h, log)
	if errors.Is(err, sequent.ErrExists) {
		return nil // another call was faster, and the thought goes on from there
	}
	return err
}

// validID is what a session may be called: its time in milliseconds, and what
// tells it from others of that time. What fits is a name for a file.
var validID = regexp.MustCompile(`^session-[0-9]{1,15}(-[A-Za-z0-9_-]+)?$`)

const longestID = 128

// check refuses what is wrong with the call in itself.
func (st *step) check() error {
	switch {
	case !st.Cancel && !st.linked, !st.Cancel && st.Thoughts != "" && !st.ambient:
		return st.errLinks()
	case st.Session != "" && (len(st.Session) > longestID || !validID.MatchString(st.Session)):
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
	case st.Next || st.Cancel:
		return nil
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
func (st *step) apply(s *sequent.Session) error {
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
	if s.State == sequent.Cancelled || s.State == sequent.Completed && !(st.More && !st.Cancel) {
		return errClosed(s)
	}
	return st.append(s)
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
func (st *step) append(s *sequent.Session) error {
	d := sequent.Draft{
		Number: st.number(0), Text: st.Response, Note: st.Thoughts,
		Branch: st.Branch, Revision: st.revises(), More: st.Next && !st.Cancel, Extend: st.More,
		Labels: map[string]string{labelAgent: st.agent},
	}
	// A call that comes after others and gives no number counts as the next one.
	if d.Number == 0 && s.Len > 0 && (st.Cancel || st.Number == nil) {
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
	concludes := !st.Next && !st.Cancel
	lacks := ""
	if concludes {
		d.Labels[labelConclusion] = st.Conclusion
		lacks = keys(st.lacks)
	}
	if _, err := s.Append(d); err != nil {
		return err
	}
	if st.Analysis != "" {
		s.SetLabel(labelAnalysis, st.Analysis)
	}
	if lacks != s.Labels[labelMissing] {
		s.SetLabel(labelMissing, lacks)
	}
	switch {
	case st.Cancel:
		s.SetState(sequent.Cancelled)
		s.SetLabel(labelStatus, cancelled)
	case concludes:
		s.Conclude(st.Conclusion)
	default:
		s.Conclude("")
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
	return s.NumberAfter(s.Len)
}

// parentOpen refuses a workflow that a session cannot be part of.
func parentOpen(ctx context.Context, v *Vault, id string) error {
	open, err := v.Parents.Open(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		return errParentNotFound(id)
	case err != nil:
		return err
	case !open:
		return errParentClosed(id)
	}
	return nil
}

package standard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/scope"
	"github.com/sequent-dev/sequent/tool"
)

// thinkArgs are the arguments of sequentialthinking.
type thinkArgs struct {
	Thought  string   `json:"thought"`
	Next     bool     `json:"nextThoughtNeeded" alias:"next_thought_needed"`
	Number   *int     `json:"thoughtNumber" alias:"thought_number"`
	Total    *int     `json:"totalThoughts" alias:"total_thoughts"`
	Session  string   `json:"sessionId,omitzero" alias:"session_id"`
	Revision bool     `json:"isRevision,omitzero" alias:"is_revision"`
	Revises  *int     `json:"revisesThought" alias:"revises_thought"`
	From     *int     `json:"branchFromThought" alias:"branch_from_thought"`
	Branch   string   `json:"branchId,omitzero" alias:"branch_id"`
	More     bool     `json:"needsMoreThoughts,omitzero" alias:"needs_more_thoughts"`
	Chooses  string   `json:"chooses,omitzero"`
	Rejects  []string `json:"rejects,omitzero"`
	Key      string   `json:"requestKey,omitzero" alias:"request_key"`
}

// A step is one call of sequentialthinking.
type step struct {
	thinkArgs
	unknown []string
	digest  string // hash of the arguments; empty without a request key
	seq     int    // position of the recorded thought
	left    string // the last thought of the session that the step leaves open
}

// think answers sequentialthinking.
func (d *server) think(ctx context.Context, c tool.Call, in thinkArgs) (tool.Reply, error) {
	st := &step{thinkArgs: in, unknown: c.Unknown}
	if st.Key != "" {
		st.digest = st.sum()
	}
	s, err := d.record(ctx, c, st)
	if err != nil {
		return refuse(err)
	}
	if !s.HasTexts(st.seq - 1) { // the step repeats an earlier one
		if s, err = d.engine.Owned(c.Caller.Owner).Session(ctx, s.ID()); err != nil {
			return refuse(err)
		}
	}
	return st.reply(s.Upto(st.seq)), nil
}

// sum returns a hash of the arguments without the session, because the first call of a
// session can be repeated with and without the id.
func (st *step) sum() string {
	args := st.thinkArgs
	args.Session = ""
	said := tool.JSONReply(struct {
		thinkArgs
		Unknown []string `json:"unknown"`
	}{args, st.unknown})
	sum := sha256.Sum256(said.JSON)
	return hex.EncodeToString(sum[:16])
}

// record records the step in its session.
func (d *server) record(ctx context.Context, c tool.Call, st *step) (*sequent.Session, error) {
	engine := d.engine.Owned(c.Caller.Owner).WithoutTexts()
	if st.Session != "" {
		return engine.Update(ctx, sequent.ID(st.Session), st.apply)
	}
	var begun sequent.ID
	newID := func() (id sequent.ID, err error) {
		begun, err = d.scopes.Repeated(ctx, c.Caller, sequent.Request{Key: st.Key, Digest: st.digest})
		if err == nil && begun != "" {
			err = errRepeated
		}
		if err != nil {
			return "", err
		}
		return d.newID()
	}
	turn, err := d.scopes.Enter(c.Caller)
	if errors.Is(err, scope.ErrRequired) {
		if st.refers() || st.Number != nil && *st.Number > 1 {
			return nil, errSessionRequired
		}
		s, err := scope.Begin(ctx, engine, newID, func(c *sequent.Change) error {
			c.BeginIn("", name)
			return st.apply(c)
		})
		if errors.Is(err, errRepeated) {
			return engine.Update(ctx, begun, st.apply)
		}
		return s, err
	}
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	s, err := turn.Record(ctx, newID, st.resume)
	if errors.Is(err, errRepeated) {
		if s, err = engine.Update(ctx, begun, st.apply); err == nil {
			turn.Adopt(begun)
		}
	}
	return s, err
}

// errRepeated means that the step began a session before, and its reply was lost.
var errRepeated = errors.New("the step has begun a session")

var errSessionRequired = &refusal{
	Code: codeSessionRequired, Field: "sessionId",
	Message: "the call goes on with a session, and nothing says with which",
	Fix: "pass sessionId, or begin a session with thoughtNumber 1; to go without an id, use stdio, " +
		"authenticate, or add ?scope=NAME to the endpoint's URL",
}

// refers reports whether the step refers to other thoughts.
func (st *step) refers() bool {
	return st.Revision || st.Revises != nil || st.From != nil || st.Branch != ""
}

// begins reports whether the step begins a session if it does not name one: it refers to
// nothing before it and has no higher number.
func (st *step) begins() bool {
	return !st.refers() && !st.More && (st.Number == nil || *st.Number == 1)
}

// resume is apply for the scope's session, which the call does not name.
func (st *step) resume(c *sequent.Change) error {
	s := c.Session()
	if st.begins() && s.Len() > 0 {
		// Unless this is a repeated call whose reply was lost.
		if t, ok := s.Recorded(st.Key); !ok || t.Request.Digest != st.digest {
			st.left = ""
			if s.State() == sequent.Active {
				st.left = sequent.Reference{Session: s.ID(), Seq: s.Len()}.String()
			}
			return scope.ErrNext
		}
	}
	return st.apply(c)
}

// apply records the step in a change of its session. A step that repeats a recorded one
// changes nothing. The engine refuses its key, so apply looks for the recorded thought
// only after a refusal.
func (st *step) apply(c *sequent.Change) error {
	s := c.Session()
	err := st.append(c, s)
	if err == nil {
		return nil
	}
	t, ok := s.Recorded(st.Key)
	switch {
	case !ok:
		return err
	case t.Request.Digest != st.digest:
		return &sequent.Error{
			Code: sequent.CodeRequestKeyReused, Field: "requestKey",
			Msg: fmt.Sprintf("thought %d was recorded with that requestKey and other arguments", t.Number),
		}
	}
	st.seq = t.Seq
	return nil
}

// labelLeft is the label of a first thought for the last thought of the session that was
// left open. It is recorded so that the reply to a repeated call is the same.
const labelLeft = name + ".left"

// append records the step in a change of s.
func (st *step) append(c *sequent.Change, s *sequent.Session) error {
	d := sequent.Draft{
		Text: st.Thought, Branch: st.Branch,
		Revision: st.Revision || st.Revises != nil,
		More:     st.Next, Extend: st.More,
		Request: sequent.Request{Key: st.Key, Digest: st.digest},
	}
	if st.Revises != nil {
		d.Revises = sequent.To(*st.Revises)
	}
	if st.From != nil {
		d.From = sequent.To(*st.From)
	}
	if st.left != "" && s.Len() == 0 {
		d.Labels = map[string]string{labelLeft: st.left}
	}
	decisions, err := st.decisions(s)
	if err != nil {
		return err
	}
	number, err := st.place(s, &d)
	if err != nil {
		return err
	}
	st.count(s, &d, number)
	t, err := c.Append(d)
	if err != nil {
		return err
	}
	if st.Revises != nil && t.Supersedes == 0 {
		return notOnPath("revisesThought", *st.Revises, c.Session(), d.Branch, t.Seq, "")
	}
	st.seq = t.Seq
	for _, v := range decisions {
		if err := c.Decide(v.Line, v.Verdict); err != nil {
			return err
		}
	}
	return nil
}

// decisions returns the verdicts of the step on lines of s.
func (st *step) decisions(s *sequent.Session) ([]sequent.Decision, error) {
	var all []sequent.Decision
	add := func(field, name string, v sequent.Verdict) error {
		line, err := lineNamed(s, name)
		if r, ok := errors.AsType[*refusal](err); ok {
			r.Field = field
		}
		all = append(all, sequent.Decision{Line: line, Verdict: v})
		return err
	}
	if st.Chooses != "" {
		if err := add("chooses", st.Chooses, sequent.Chosen); err != nil {
			return nil, err
		}
	}
	for _, name := range st.Rejects {
		if name == st.Chooses {
			return nil, &refusal{
				Code: codeInvalidArgument, Field: "rejects",
				Message: fmt.Sprintf("the line %q is chosen and rejected", name), Fix: "leave it out of one of chooses and rejects",
			}
		}
		if err := add("rejects", name, sequent.Rejected); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// place returns the line of the step and the next number on this line.
func (st *step) place(s *sequent.Session, d *sequent.Draft) (number int, err error) {
	if d.Branch == "" && st.From != nil {
		d.Branch = freeBranch(s)
	}
	_, begun := s.End(d.Branch)
	if d.Branch == mainLine && !begun && st.From == nil { // as replies name the main line
		d.Branch = ""
	}
	switch {
	case begun && st.From != nil:
		// Clients of the reference server repeat the origin in each thought.
		if _, ok := s.Find(d.Branch, *st.From); !ok {
			return 0, notOnPath("branchFromThought", *st.From, s, d.Branch, 0,
				"leave it out to go on with that branch, or choose another branchId")
		}
		fallthrough
	case begun || d.Branch == "":
		return s.NextNumber(d.Branch), nil
	case st.From != nil:
		origin, ok := s.FindOrigin(*st.From)
		if !ok {
			return 0, notFound("branchFromThought", *st.From, s)
		}
		return s.NumberAfter(origin.Seq), nil
	default: // it branches off at the end of the current line
		return s.NumberAfter(s.Len()), nil
	}
}

// count sets the number and the total of the step.
func (st *step) count(s *sequent.Session, d *sequent.Draft, number int) {
	d.Number = number
	if st.Number != nil {
		d.Number = *st.Number
	}
	if st.Total != nil {
		d.Total = *st.Total
	} else {
		if last, ok := s.Last(); ok {
			d.Total = last.Total
		}
		if st.More {
			d.Total = max(d.Total, d.Number+1)
		}
	}
	d.Total = max(d.Total, d.Number)
}

// freeBranch returns the first unused name of branch-1, branch-2, …. It takes time for
// all branches, as the reply does.
func freeBranch(s *sequent.Session) string {
	for n := 1; ; n++ {
		label := fmt.Sprintf("branch-%d", n)
		if _, used := s.End(label); !used {
			return label
		}
	}
}

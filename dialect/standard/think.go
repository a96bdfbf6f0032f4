package standard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/findings"
	"github.com/sequent-dev/sequent/internal/printable"
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

// maxNotice limits a notice in bytes: some 60 tokens.
const maxNotice = 240

// A thinkReply is the reply of sequentialthinking: what the caller does not know.
type thinkReply struct {
	Session sequent.ID `json:"sessionId,omitempty"`
	Number  int        `json:"thoughtNumber"`
	Branch  string     `json:"branchId,omitempty"`
	Total   int        `json:"totalThoughts,omitempty"`
	Notice  string     `json:"notice,omitempty"`
	Earlier string     `json:"earlier,omitempty"`
	Notes   []string   `json:"notes,omitempty"` // of people, since the previous thought
}

// A step is one call of sequentialthinking.
type step struct {
	thinkArgs
	request sequent.Request
	seq     int  // position of the recorded thought
	verdict bool // the call has verdicts and no thought
	now     time.Time
	open    *sequent.Header // the unfinished session that the first thought of a session names; nil for none
	earlier string          // the session on the same problem that it names
	commits string          // how many commits there are since then; empty if it is not known
}

// think answers sequentialthinking.
func (d *server) think(ctx context.Context, c tool.Call, in thinkArgs) (tool.Reply, error) {
	st := &step{thinkArgs: in, now: d.engine.Now()}
	if st.Key != "" {
		st.request = sequent.Request{Key: st.Key, Digest: st.digest()}
	}
	s, err := d.record(ctx, c.Caller, st)
	if err != nil {
		return d.refuse(ctx, c.Caller, st.Session, err)
	}
	reply := st.reply(s.Upto(st.seq))
	if st.Session == "" && st.seq == 1 {
		reply.Earlier = d.earlier(ctx, c.Caller.Owner, s)
	}
	return tool.JSONReply(reply), nil
}

// digest returns a hash of the arguments without the session, because the first call of a
// session can be repeated with and without the id.
func (st *step) digest() string {
	args := st.thinkArgs
	args.Session = ""
	sum := sha256.Sum256(tool.JSONReply(args).JSON)
	return hex.EncodeToString(sum[:16])
}

// record records the step in its session.
func (d *server) record(ctx context.Context, caller tool.Caller, st *step) (*sequent.Session, error) {
	if st.Session != "" {
		return d.engine.Owned(caller.Owner).Update(ctx, sequent.ID(st.Session), st.apply)
	}
	turn, err := d.scopes.Enter(ctx, caller)
	if errors.Is(err, dialect.ErrScopeRequired) {
		if st.refers() || st.Number != nil && *st.Number > 1 {
			return nil, errSessionRequired
		}
		turn, err = d.scopes.Alone(caller), nil
	}
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	turn.Request, turn.Begins = st.request, st.begins()
	newID := func() (sequent.ID, error) {
		if left := turn.Left(); left != nil && left.State() == sequent.Active {
			st.open = new(left.Header())
		} else if !turn.Begins {
			st.open = d.unfinished(ctx, caller)
		}
		d.lookBack(ctx, caller, st)
		return d.newID()
	}
	return turn.Record(ctx, newID, st.apply)
}

var errSessionRequired = &refusal{
	Code: codeSessionRequired, Field: "sessionId",
	Message: "the call goes on with a session, and nothing says with which",
	Fix: "pass sessionId, or begin a session with thoughtNumber 1; to go without an id, use stdio, " +
		"authenticate, or add ?scope=NAME to the endpoint's URL",
}

// unfinished returns the session in the caller's project that was left open last, or nil.
func (d *server) unfinished(ctx context.Context, c tool.Caller) *sequent.Header {
	page, err := d.engine.Owned(c.Owner).Sessions(ctx, sequent.Query{Project: c.Scope.Project})
	if err != nil {
		return nil // the thought is worth more than the notice
	}
	for i := range page.Headers {
		if page.Headers[i].State.Unfinished() {
			return &page.Headers[i]
		}
	}
	return nil
}

// named returns the id of a session with what an author knows it by.
func named(h *sequent.Header, now time.Time) string {
	return fmt.Sprintf("%s (%s, %s)", h.ID, thoughts(h.Len), printable.Ago(now.Sub(h.Updated)))
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
	case t.Request != st.request:
		return sequent.Errorf(sequent.CodeRequestKeyReused, "requestKey", "",
			"thought %d was recorded with that requestKey and other arguments", t.Number)
	}
	st.seq = t.Seq
	return nil
}

// append records the step in a change of s.
func (st *step) append(c *sequent.Change, s *sequent.Session) error {
	d := sequent.Draft{
		Text: st.Thought, Branch: st.Branch,
		Revision: st.Revision || st.Revises != nil,
		Final:    !st.Next, Extend: st.More, Request: st.request,
	}
	if st.Revises != nil {
		d.Revises = sequent.To(*st.Revises)
	}
	if st.From != nil {
		d.From = sequent.To(*st.From)
	}
	if s.Len() == 0 {
		d.Labels = st.labels()
	}
	decisions, err := st.decisions(s)
	if err != nil {
		return err
	}
	if strings.TrimSpace(st.Thought) == "" && len(decisions) > 0 && (st.Next || s.State() == sequent.Completed) {
		st.seq, st.verdict = s.Len(), true // it belongs to the last thought
		return decide(c, decisions)
	}
	if d.Number, err = st.place(s, &d); err != nil {
		return err
	}
	st.count(s, &d)
	t, err := c.Append(d)
	if err != nil {
		return err
	}
	if st.Revises != nil && t.Supersedes == 0 {
		path := c.Session().Path(d.Branch)
		return notOnPath("revisesThought", *st.Revises, d.Branch, path[:len(path)-1], "name one of these")
	}
	st.seq = t.Seq
	return decide(c, decisions)
}

func decide(c *sequent.Change, decisions []sequent.Decision) error {
	for _, v := range decisions {
		if err := c.Decide(v.Line, v.Verdict); err != nil {
			return err
		}
	}
	return nil
}

// decisions returns the verdicts of the step on lines of s.
func (st *step) decisions(s *sequent.Session) (all []sequent.Decision, err error) {
	if st.Chooses != "" {
		line, err := lineNamed(s, "chooses", st.Chooses)
		if err != nil {
			return nil, err
		}
		all = append(all, sequent.Decision{Line: line, Verdict: sequent.Chosen})
	}
	for _, name := range st.Rejects {
		line, err := lineNamed(s, "rejects", name)
		switch {
		case err != nil:
			return nil, err
		case name == st.Chooses:
			return nil, &refusal{
				Code: codeInvalidArgument, Field: "rejects",
				Message: fmt.Sprintf("the line %q is chosen and rejected", name), Fix: "leave it out of one of chooses and rejects",
			}
		}
		all = append(all, sequent.Decision{Line: line, Verdict: sequent.Rejected})
	}
	return all, nil
}

// place sets the line of the step and returns the next number on it.
func (st *step) place(s *sequent.Session, d *sequent.Draft) (number int, err error) {
	if d.Branch == "" && st.From != nil {
		d.Branch = freeBranch(s)
	}
	_, begun := s.End(d.Branch)
	if d.Branch == mainLine && !begun && st.From == nil {
		d.Branch = ""
	}
	switch {
	case begun && st.From != nil:
		// Clients of the reference server repeat the origin in each thought.
		if _, ok := s.Find(d.Branch, *st.From); !ok {
			return 0, notOnPath("branchFromThought", *st.From, d.Branch, s.Path(d.Branch),
				"leave it out to go on with that branch, or choose another branchId")
		}
		fallthrough
	case begun || d.Branch == "":
		return s.NextNumber(d.Branch), nil
	case st.From != nil:
		origin, ok := s.FindBranchPoint(*st.From)
		if !ok {
			return 0, notFound("branchFromThought", *st.From, "in the session", s.Thoughts(), "name one of these")
		}
		return s.NumberAfter(origin.Seq), nil
	default: // it branches off at the end of the current line
		return s.NumberAfter(s.Len()), nil
	}
}

// count sets the number, if the call has one, and the total of a draft.
func (st *step) count(s *sequent.Session, d *sequent.Draft) {
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

// freeBranch returns the first unused name of branch-1, branch-2, ….
func freeBranch(s *sequent.Session) string {
	for n := 1; ; n++ {
		label := fmt.Sprintf("branch-%d", n)
		if _, used := s.End(label); !used {
			return label
		}
	}
}

// reply returns the reply for the step, which is the last thought of s. It depends only
// on s and the call, so that a repeated call gets the same reply.
func (st *step) reply(s *sequent.Session) thinkReply {
	t, _ := s.Last()
	r := thinkReply{Number: t.Number, Notes: brief.Notes(s)}
	if st.Session == "" {
		r.Session = s.ID()
		r.Notice = st.notice(t)
	}
	if r.Notice == "" && !st.verdict {
		if found := findings.Last(s); len(found) > 0 { // the first is the most important, and more would not be read
			r.Notice = cut(strings.TrimSpace(found[0].Text+" "+found[0].Fix), maxNotice)
		}
	}
	if st.Branch == "" && st.From != nil {
		r.Branch = t.Branch
	}
	if st.Total != nil && *st.Total != t.Total {
		r.Total = t.Total
	}
	return r
}

// notice says of a session that begins with t what the author may not expect of it.
func (st *step) notice(t sequent.Thought) string {
	if t.Seq > 1 {
		return ""
	}
	said := ""
	if !st.begins() {
		said = fmt.Sprintf("New session: nothing precedes %d. ", t.Number)
	}
	if open := t.Labels[labelOpen]; open != "" {
		said += "Unfinished here: " + open + ". Same problem? Pass its id."
	}
	return strings.TrimSpace(said)
}

// notOnPath returns the refusal of a reference to a number that no thought on the path
// to the end of a line has.
func notOnPath(field string, number int, branch string, path []sequent.Thought, fix string) error {
	where := "on the main line"
	if branch != "" {
		where = fmt.Sprintf("on the path of branch %q", branch)
	}
	return notFound(field, number, where, path, fix)
}

// notFound returns the refusal of a reference to a number that none of some thoughts has.
func notFound(field string, number int, where string, among []sequent.Thought, fix string) error {
	if len(among) == 0 {
		return &refusal{
			Code: codeThoughtNotFound, Field: field,
			Message: fmt.Sprintf("%s is %d, but there is no thought before this one", field, number),
			Fix:     "leave it out, or pass the sessionId of the session you mean",
		}
	}
	var have []int
	for _, t := range among {
		have = append(have, t.Number)
	}
	return &refusal{
		Code: codeThoughtNotFound, Field: field,
		Message: fmt.Sprintf("%s is %d, but the numbers %s are %s", field, number, where, sequent.Ranges(have)), Fix: fix,
	}
}

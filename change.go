package sequent

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"time"
)

// A Ref names another thought by its author's number. The zero Ref names none.
// In JSON it is a number or null.
type Ref struct {
	number int
	set    bool
}

// To returns a Ref to the thought with the given number.
func To(number int) Ref { return Ref{number: number, set: true} }

// Number returns the number that r names, and whether it names one.
func (r Ref) Number() (int, bool) { return r.number, r.set }

// MarshalJSON returns the number, or null if r names none.
func (r Ref) MarshalJSON() ([]byte, error) {
	if !r.set {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(r.number), 10), nil
}

// UnmarshalJSON reads an integer or null.
func (r *Ref) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*r = Ref{}
		return nil
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return &Error{Code: CodeInvalidThought, Msg: fmt.Sprintf("%.40q is not the number of a thought", data), Err: err}
	}
	*r = To(n)
	return nil
}

// A Request identifies a call that may be repeated safely.
type Request struct {
	Key    string `json:"key,omitempty"`    // chosen by the caller; empty means none
	Digest string `json:"digest,omitempty"` // digest of the call's body, to detect a reused key
}

// A Draft is a thought as its author proposes it. The log keeps the author's
// numbers and references unchanged.
type Draft struct {
	Number   int               `json:"number"` // the author's number for this step; dialects choose the base
	Total    int               `json:"total"`  // the author's estimate of the number of steps
	Text     string            `json:"text"`
	Note     string            `json:"note,omitempty"`     // remarks beside the text; rarely used
	Branch   string            `json:"branch,omitempty"`   // label of the branch; empty on the main line
	From     Ref               `json:"from,omitzero"`      // the thought at which the branch leaves, if named
	Revises  Ref               `json:"revises,omitzero"`   // the thought that this one reconsiders, if named
	Revision bool              `json:"revision,omitempty"` // this step reconsiders an earlier one
	Final    bool              `json:"final,omitempty"`    // no thought follows: the session is completed
	Extend   bool              `json:"extend,omitempty"`   // the author wants more thoughts than Total
	Request  Request           `json:"request,omitzero"`
	Labels   map[string]string `json:"labels,omitempty"` // values of one dialect; never modified once appended
}

// empty reports whether d is the zero Draft.
func (d *Draft) empty() bool {
	return d.Text == "" && d.Note == "" && d.Number == 0 && d.Total == 0 && d.Branch == "" &&
		!d.From.set && !d.Revises.set && !d.Revision && !d.Final && !d.Extend &&
		d.Request == (Request{}) && len(d.Labels) == 0
}

// A Thought is a Draft that a session has accepted. Thoughts never change.
type Thought struct {
	Draft
	Seq        int       `json:"seq"`                  // position in the session's log: 1, 2, 3, … without gaps
	After      int       `json:"after"`                // Seq of the thought this one follows on its line; 0 for a beginning
	Supersedes int       `json:"supersedes,omitempty"` // Seq of the thought this one replaces in the effective chain; 0 for none
	At         time.Time `json:"at"`                   // when it was accepted, UTC, to the microsecond
}

// revisions returns 1 if t reconsiders another thought, otherwise 0.
func (t *Thought) revisions() int {
	if t.Revision || t.Supersedes > 0 {
		return 1
	}
	return 0
}

// detached returns t with labels of its own, so that a reader cannot change
// those of the log.
func (t *Thought) detached() Thought {
	d := *t
	d.Labels = maps.Clone(t.Labels)
	return d
}

// A Change records what a change function does to a session; see
// [Engine.Update]. It has effect until the function returns. After that Append
// returns an error and the setters do nothing. It is not safe for concurrent use.
//
// A setter that gets a value that no session can have, such as text that is not
// valid UTF-8, makes the change fail with an error.
type Change struct {
	limits Limits
	now    time.Time

	session *Session // as of now; nil before the change function is called, and after it
	shared  bool     // others have session: it is copied before it is changed
	added   []Entry  // to the log, without proofs
	named   []string // the fields of the header that were set, for the log
	dirty   bool     // there is something to write
	expiry  bool     // ExpireAt was called
	err     error    // of the first setter that failed
}

var errChangeOver = Errorf(CodeInternal, "", "use a Change only in the change function that it was given to",
	"a thought was appended to a change that is over")

// Session returns the session as it is now, with what c has recorded so far. The
// snapshot does not change with the next call of c.
func (c *Change) Session() *Session {
	if c.session == nil {
		return new(Session)
	}
	c.shared = true
	return c.session
}

// own returns the session, to be changed.
func (c *Change) own() *Session {
	if c.shared {
		s := *c.session
		if s.log == nil {
			s.log = newLedger(0)
		}
		c.session, c.shared = &s, false
	}
	c.dirty = true
	return c.session
}

// Append records a thought. It refuses text and names beyond the limits, the
// zero Draft, and a request key that the session has seen. It resolves
// references as far as they can be, and accepts those that cannot: whether they
// must exist is the rule of a dialect, which checks with [Session.Find] and
// [Session.FindBranchPoint] first.
//
// The session becomes Active, or Completed if d is Final.
func (c *Change) Append(d Draft) (Thought, error) {
	if d.empty() {
		return Thought{}, Errorf(CodeInvalidThought, "text", "give it a text", "the thought is empty")
	}
	if err := first(checkDraft(&d, c.limits), checkLabels(d.Labels, -1)); err != nil {
		return Thought{}, err
	}
	d.Labels = maps.Clone(d.Labels)
	if c.session == nil {
		return Thought{}, errChangeOver
	}
	t, err := c.next(d)
	if err != nil {
		return Thought{}, err
	}
	c.added = append(c.added, EntryOf(t))
	s := c.own()
	s.log = s.log.with(t)
	h := &s.header
	if h.Len++; h.Len == 1 {
		h.Request = d.Request
	}
	h.Branches = len(s.log.branches(h.Len))
	h.Revisions += t.revisions()
	h.State = stateAfter(&d)
	if h.Title == "" {
		h.Title = TitleOf(d.Text)
	}
	return t.detached(), nil
}

// next returns a draft as the next thought of the session, its references resolved.
func (c *Change) next(d Draft) (Thought, error) {
	l, n := c.session.read()
	defer l.mu.RUnlock()
	if err := l.checkNext(&d, n, c.limits); err != nil {
		return Thought{}, err
	}
	t := Thought{Draft: d, Seq: n + 1, At: c.now}
	ln, at, ok := l.lineAt(d.Branch, n)
	branches := len(l.branches(n))
	switch from, named := d.From.Number(); {
	case ok:
		t.After = ln.last
	case d.Branch == "":
		at = 0
	case exceeds(branches+1, c.limits.Branches):
		return Thought{}, Errorf(CodeLimitExceeded, "branch", "continue one of them, or begin another session",
			"the session has %d branches, the limit", branches)
	case named:
		t.After = l.origin(from, n)
	default:
		t.After = n
	}
	if number, named := d.Revises.Number(); named {
		if !ok && t.After > 0 { // a new branch: what it sees ends at its origin
			t.Supersedes = l.resolve(l.links[t.After-1].line, number, t.After)
		} else if ok {
			t.Supersedes = l.resolve(at, number, n)
		}
	}
	return t, nil
}

// checkDraft refuses text and names that no session can record.
func checkDraft(d *Draft, limits Limits) error {
	return cmp.Or(
		checkText("text", d.Text, limits.Text),
		checkText("note", d.Note, limits.Text),
		checkName("branch", d.Branch, limits.Name, CodeInvalidThought),
		checkName("requestKey", d.Request.Key, limits.Name, CodeInvalidThought),
	)
}

// checkNext refuses a draft that cannot follow the first n thoughts. The caller
// holds mu.
func (l *ledger) checkNext(d *Draft, n int, limits Limits) error {
	if exceeds(n+1, limits.Thoughts) {
		return Errorf(CodeLimitExceeded, "thought", "begin another session", "the session has %d thoughts, the limit", n)
	}
	if l.recorded(d.Request.Key, n) > 0 {
		return Errorf(CodeRequestKeyReused, "requestKey", "use a new key for a new thought",
			"this session has a thought with that request key already")
	}
	return nil
}

// SetState says whether the session is Active, Completed, Cancelled or Abandoned. The
// next thought that is appended replaces the state.
func (c *Change) SetState(state State) {
	c.set(checkState(state), func(h *Header) { h.State = state }, "state")
}

// Abandon says that the session was left open when the next one of its scope began, at
// a time. [Header.Updated] becomes that time instead of the time of the change, unless it
// is later already, so that an abandoned session is not listed before the one that
// followed it.
func (c *Change) Abandon(at time.Time) {
	c.SetState(Abandoned)
	c.set(nil, func(h *Header) {
		if c.now = h.Updated; at.After(c.now) {
			c.now = precise(at)
		}
	})
}

// SetTitle titles the session with the first line of a text, shortened. Without it
// the first thought does.
func (c *Change) SetTitle(text string) {
	c.set(checkText("title", text, -1), func(h *Header) { h.Title = TitleOf(text) }, "title")
}

// Conclude records what the author concluded.
func (c *Change) Conclude(text string) {
	c.set(checkText("conclusion", text, -1), func(h *Header) { h.Conclusion = text }, "conclusion")
}

// SetLabel records a value that only one dialect knows the meaning of. An
// empty value removes the label.
func (c *Change) SetLabel(key, value string) {
	c.set(checkLabel(key, value, -1), func(h *Header) {
		labels := maps.Clone(h.Labels)
		if labels == nil {
			labels = make(map[string]string)
		}
		if value == "" {
			delete(labels, key)
		} else {
			labels[key] = value
		}
		h.Labels = labels
	}, labelPrefix+key)
}

// BeginIn says in which scope and dialect the session was begun, in the change
// function of the call that begins it.
func (c *Change) BeginIn(scope, dialect string) {
	c.set(checkScope(scope, dialect, c.limits), func(h *Header) { h.Scope, h.Dialect = scope, dialect }, "scope", "dialect")
}

// ExpireAt says when the session may be forgotten; the zero time means never.
// It holds until the next change, where there is a [Config.TTL] for those that
// do not say.
func (c *Change) ExpireAt(at time.Time) {
	c.set(nil, func(h *Header) { h.Expires, c.expiry = precise(at), true })
}

// set changes the header, unless err says that the new value is not valid. The log
// records the named fields.
func (c *Change) set(err error, change func(*Header), names ...string) {
	switch {
	case c.session == nil:
	case err != nil:
		c.err = cmp.Or(c.err, err)
	default:
		change(&c.own().header)
		c.named = append(c.named, names...)
	}
}

// run calls a change function with the session s, which it may begin with a header. It
// returns the session afterwards and what was added to its log, or s itself if nothing was
// recorded.
func (c *Change) run(s *Session, begin *Header, change func(*Change) error, ttl time.Duration) (*Session, []Entry, error) {
	c.session, c.shared = s, true
	if begin != nil {
		c.own().header = *begin
		for name, value := range begin.Origin.fields() {
			if *value != "" {
				c.named = append(c.named, name)
			}
		}
	}
	defer func() { c.session = nil }() // also if change panics
	if err := change(c); err != nil {
		return nil, nil, err
	}
	if c.err != nil || !c.dirty {
		return s, nil, c.err
	}
	if s.lost != nil {
		c.noteLoss(s)
	}
	next := c.own()
	return next, c.finish(&next.header, ttl), nil
}

// finish completes the header and returns the entries with their proofs.
func (c *Change) finish(h *Header, ttl time.Duration) []Entry {
	if len(c.named) > 0 {
		fields := h.fields()
		body := make(Body, len(c.named))
		for _, name := range c.named {
			body[name] = fields[name]
		}
		c.added = append(c.added, Entry{Kind: KindHeader, At: c.now, Body: body})
	}
	for i := range c.added {
		h.Bytes += c.added[i].size()
	}
	h.Version++
	h.Updated = c.now
	if ttl > 0 && !c.expiry {
		h.Expires = precise(c.now.Add(ttl))
	}
	h.Prove(c.added)
	return c.added
}

package sequent

import (
	"cmp"
	"fmt"
	"maps"
	"time"
)

// A Change records what a change function does to a session; see
// [Engine.Update]. It has effect until the function returns. After that Append
// returns an error and the setters do nothing.
//
// A setter that gets a value that no session can have, such as text that is not
// valid UTF-8, makes the change fail with an error.
type Change struct {
	limits Limits
	now    time.Time
	ledger *ledger

	// Guarded by ledger.mu, so that a goroutine that outlives the change
	// function cannot change what is being committed.
	session *Session  // as of now; nil when the change function has returned
	shared  bool      // others have session: it is copied before the next change
	dirty   bool      // there is something to write
	named   []string  // the fields of the header that were set, for the log
	marked  []marked  // the notes and decisions that were recorded, for the log
	expiry  bool      // ExpireAt was called
	left    time.Time // of Abandon; zero if it was not called
	err     error     // of the first setter that failed
}

// Session returns the session as it is now, with what c has recorded so far. The
// snapshot does not change with the next call of c.
//
// If the change is refused or applied again, thoughts that were not committed
// disappear from the snapshot. Use it in the change function only.
func (c *Change) Session() *Session {
	if c.ledger == nil {
		return new(Session)
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.session == nil {
		return new(Session)
	}
	c.shared = true
	c.ledger.handOut(c.session)
	return c.session
}

// Append records a thought. It refuses text and names beyond the limits, the
// zero Draft, and a request key that the session has seen. It resolves
// references as far as they can be, and accepts those that cannot: whether they
// must exist is the rule of a dialect, which checks with [Session.Find] and
// [Session.FindOrigin] first.
//
// The session becomes Active or Completed as d.More says.
func (c *Change) Append(d Draft) (Thought, error) {
	if c.ledger == nil {
		return Thought{}, errChangeOver
	}
	if d.empty() {
		return Thought{}, &Error{
			Code: CodeInvalidThought, Field: "text",
			Msg: "the thought is empty", Fix: "give it a text",
		}
	}
	if err := checkDraft(&d, c.limits); err != nil {
		return Thought{}, err
	}
	if err := checkLabels(d.Labels, -1); err != nil {
		return Thought{}, err
	}
	d.Labels = maps.Clone(d.Labels)
	l := c.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.session == nil {
		return Thought{}, errChangeOver
	}
	n := c.session.known
	if err := l.checkNext(&d, n, c.limits); err != nil {
		return Thought{}, err
	}
	t := Thought{Draft: d, Seq: n + 1, At: c.now}
	ln, at, ok := l.lineAt(d.Branch, n)
	switch from, named := d.From.Number(); {
	case ok:
		t.After = ln.last
	case d.Branch == "":
		at = 0
	case exceeds(len(l.lines), c.limits.Branches):
		return Thought{}, &Error{
			Code: CodeLimitExceeded, Field: "branch",
			Msg: fmt.Sprintf("the session has %d branches, the limit", len(l.lines)-1),
			Fix: "continue one of them, or begin another session",
		}
	case named:
		t.After = l.origin(from, n)
	default:
		t.After = n
	}
	if number, named := d.Revises.Number(); named {
		if !ok && t.After > 0 { // a new branch: what it sees ends at its origin
			t.Supersedes = l.resolve(int(l.record(t.After).line), number, t.After)
		} else if ok {
			t.Supersedes = l.resolve(at, number, n)
		}
	}
	l.push(t)
	s := c.write()
	s.known++
	h := &s.header
	h.Len++
	h.Branches = len(l.lines) - 1
	h.State = stateAfter(d)
	if h.Title == "" {
		h.Title = title(d.Text)
	}
	return t.detached(), nil
}

// checkDraft refuses text and names that no session can record.
func checkDraft(d *Draft, limits Limits) error {
	if err := checkText("text", d.Text, limits.Text); err != nil {
		return err
	}
	if err := checkText("note", d.Note, limits.Text); err != nil {
		return err
	}
	if err := checkName("branch", d.Branch, limits.Name, CodeInvalidThought); err != nil {
		return err
	}
	return checkName("requestKey", d.Request.Key, limits.Name, CodeInvalidThought)
}

// checkNext refuses a draft that cannot follow the first n thoughts. The caller
// holds mu.
func (l *ledger) checkNext(d *Draft, n int, limits Limits) error {
	if exceeds(n+1, limits.Thoughts) {
		return &Error{
			Code: CodeLimitExceeded, Field: "thought",
			Msg: fmt.Sprintf("the session has %d thoughts, the limit", n),
			Fix: "begin another session",
		}
	}
	if l.recorded(d.Request.Key, n) > 0 {
		return &Error{
			Code: CodeRequestKeyReused, Field: "requestKey",
			Msg: "this session has a thought with that request key already",
			Fix: "use a new key for a new thought",
		}
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
	c.set(nil, func(*Header) { c.left = precise(at) })
}

// SetTitle titles the session with the first line of a text, shortened. Without it
// the first thought does.
func (c *Change) SetTitle(text string) {
	c.set(checkText("title", text, -1), func(h *Header) { h.Title = title(text) }, "title")
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
	c.set(checkOrigin(scope, dialect, c.limits), func(h *Header) { h.Scope, h.Dialect = scope, dialect }, "scope", "dialect")
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
	if c.ledger == nil {
		return
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	switch {
	case c.session == nil:
	case err != nil:
		c.err = cmp.Or(c.err, err)
	default:
		change(&c.write().header)
		c.named = append(c.named, names...)
	}
}

// begin makes the change one that begins a session.
func (c *Change) begin(h Header) {
	c.write().header = h
	for name, value := range h.Context.fields() {
		if *value != "" {
			c.named = append(c.named, name)
		}
	}
}

// write returns the session, to be changed. The caller holds ledger.mu.
func (c *Change) write() *Session {
	if c.shared {
		s := *c.session
		c.session, c.shared = &s, false
	}
	c.dirty = true
	return c.session
}

// entries returns what the change has added to the log of a session that had n
// thoughts, without proofs. The caller holds ledger.mu.
func (c *Change) entries(n int) []Entry {
	s := c.session
	entries := make([]Entry, 0, s.known-n+len(c.marked)+min(len(c.named), 1))
	marks := c.marked
	for ; ; n++ {
		for len(marks) > 0 && marks[0].after == n {
			entries, marks = append(entries, marks[0].Entry), marks[1:]
		}
		if n == s.known {
			break
		}
		entries = append(entries, EntryOf(c.ledger.log.thought(n)))
	}
	if len(c.named) > 0 {
		fields := s.header.fields()
		body := make(Body, len(c.named))
		for _, name := range c.named {
			body[name] = fields[name]
		}
		entries = append(entries, Entry{Kind: KindHeader, At: c.now, Body: body})
	}
	return entries
}

// end makes c inert and returns the session as the change function leaves it, with
// what it has added to the log of n thoughts. If there is something to write, no other
// caller has that session.
func (c *Change) end(ttl time.Duration, n int) (*Session, []Entry) {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	var added []Entry
	if c.dirty {
		h := &c.write().header
		if h.State == Abandoned && !c.left.IsZero() {
			c.now = h.Updated
			if c.left.After(c.now) {
				c.now = c.left
			}
		}
		added = c.entries(n)
		h.Prove(added)
		for i := range added {
			h.Bytes += added[i].size()
		}
		h.Version++
		h.Updated = c.now
		if ttl > 0 && !c.expiry {
			h.Expires = precise(c.now.Add(ttl))
		}
	}
	s := c.session
	c.session = nil
	return s, added
}

var errChangeOver = &Error{
	Code: CodeInternal,
	Msg:  "a thought was appended to a change that is over",
	Fix:  "use a Change only in the change function that it was given to",
}

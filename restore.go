package sequent

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"
)

// A Verification is what [Verify] found.
type Verification struct {
	Fault   *Fault // nil if the log is intact
	Entries int    // up to the fault
	Head    Hash   // of the last of them
	Masked  []int  // places of entries whose texts are masked, and so not proven

	thoughts int // among the entries
}

// Verify checks a log against the hashes of its entries, and the header against the log
// and its seal. An intact log is one that was not changed by a program that does not
// compute the hashes anew. To detect one that does, compare Head with a head noted
// elsewhere.
func Verify(h Header, entries []Entry) Verification {
	var v Verification
	v.verify(&h, entries)
	return v
}

// verify checks h, and the entries that follow those that v has seen.
func (v *Verification) verify(h *Header, entries []Entry) {
	for i := range entries {
		if v.Fault = v.check(&entries[i], entries[i:]); v.Fault != nil {
			return
		}
	}
	switch {
	case v.Entries < h.Entries:
		v.Fault = &Fault{Kind: FaultCutOff, Place: v.Entries + 1}
	case v.Head != h.Head:
		v.Fault = &Fault{Kind: FaultHeader, Field: "head"}
	case v.thoughts != h.Len:
		v.Fault = &Fault{Kind: FaultHeader, Field: "len"}
	default:
		v.Fault = checkHeader(h, entries)
	}
}

// check checks the first entry of rest.
func (v *Verification) check(e *Entry, rest []Entry) *Fault {
	seq := e.Thought.Seq // 0 for other kinds
	switch {
	case !e.Proven():
		return &Fault{Kind: FaultUnproven, Place: v.Entries + 1, Seq: seq}
	case e.Place != v.Entries+1:
		return v.misplaced(rest)
	case e.hash(v.Head) != e.Hash, seq > 0 && !e.At.Equal(e.Thought.At):
		return &Fault{Kind: FaultAltered, Place: e.Place, Seq: seq}
	case seq > 0 && seq != v.thoughts+1:
		return &Fault{Kind: FaultMissing, Seq: v.thoughts + 1}
	}
	v.Entries, v.Head = e.Place, e.Hash
	if e.Kind == KindThought {
		v.thoughts++
	}
	if len(e.Masked) > 0 {
		v.Masked = append(v.Masked, e.Place)
	}
	return nil
}

// misplaced returns the fault of the first entry of rest, whose place is not the next
// one: it was moved if the entry of that place comes later, otherwise that entry is
// missing.
func (v *Verification) misplaced(rest []Entry) *Fault {
	e, want := &rest[0], v.Entries+1
	if e.Place < want || slices.ContainsFunc(rest, func(o Entry) bool { return o.Place == want }) {
		return &Fault{Kind: FaultReordered, Place: e.Place, Seq: e.Thought.Seq}
	}
	f := &Fault{Kind: FaultMissing, Place: want}
	if next := Thoughts(rest); len(next) > 0 && next[0].Seq > v.thoughts+1 { // otherwise an entry of another kind is missing
		f.Seq = v.thoughts + 1
	}
	return f
}

// checkHeader compares the header with its seal, and with the fields that entries say. A title that was taken
// from the first thought is not among them.
func checkHeader(h *Header, entries []Entry) *Fault {
	want := make(map[string]string)
	for i := range entries {
		entries[i].say(want)
	}
	have := h.fields()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			return &Fault{Kind: FaultHeader, Field: name}
		}
	}
	if h.Seal != h.Digest() {
		return &Fault{Kind: FaultHeader}
	}
	return nil
}

// say sets the fields of the header that the entry says. It removes those whose text is masked.
func (e *Entry) say(fields map[string]string) {
	switch e.Kind {
	case KindThought:
		fields["state"] = string(stateAfter(&e.Thought.Draft))
	case KindHeader:
		for name, value := range e.Body {
			fields[name], _ = value.(string)
			if _, masked := e.Masked[name]; masked {
				delete(fields, name)
			}
		}
	}
}

// fields returns the fields of the header that entries name, without empty ones.
func (h *Header) fields() map[string]string {
	all := map[string]string{
		"state": string(h.State), "title": h.Title, "scope": h.Scope, "dialect": h.Dialect, "conclusion": h.Conclusion,
	}
	for name, value := range h.Origin.fields() {
		all[name] = *value
	}
	for k, v := range h.Labels {
		all[labelPrefix+k] = v
	}
	maps.DeleteFunc(all, func(_, v string) bool { return v == "" })
	return all
}

// labelPrefix begins the name of a field that is a label.
const labelPrefix = "labels."

// A Restored is the outcome of [Engine.Restore].
type Restored int

// The outcomes of [Engine.Restore].
const (
	RestoredNothing Restored = iota // the store had the whole session already
	RestoredNew                     // the store did not have the session
	RestoredMore                    // the store had an earlier state of it
)

// Restore stores a session that was recorded elsewhere, with its times and its resolved
// references. It is for archives; new thoughts go through the other verbs.
//
// The header's owner, epoch, version, length, number of branches and seal are ignored: the
// session gets the engine's owner. An empty title is taken from the first thoughts, missing
// times from the log. The log must be complete: Seq is 1, 2, 3, …, and After and Supersedes
// name earlier thoughts. Times are truncated to the precision of stores.
//
// If the entries have proofs, these are kept, and the header must be the one that they belong
// to; if they do not verify, the error has the code CodeInvalidSession and says which entry is
// not intact. Entries without proofs get some.
//
// If the store has the session already, Restore adds the thoughts beyond its own, and the
// header if it is newer. It changes nothing if the store's session is the longer one. If the
// logs differ where both have thoughts, other than in times, the error matches ErrExists. What
// is added to a session with another chain, such as that of the same thoughts restored
// elsewhere, gets new proofs. An expired session is refused with CodeInvalidSession.
//
// The caller must not change the entries afterwards.
func (e *Engine) Restore(ctx context.Context, h Header, entries []Entry) (Restored, error) {
	k, err := e.key(ctx, h.ID, true)
	if err != nil {
		return 0, err
	}
	h.Key = k
	for i := range entries {
		if entry := &entries[i]; !entry.Proven() {
			entry.At = precise(entry.At)
			entry.Thought.At = precise(entry.Thought.At)
		}
	}
	if err := e.checkRestored(&h, entries); err != nil {
		return 0, err
	}
	var outcome Restored
	_, err = e.open().commit(k, plan{ctx: ctx, restore: func(base *Session) (next *Session, added []Entry, err error) {
		outcome, next, added, err = base.restore(h, entries)
		return next, added, err
	}})
	return outcome, err
}

// restore returns the session as h and entries have it, with what that adds to the log of s, or
// s itself if it has all of that.
func (s *Session) restore(h Header, entries []Entry) (outcome Restored, next *Session, added []Entry, err error) {
	now := &s.header
	joins := h.Entries >= now.Entries && (now.Entries == 0 || entries[now.Entries-1].Hash == now.Head) // it is the same chain
	log := Thoughts(entries)
	for t := range s.All() {
		if i := t.Seq - 1; !joins && i < len(log) && !sameThought(t, log[i]) {
			return 0, nil, nil, Errorf(CodeSessionExists, "sessionId", "delete that session first, or keep it",
				"there is another session %q: they differ from thought %d of the log on", h.ID, t.Seq)
		}
	}
	switch {
	case now.Version == 0:
		outcome = RestoredNew
	case h.Len > now.Len, joins && h.Entries > now.Entries, h.Len == now.Len && h.Updated.After(now.Updated) && !sameHeader(*now, h):
		outcome = RestoredMore
	default:
		return RestoredNothing, s, nil, nil
	}
	h.Epoch, h.Version, h.Bytes = cmp.Or(now.Epoch, newEpoch()), now.Version+1, now.Bytes
	if joins && h.Entries > 0 {
		added = entries[now.Entries:]
	} else {
		added = s.reprove(&h, entries)
	}
	for i := range added {
		h.Bytes += added[i].size()
	}
	h.Seal = h.Digest()
	return outcome, s.with(h, added), added, nil
}

// reprove returns the entries that follow the thoughts of s, with one about what else h says.
// They get new proofs, and h the end of the chain, because those that they have do not follow s.
func (s *Session) reprove(h *Header, entries []Entry) []Entry {
	first := 0
	for i := range entries {
		if entries[i].Kind == KindThought && entries[i].Thought.Seq == s.Len() {
			first = i + 1
		}
	}
	tail := slices.Clone(entries[first:])
	said, fields := s.header.fields(), h.fields()
	for i := range tail {
		tail[i].say(said)
		said["title"] = cmp.Or(said["title"], TitleOf(tail[i].Thought.Text))
	}
	body := make(Body)
	for _, names := range []map[string]string{said, fields} {
		for name := range names {
			if fields[name] != said[name] {
				body[name] = fields[name]
			}
		}
	}
	if len(body) > 0 {
		tail = append(tail, Entry{Kind: KindHeader, At: h.Updated, Body: body})
	}
	h.Entries, h.Head = s.header.Entries, s.header.Head
	h.Prove(tail)
	return tail
}

// sameThought reports whether all fields but the time agree.
func sameThought(a, b Thought) bool {
	same := maps.Equal(a.Labels, b.Labels)
	a.Labels, b.Labels, a.At, b.At = nil, nil, time.Time{}, time.Time{}
	return same && reflect.DeepEqual(a, b)
}

func sameHeader(a, b Header) bool {
	return maps.Equal(a.fields(), b.fields()) && a.Created.Equal(b.Created) && a.Updated.Equal(b.Updated) && a.Expires.Equal(b.Expires)
}

// checkRestored refuses a log that the engine could not have recorded, and fills
// in the missing fields of the header.
func (e *Engine) checkRestored(h *Header, entries []Entry) error {
	if err := checkProofs(h, entries); err != nil {
		return err
	}
	limits := e.Limits()
	l := newLedger(0)
	h.Revisions, h.Notes = 0, 0
	for i := range entries {
		entry, t := &entries[i], &entries[i].Thought
		if entry.Kind == KindNote {
			h.Notes++
		}
		if entry.Kind != KindThought {
			if err := checkOther(entry, limits); err != nil {
				return err
			}
			continue
		}
		n := len(l.thoughts)
		if t.Seq != n+1 || t.After < 0 || t.After > n || t.Supersedes < 0 || t.Supersedes > n {
			return Errorf(CodeInvalidThought, "seq", "",
				"thought %d of the log cannot be there: its place is given as %d, it follows thought %d, and it supersedes thought %d", n+1, t.Seq, t.After, t.Supersedes)
		}
		if err := first(checkDraft(&t.Draft, limits), l.checkNext(&t.Draft, n, limits), checkLabels(t.Labels, limits.Text)); err != nil {
			return err
		}
		if t.Seq == 1 {
			h.Request = t.Request
		}
		h.Title = cmp.Or(h.Title, TitleOf(t.Text))
		h.Revisions += t.revisions()
		l.push(*t)
	}
	h.Len, h.Branches = len(l.thoughts), len(l.lines)-1
	if exceeds(h.Branches, limits.Branches) {
		return Errorf(CodeLimitExceeded, "branch", "", "the session has more than %d branches, the limit", limits.Branches)
	}
	return e.checkRestoredHeader(h, entries)
}

// checkProofs refuses a log whose proofs do not verify, and sets the end of the chain
// and the number of thoughts in h. Without proofs, both are zero.
func checkProofs(h *Header, entries []Entry) error {
	h.Len = len(Thoughts(entries))
	if !slices.ContainsFunc(entries, func(e Entry) bool { return e.Proven() }) {
		h.Entries, h.Head = 0, Hash{}
		return nil
	}
	if last := &entries[len(entries)-1]; h.Entries == 0 {
		h.Entries, h.Head = last.Place, last.Hash
	}
	checked := *h
	checked.Seal = checked.Digest() // it may be the one of another owner
	if v := Verify(checked, entries); v.Fault != nil {
		return Errorf(CodeInvalidSession, "log", "use another copy, or remove the proofs from this one to import it without them",
			"the log is not what was recorded: %s", v.Fault)
	}
	return nil
}

// checkOther refuses an entry that is not a thought and that no program can have
// recorded.
func checkOther(entry *Entry, limits Limits) error {
	if entry.Kind == "" {
		return &Error{Code: CodeInvalidSession, Field: "kind", Msg: "an entry of the log has no kind"}
	}
	for name, v := range entry.Body {
		if text, ok := v.(string); ok {
			if err := checkText(name, text, limits.Text); err != nil {
				return err
			}
		}
	}
	return checkName("kind", string(entry.Kind), limits.Name, CodeInvalidSession)
}

func (e *Engine) checkRestoredHeader(h *Header, log []Entry) error {
	limits := e.Limits()
	first := cmp.Or(h.Created, e.Now())
	last := first
	if len(log) > 0 {
		first, last = log[0].At, log[len(log)-1].At
	}
	h.Created, h.Updated, h.Expires = precise(cmp.Or(h.Created, first)), precise(cmp.Or(h.Updated, last)), precise(h.Expires)
	if h.Expired(e.Now()) {
		return Errorf(CodeInvalidSession, "expires", "remove its time of expiry to keep it",
			"the session has expired at %s", h.Expires.Format("2006-01-02 15:04:05 UTC"))
	}
	for name, value := range h.Origin.fields() {
		if err := checkName(name, *value, maxOrigin, CodeInvalidSession); err != nil {
			return err
		}
	}
	return cmp.Or(checkState(h.State), checkScope(h.Scope, h.Dialect, limits), checkLabels(h.Labels, limits.Text),
		checkText("title", h.Title, limits.Text), checkText("conclusion", h.Conclusion, limits.Text))
}

package sequent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

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
	for range maxAttempts { // other writers may change the session meanwhile
		outcome, raced, err := e.restore(ctx, h, entries)
		if !raced {
			return outcome, err
		}
	}
	return 0, Errorf(CodeConflict, "sessionId", "try again", "the session %q keeps changing", h.ID)
}

// restore tries once.
func (e *Engine) restore(ctx context.Context, h Header, entries []Entry) (outcome Restored, raced bool, err error) {
	now, have, err := e.store.Load(ctx, h.Key, Position{})
	exists := err == nil
	if exists && now.Expired(e.now()) {
		err = e.store.Delete(ctx, h.Key, now.Epoch)
		exists, now, have = false, Header{}, nil
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, false, err
	}
	outcome = RestoredNew
	if exists {
		if outcome, err = compare(now, have, h, entries); err != nil || outcome == RestoredNothing {
			return outcome, false, err
		}
	}
	w := &Write{
		Base: now.Position(), Header: h,
		Rebase: func(Header, []Entry) bool { raced = true; return false },
	}
	w.Header.Epoch, w.Header.Version = cmp.Or(now.Epoch, newEpoch()), now.Version+1
	w.Entries = w.Header.join(now, have, entries)
	for i := range w.Entries {
		w.Header.Bytes += w.Entries[i].size()
	}
	w.Header.Seal = w.Header.Digest()
	err = e.commits.commit(ctx, w)
	return outcome, raced && err == nil, err
}

// join returns what a store that has an earlier state of a session (now, have) must add
// to its log, so that it has that of h. The thoughts of the earlier state are the first
// of entries. If its proofs are, too, the others are added as they are. Otherwise what
// follows those thoughts gets new proofs, and h the end of the store's chain.
func (h *Header) join(now Header, have, entries []Entry) []Entry {
	h.Bytes = now.Bytes
	if h.Entries > 0 && continues(have, entries) {
		return entries[len(have):]
	}
	first := now.Len // the index of the first entry after the thoughts that the store has
	for i := range entries {
		if entries[i].Kind == KindThought && entries[i].Thought.Seq == now.Len {
			first = i + 1
		}
	}
	tail := slices.Clone(entries[first:])
	if body := restated(&now, h, tail); len(body) > 0 {
		tail = append(tail, Entry{Kind: KindHeader, At: h.Updated, Body: body})
	}
	h.Entries, h.Head = now.Entries, now.Head
	h.Prove(tail)
	return tail
}

// continues reports whether the entries begin with those of the store. A text may be masked
// in one of them.
func continues(have, entries []Entry) bool {
	return len(have) <= len(entries) && slices.EqualFunc(have, entries[:len(have)], func(a, b Entry) bool {
		return a.Place == b.Place && a.Hash == b.Hash
	})
}

// restated returns the fields in which h differs from what follows from an earlier
// header and the entries after it.
func restated(now, h *Header, tail []Entry) Body {
	said, fields := now.fields(), h.fields()
	for i := range tail {
		tail[i].say(said)
		said["title"] = cmp.Or(said["title"], title(tail[i].Thought.Text))
	}
	body := make(Body)
	for _, names := range []map[string]string{said, fields} {
		for name := range names {
			if fields[name] != said[name] {
				body[name] = fields[name]
			}
		}
	}
	return body
}

// compare returns what Restore has to add to the store's session.
func compare(now Header, have []Entry, h Header, entries []Entry) (Restored, error) {
	a, b := thoughtsOf(have), thoughtsOf(entries)
	for i := range min(len(a), len(b)) {
		if (a[i].Place != b[i].Place || a[i].Hash != b[i].Hash) && !sameThought(a[i].Thought, b[i].Thought) {
			return 0, Errorf(CodeSessionExists, "sessionId", "delete that session first, or keep it",
				"there is another session %q: they differ from thought %d of the log on", h.ID, i+1)
		}
	}
	switch {
	case h.Len > now.Len, len(entries) > len(have) && continues(have, entries):
		return RestoredMore, nil
	case h.Len < now.Len || !h.Updated.After(now.Updated) || sameHeader(now, h):
		return RestoredNothing, nil
	}
	return RestoredMore, nil
}

// thoughtsOf returns the entries that are thoughts.
func thoughtsOf(entries []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Kind != KindThought })
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
	l := newLedger(0)
	h.Bytes, h.Revisions, h.Notes = 0, 0, 0
	for i := range entries {
		entry := &entries[i]
		h.Bytes += entry.size()
		if entry.Kind != KindThought {
			if err := checkOther(entry, e.limits); err != nil {
				return err
			}
			if entry.Kind == KindNote {
				h.Notes++
			}
			continue
		}
		t := &entry.Thought
		if err := e.checkNextRestored(l, t); err != nil {
			return err
		}
		if t.Seq == 1 {
			h.Request = t.Request
		}
		if h.Title == "" {
			h.Title = title(t.Text)
		}
		h.Revisions += t.revisions()
		l.push(*t)
		if exceeds(len(l.lines)-1, e.limits.Branches) {
			return Errorf(CodeLimitExceeded, "branch", "",
				"the session has more than %d branches, the limit", e.limits.Branches)
		}
	}
	h.Len, h.Branches = len(l.thoughts), len(l.lines)-1
	if err := e.limits.checkBytes(h, entries); err != nil {
		return err
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

// checkNextRestored refuses a thought that cannot follow those of l.
func (e *Engine) checkNextRestored(l *ledger, t *Thought) error {
	i := len(l.thoughts)
	switch {
	case t.Seq != i+1:
		return invalidLog(i, "its place in the log is given as %d", t.Seq)
	case t.After < 0 || t.After > i:
		return invalidLog(i, "it follows thought %d, which is not before it", t.After)
	case t.Supersedes < 0 || t.Supersedes > i:
		return invalidLog(i, "it supersedes thought %d, which is not before it", t.Supersedes)
	}
	return cmp.Or(checkDraft(&t.Draft, e.limits), l.checkNext(&t.Draft, i, e.limits), checkLabels(t.Labels, e.limits.Text))
}

// checkOther refuses an entry that is not a thought and that no program can have
// recorded.
func checkOther(entry *Entry, limits Limits) error {
	if entry.Kind == "" {
		return &Error{Code: CodeInvalidSession, Field: "kind", Msg: "an entry of the log has no kind"}
	}
	if err := checkName("kind", string(entry.Kind), limits.Name, CodeInvalidSession); err != nil {
		return err
	}
	for name, v := range entry.Body {
		if text, ok := v.(string); ok {
			if err := checkText(name, text, limits.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Engine) checkRestoredHeader(h *Header, log []Entry) error {
	if err := checkState(h.State); err != nil {
		return err
	}
	if err := checkScope(h.Scope, h.Dialect, e.limits); err != nil {
		return err
	}
	for name, value := range h.Origin.fields() {
		if err := checkName(name, *value, maxOrigin, CodeInvalidSession); err != nil {
			return err
		}
	}
	for _, n := range [][2]string{{"title", h.Title}, {"conclusion", h.Conclusion}} {
		if err := checkText(n[0], n[1], e.limits.Text); err != nil {
			return err
		}
	}
	if err := checkLabels(h.Labels, e.limits.Text); err != nil {
		return err
	}
	first := cmp.Or(h.Created, e.Now())
	last := first
	if len(log) > 0 {
		first, last = log[0].At, log[len(log)-1].At
	}
	h.Created, h.Updated, h.Expires = precise(cmp.Or(h.Created, first)), precise(cmp.Or(h.Updated, last)), precise(h.Expires)
	if h.Expired(e.now()) {
		return Errorf(CodeInvalidSession, "expires", "remove its time of expiry to keep it",
			"the session has expired at %s", h.Expires.Format("2006-01-02 15:04:05 UTC"))
	}
	return nil
}

func invalidLog(i int, format string, args ...any) error {
	return Errorf(CodeInvalidThought, "seq", "", "thought %d of the log cannot be: %s", i+1, fmt.Sprintf(format, args...))
}

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

// Restore stores a session that was recorded elsewhere, with its times and its
// resolved references. It is for archives; new thoughts go through the other
// verbs.
//
// The header's owner, epoch, version, length and number of branches are ignored:
// the session gets the engine's owner. An empty title is taken from the first
// thoughts, missing times from the log. The log must be complete: Seq is
// 1, 2, 3, …, and After and Supersedes name earlier thoughts.
//
// If the store has the session already, Restore adds the thoughts beyond its own,
// and the header if it is newer. It changes nothing if the store's session is
// the longer one. If the logs differ where both have thoughts, other than in
// times, the error matches ErrExists. An expired session is refused with
// CodeInvalidSession.
//
// The log has no proofs, so what Restore adds gets proofs of its own.
//
// The caller must not change the log afterwards. Restore truncates its times to
// the precision of stores.
func (e *Engine) Restore(ctx context.Context, h Header, log []Thought) (Restored, error) {
	for i := range log {
		log[i].At = precise(log[i].At)
	}
	return e.RestoreEntries(ctx, h, Entries(log))
}

// RestoreEntries is [Engine.Restore] for a log of entries. If they have proofs, these
// are kept, and the header must be the one that they belong to; if they do not verify,
// the error has the code CodeInvalidSession and says which entry is not intact. A log
// with proofs that continues the store's is added as it is. What is added to a session
// with another chain, such as that of the same thoughts restored elsewhere, gets new
// proofs.
func (e *Engine) RestoreEntries(ctx context.Context, h Header, entries []Entry) (Restored, error) {
	k, err := e.key(h.ID)
	if err != nil {
		return 0, err
	}
	leaveTrail(ctx, k, true)
	h.Key = k
	if err := e.checkRestored(&h, entries); err != nil {
		return 0, err
	}
	const maxAttempts = 100 // other writers may change the session meanwhile
	for attempt := 1; ; attempt++ {
		now, have, err := e.store.Load(ctx, k, Position{}, 0)
		exists := err == nil
		if exists && now.Expired(e.now()) {
			if err := e.Delete(ctx, k.ID); err != nil && !errors.Is(err, ErrNotFound) {
				return 0, err
			}
			exists, now, have = false, Header{}, nil
		} else if err != nil && !errors.Is(err, ErrNotFound) {
			return 0, err
		}
		outcome := RestoredNew
		if exists {
			if outcome, err = compare(now, have, h, entries); err != nil || outcome == RestoredNothing {
				return outcome, err
			}
		}
		raced := false
		w := &Write{
			Base: now.Position(), Header: h,
			Rebase: func(Header, bool, []Entry) bool { raced = true; return false },
		}
		w.Header.Epoch, w.Header.Version = cmp.Or(now.Epoch, newEpoch()), now.Version+1
		if h.Entries > 0 {
			w.Entries = w.Header.Join(now, have, entries)
		} else {
			w.Entries = w.Header.graft(&now, entries)
		}
		if err := e.store.Commit(ctx, []*Write{w}); err != nil {
			return 0, err
		}
		if w.Err != nil || !raced {
			return outcome, w.Err
		}
		if attempt == maxAttempts {
			return 0, &Error{
				Code: CodeConflict, Field: "sessionId",
				Msg: fmt.Sprintf("the session %q keeps changing", h.ID), Fix: "try again",
			}
		}
	}
}

// Join returns what a store that has an earlier state of a session (now, have) must add
// to its log, so that it has that of h. The thoughts of the earlier state are the first
// of entries. If its proofs are, too, the others are added as they are. Otherwise they
// get new proofs, and h the end of the store's chain.
func (h *Header) Join(now Header, have, entries []Entry) []Entry {
	if continues(have, entries) {
		return entries[len(have):]
	}
	return h.graft(&now, entries)
}

// graft returns the entries after the thoughts of an earlier state, and what they do
// not say of h, with new proofs.
func (h *Header) graft(now *Header, entries []Entry) []Entry {
	first := now.Len // the index of the first entry after the thoughts that the store has
	for i := range entries {
		if entries[i].Kind == KindThought && entries[i].Thought.Seq == now.Len {
			first = i + 1
		}
	}
	tail := slices.Clone(entries[first:])
	if body := restated(now, h, tail); len(body) > 0 {
		tail = append(tail, Entry{Kind: KindHeader, At: h.Updated, Body: body})
	}
	h.Entries, h.Head = now.Entries, now.Head
	h.Prove(tail)
	return tail
}

// continues reports whether the entries begin with those of the store.
func continues(have, entries []Entry) bool {
	if len(have) > len(entries) {
		return false
	}
	for i := range have {
		if !sameEntry(&have[i], &entries[i]) {
			return false
		}
	}
	return true
}

// sameEntry reports whether two entries have the same proof, or none and the same
// thought. A text may be masked in one of them.
func sameEntry(a, b *Entry) bool {
	if a.Proven() || b.Proven() {
		return a.Place == b.Place && a.Hash == b.Hash
	}
	return sameThought(a.Thought, b.Thought)
}

// restated returns the fields in which h differs from what follows from an earlier
// header and the entries after it.
func restated(now, h *Header, tail []Entry) Body {
	said := now.fields()
	for i := range tail {
		e := &tail[i]
		switch e.Kind {
		case KindThought:
			said["state"] = string(stateAfter(e.Thought.Draft))
			said["title"] = cmp.Or(said["title"], title(e.Thought.Text))
		case KindHeader:
			for name, v := range e.Body {
				said[name], _ = v.(string)
			}
		}
	}
	body := make(Body)
	fields := h.fields()
	for name := range fields {
		if fields[name] != said[name] {
			body[name] = fields[name]
		}
	}
	for name := range said {
		if fields[name] != said[name] {
			body[name] = fields[name]
		}
	}
	return body
}

// compare returns what Restore has to add to the store's session.
func compare(now Header, have []Entry, h Header, entries []Entry) (Restored, error) {
	if seq := difference(have, entries); seq > 0 {
		return 0, &Error{
			Code: CodeSessionExists, Field: "sessionId",
			Msg: fmt.Sprintf("there is another session %q: they differ from thought %d of the log on", h.ID, seq),
			Fix: "delete that session first, or keep it",
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

// difference returns the Seq of the first thought in which two logs differ, as far as
// both go, and 0 if they do not.
func difference(have, entries []Entry) int {
	thought := func(e Entry) bool { return e.Kind == KindThought }
	for {
		i, j := slices.IndexFunc(have, thought), slices.IndexFunc(entries, thought)
		if i < 0 || j < 0 {
			return 0
		}
		a, b := &have[i], &entries[j]
		if !(a.Proven() && sameEntry(a, b)) && !sameThought(a.Thought, b.Thought) {
			return a.Thought.Seq
		}
		have, entries = have[i+1:], entries[j+1:]
	}
}

// sameThought reports whether all fields but the time agree.
func sameThought(a, b Thought) bool {
	same := maps.Equal(a.Labels, b.Labels)
	a.Labels, b.Labels, a.At, b.At = nil, nil, time.Time{}, time.Time{}
	return same && reflect.DeepEqual(a, b)
}

func sameHeader(a, b Header) bool {
	return a.State == b.State && a.Title == b.Title && a.Scope == b.Scope && a.Dialect == b.Dialect && a.Context == b.Context &&
		a.Conclusion == b.Conclusion && maps.Equal(a.Labels, b.Labels) &&
		a.Created.Equal(b.Created) && a.Updated.Equal(b.Updated) && a.Expires.Equal(b.Expires)
}

// checkRestored refuses a log that the engine could not have recorded, and fills
// in the missing fields of the header.
func (e *Engine) checkRestored(h *Header, entries []Entry) error {
	if err := checkProofs(h, entries); err != nil {
		return err
	}
	l := newLedger(0)
	h.Bytes = 0
	for i := range entries {
		entry := &entries[i]
		h.Bytes += entry.size()
		if entry.Kind != KindThought {
			if err := checkOther(entry, e.limits); err != nil {
				return err
			}
			continue
		}
		if err := e.checkNextRestored(l, &entry.Thought); err != nil {
			return err
		}
		if h.Title == "" {
			h.Title = title(entry.Thought.Text)
		}
		l.push(entry.Thought)
		if exceeds(len(l.lines)-1, e.limits.Branches) {
			return &Error{
				Code: CodeLimitExceeded, Field: "branch",
				Msg: fmt.Sprintf("the session has more than %d branches, the limit", e.limits.Branches),
			}
		}
	}
	h.Len, h.Branches = l.n, len(l.lines)-1
	return e.checkRestoredHeader(h, entries)
}

// checkProofs refuses a log whose proofs do not verify, and sets the end of the chain
// and the number of thoughts in h.
func checkProofs(h *Header, entries []Entry) error {
	h.Len = 0
	var last *Entry
	for i := range entries {
		if entries[i].Proven() {
			last = &entries[i]
		}
		if entries[i].Kind == KindThought {
			h.Len++
		}
	}
	if last == nil {
		h.Entries, h.Head = 0, Hash{}
		return nil
	}
	if h.Entries == 0 {
		h.Entries, h.Head = last.Place, last.Hash
	}
	if v := Verify(*h, entries); v.Fault != nil {
		return &Error{
			Code: CodeInvalidSession, Field: "log",
			Msg: "the log is not what was recorded: " + v.Fault.String(),
			Fix: "use another copy, or remove the proofs from this one to import it without them",
		}
	}
	return nil
}

// checkNextRestored refuses a thought that cannot follow those of l.
func (e *Engine) checkNextRestored(l *ledger, t *Thought) error {
	i := l.n
	switch {
	case t.Seq != i+1:
		return invalidLog(i, "its place in the log is given as %d", t.Seq)
	case t.After < 0 || t.After > i:
		return invalidLog(i, "it follows thought %d, which is not before it", t.After)
	case t.Supersedes < 0 || t.Supersedes > i:
		return invalidLog(i, "it supersedes thought %d, which is not before it", t.Supersedes)
	}
	if err := checkDraft(&t.Draft, e.limits); err != nil {
		return err
	}
	if err := l.checkNext(&t.Draft, i, e.limits); err != nil {
		return err
	}
	return checkLabels(t.Labels, e.limits.Text)
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
	if err := checkOrigin(h.Scope, h.Dialect, e.limits); err != nil {
		return err
	}
	for name, value := range h.Context.fields() {
		if err := checkName(name, *value, maxContext, CodeInvalidSession); err != nil {
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
		return &Error{
			Code: CodeInvalidSession, Field: "expires",
			Msg: "the session has expired at " + h.Expires.Format("2006-01-02 15:04:05 UTC"),
			Fix: "remove its time of expiry to keep it",
		}
	}
	return nil
}

func invalidLog(i int, format string, args ...any) error {
	return &Error{
		Code: CodeInvalidThought, Field: "seq",
		Msg: fmt.Sprintf("thought %d of the log cannot be: ", i+1) + fmt.Sprintf(format, args...),
	}
}

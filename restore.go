package sequent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
// The caller must not change the log afterwards. Restore truncates its times to
// the precision of stores.
func (e *Engine) Restore(ctx context.Context, h Header, log []Thought) (Restored, error) {
	k, err := e.key(h.ID)
	if err != nil {
		return 0, err
	}
	h.Key = k
	if err := e.checkRestored(&h, log); err != nil {
		return 0, err
	}
	const maxAttempts = 100 // other writers may change the session meanwhile
	for attempt := 1; ; attempt++ {
		now, have, err := e.store.Load(ctx, k, Position{})
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
			if outcome, err = compare(now, have, h, log); err != nil || outcome == RestoredNothing {
				return outcome, err
			}
		}
		raced := false
		w := &Write{
			Base: now.Position(), Header: h, Thoughts: log[len(have):],
			Rebase: func(Header, bool, []Thought) bool { raced = true; return false },
		}
		w.Header.Epoch, w.Header.Version, w.Header.Len = cmp.Or(now.Epoch, newEpoch()), now.Version+1, len(log)
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

// compare returns what Restore has to add to the store's session.
func compare(now Header, have []Thought, h Header, log []Thought) (Restored, error) {
	for i := range min(len(have), len(log)) {
		if !sameThought(have[i], log[i]) {
			return 0, &Error{
				Code: CodeSessionExists, Field: "sessionId",
				Msg: fmt.Sprintf("there is another session %q: they differ from thought %d of the log on", h.ID, i+1),
				Fix: "delete that session first, or keep it",
			}
		}
	}
	switch {
	case len(log) > len(have):
		return RestoredMore, nil
	case len(log) < len(have) || !h.Updated.After(now.Updated) || sameHeader(now, h):
		return RestoredNothing, nil
	}
	return RestoredMore, nil
}

func sameThought(a, b Thought) bool {
	return a.Seq == b.Seq && a.After == b.After && a.Supersedes == b.Supersedes &&
		a.Number == b.Number && a.Total == b.Total && a.Text == b.Text && a.Note == b.Note &&
		a.Branch == b.Branch && a.From == b.From && a.Revises == b.Revises &&
		a.Revision == b.Revision && a.More == b.More && a.Extend == b.Extend &&
		a.Request == b.Request && maps.Equal(a.Labels, b.Labels)
}

func sameHeader(a, b Header) bool {
	return a.State == b.State && a.Title == b.Title && a.Scope == b.Scope && a.Dialect == b.Dialect &&
		a.Conclusion == b.Conclusion && maps.Equal(a.Labels, b.Labels) &&
		a.Created.Equal(b.Created) && a.Updated.Equal(b.Updated) && a.Expires.Equal(b.Expires)
}

// checkRestored refuses a log that the engine could not have recorded, and fills
// in the missing fields of the header. It truncates times in place.
func (e *Engine) checkRestored(h *Header, log []Thought) error {
	l := newLedger(0)
	for i := range log {
		t := &log[i]
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
		if err := checkLabels(t.Labels, e.limits.Text); err != nil {
			return err
		}
		t.At = precise(t.At)
		if h.Title == "" {
			h.Title = title(t.Text)
		}
		l.push(*t)
		if exceeds(len(l.lines)-1, e.limits.Branches) {
			return &Error{
				Code: CodeLimitExceeded, Field: "branch",
				Msg: fmt.Sprintf("the session has more than %d branches, the limit", e.limits.Branches),
			}
		}
	}
	h.Branches = len(l.lines) - 1
	return e.checkRestoredHeader(h, log)
}

func (e *Engine) checkRestoredHeader(h *Header, log []Thought) error {
	if err := checkState(h.State); err != nil {
		return err
	}
	if err := checkOrigin(h.Scope, h.Dialect, e.limits); err != nil {
		return err
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

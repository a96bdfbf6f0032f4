package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
)

// A RenameConfig describes how the sessions of an owner get another owner.
type RenameConfig struct {
	Store    sequent.Store
	From, To string              // two owners
	DryRun   bool                // only count, and look for conflicts
	Failed   func(Result)        // called for each session that stays with From; nil for none
	Progress func(sessions int)  // called after each session, with the number of those that To has; nil for none
	Now      func() time.Time    // nil means time.Now
	moved    func(k sequent.Key) // for tests: a session was copied, and is not closed yet
}

// A Renamed counts the sessions that have another owner.
type Renamed struct {
	Sessions int `json:"sessions"`
	Thoughts int `json:"thoughts"`
	Failed   int `json:"failed"`
}

// Rename gives the sessions of an owner to another one, with their logs, chains, epochs and
// times. If both owners have a session of the same ID, it changes nothing, and the error is
// one of CodeSessionExists that names them.
//
// Programs may use the sessions meanwhile: each session belongs to From with all that was
// recorded in it, until To has the same and From's does not accept anything any more. If
// Rename is interrupted, the same call completes it.
func Rename(ctx context.Context, cfg RenameConfig) (Renamed, error) {
	r := &renaming{RenameConfig: cfg}
	if r.Failed == nil {
		r.Failed = func(Result) {}
	}
	if r.Progress == nil {
		r.Progress = func(int) {}
	}
	if r.moved == nil {
		r.moved = func(sequent.Key) {}
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	r.engine = sequent.New(sequent.Config{Store: cfg.Store, Now: r.Now}).Owned(cfg.From).WithoutTexts()
	sessions, err := r.check(ctx)
	if err != nil {
		return Renamed{}, err
	}
	if cfg.DryRun {
		for _, h := range sessions {
			r.sum.Sessions++
			r.sum.Thoughts += h.Len
		}
		return r.sum, nil
	}
	err = r.moveAll(ctx, sessions)
	return r.sum, err
}

// A renaming is the work of Rename.
type renaming struct {
	RenameConfig
	engine *sequent.Engine // of From

	mu  sync.Mutex // guards the fields below
	sum Renamed
	err error // of the store, which ends the work
}

// labelMoved is a label of a session that is closed: it belongs to another owner now, the value
// of the label, and is about to be deleted. Its expiry is closedAt.
const labelMoved = "moved-to"

// closedAt is the expiry of sessions that are closed, in the past by any clock.
var closedAt = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// closed reports whether From's session is complete in To's and does not accept anything any
// more. The label alone does not tell: an imported session can have it.
func (r *renaming) closed(h sequent.Header) bool {
	return h.Labels[labelMoved] == r.To && h.Expires.Equal(closedAt)
}

// maxGrown is how often a session is copied that keeps growing. After the first time only
// what is new is.
const maxGrown = 50

// maxNamed is how many sessions an error names.
const maxNamed = 5

// check returns the sessions to move, and refuses IDs that both owners have.
func (r *renaming) check(ctx context.Context) ([]sequent.Header, error) {
	theirs := make(map[sequent.ID]int64) // epochs of To's sessions
	if err := r.each(ctx, r.To, func(h sequent.Header) {
		if !h.Expired(r.Now()) {
			theirs[h.ID] = h.Epoch
		}
	}); err != nil {
		return nil, err
	}
	var sessions []sequent.Header
	var both []string
	if err := r.each(ctx, r.From, func(h sequent.Header) {
		closed := r.closed(h)
		if h.Expired(r.Now()) && !closed {
			return // it does not exist any more
		}
		if epoch, exists := theirs[h.ID]; exists && epoch != h.Epoch && !closed { // equal after an interruption
			both = append(both, string(h.ID))
		}
		sessions = append(sessions, h)
	}); err != nil {
		return nil, err
	}
	if len(both) > 0 {
		named := strings.Join(both[:min(len(both), maxNamed)], ", ")
		if len(both) > maxNamed {
			named += fmt.Sprintf(" and %d more", len(both)-maxNamed)
		}
		return nil, &sequent.Error{
			Code: sequent.CodeSessionExists, Field: "sessionId",
			Msg: fmt.Sprintf("%q and %q both have a session of this ID: %s", r.From, r.To, named),
			Fix: "delete one of the two, with sequent delete ID --owner NAME; nothing was changed",
		}
	}
	return sessions, nil
}

// each calls do for all sessions of an owner, expired or not.
func (r *renaming) each(ctx context.Context, owner string, do func(sequent.Header)) error {
	for q := (sequent.Query{Owner: owner, Limit: 500}); ; {
		page, err := r.Store.List(ctx, q)
		if err != nil {
			return err
		}
		for _, h := range page.Headers {
			do(h)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}

// moveAll moves sessions, several at a time.
func (r *renaming) moveAll(ctx context.Context, sessions []sequent.Header) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, maxLookups)
	for _, h := range sessions {
		slots <- struct{}{}
		r.mu.Lock()
		err := r.err
		r.mu.Unlock()
		if err != nil {
			return err
		}
		wg.Go(func() {
			defer func() { <-slots }()
			n, err := r.move(ctx, h.ID)
			r.count(h, n, err)
		})
	}
	wg.Wait()
	return r.err
}

// count counts a session of n thoughts that was moved, or why it was not.
func (r *renaming) count(h sequent.Header, n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, sequent.ErrNotFound): // deleted meanwhile
	case err == nil:
		r.sum.Sessions++
		r.sum.Thoughts += n
		r.Progress(r.sum.Sessions)
	case ofSession(err):
		r.sum.Failed++
		r.Failed(Result{Key: h.Key, Title: h.Title, Err: err})
	case r.err == nil:
		r.err = err
	}
}

// errGrown says that a session was changed after it was copied.
var errGrown = errors.New("transfer: the session has changed")

// move moves a session and returns how many thoughts it has.
func (r *renaming) move(ctx context.Context, id sequent.ID) (thoughts int, err error) {
	from := sequent.Key{Owner: r.From, ID: id}
	for range maxGrown {
		var h sequent.Header
		h, err = r.copy(ctx, from)
		if err == nil && !r.closed(h) {
			r.moved(from)
			err = r.close(ctx, h)
		}
		switch {
		case err == errGrown:
			err = nil
			continue // copy the rest
		case err != nil:
			return 0, err
		}
		if err = r.Store.Delete(ctx, from, h.Epoch); errors.Is(err, sequent.ErrNotFound) {
			err = nil // swept, as it has expired
		}
		return h.Len, err
	}
	return 0, &sequent.Error{
		Code: sequent.CodeConflict, Field: "sessionId",
		Msg: fmt.Sprintf("the session %q keeps changing", id), Fix: "run the same command again when it is not in use",
	}
}

// copy adds to To's session what it lacks of From's, and returns From's header. A session
// that is closed is complete in To's.
func (r *renaming) copy(ctx context.Context, from sequent.Key) (sequent.Header, error) {
	to := sequent.Key{Owner: r.To, ID: from.ID}
	var base sequent.Position
	now, _, err := r.Store.Load(ctx, to, base, 1)
	switch exists := err == nil; {
	case exists && now.Expired(r.Now()): // it does not exist for any program
		if err := r.Store.Delete(ctx, to, now.Epoch); err != nil && !errors.Is(err, sequent.ErrNotFound) {
			return sequent.Header{}, err
		}
	case exists:
		base = now.Position()
	case !errors.Is(err, sequent.ErrNotFound):
		return sequent.Header{}, err
	}
	h, tail, err := r.Store.Load(ctx, from, base, 0)
	if err != nil || r.closed(h) {
		return h, err
	}
	if h.Expired(r.Now()) {
		return h, sequent.ErrNotFound
	}
	if base.Version > 0 && (h.Epoch != base.Epoch || !h.Continues(base, tail)) {
		return h, &sequent.Error{
			Code: sequent.CodeSessionExists, Field: "sessionId",
			Msg: fmt.Sprintf("%q and %q both have a session %q, and each has thoughts that the other lacks", r.From, r.To, from.ID),
			Fix: "delete one of the two, with sequent delete ID --owner NAME",
		}
	}
	if h.Version <= base.Version {
		return h, nil // copied before an interruption
	}
	raced := false
	w := &sequent.Write{
		Base: base, Header: h, Entries: tail,
		Rebase: func(sequent.Header, bool, []sequent.Entry) bool { raced = true; return false },
	}
	w.Header.Key = to
	if err := r.Store.Commit(ctx, []*sequent.Write{w}); err != nil {
		return h, err
	}
	if raced {
		return h, errGrown
	}
	return h, w.Err
}

// close makes From's session one that has expired, unless it has changed since it was
// copied. Nothing can be recorded in it from then on, by any program.
func (r *renaming) close(ctx context.Context, copied sequent.Header) error {
	_, err := r.engine.Update(ctx, copied.ID, func(c *sequent.Change) error {
		if c.Session().Position() != copied.Position() {
			return errGrown
		}
		c.SetLabel(labelMoved, r.To)
		c.ExpireAt(closedAt)
		return nil
	})
	return err
}

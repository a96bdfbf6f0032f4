// Package transfer copies sessions between stores.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive/importer"
)

// A Result is the outcome of copying one session.
type Result struct {
	Key      sequent.Key
	Title    string
	Outcome  importer.Outcome
	Thoughts int   // copied
	Err      error // reason of a failure, which does not stop the copy
}

// A Summary counts sessions by outcome.
type Summary struct {
	Added     int `json:"added"`
	Extended  int `json:"extended"`
	Unchanged int `json:"unchanged"`
	Failed    int `json:"failed"`
	Thoughts  int `json:"thoughts"` // copied
}

// A Config describes a copy.
type Config struct {
	From, To sequent.Store
	Report   func(Result)  // called for each session except unchanged ones; nil for none
	Progress func(Summary) // called after each batch; nil for none
}

// Copy copies the sessions of all owners from one store to another, with their
// epochs and versions, so that followers of a session can continue with the copy.
// Each session is copied as a whole or not at all, and only what the target lacks
// is copied, so an interrupted copy can be run again. Both stores may be in use.
//
// The summary is valid even if there is an error.
func Copy(ctx context.Context, cfg Config) (Summary, error) {
	c := &copier{from: cfg.From, to: cfg.To, report: cfg.Report, progress: cfg.Progress, failed: make(map[sequent.Key]bool)}
	if c.report == nil {
		c.report = func(Result) {}
	}
	if c.progress == nil {
		c.progress = func(Summary) {}
	}
	err := c.run(ctx)
	return c.sum, err
}

type copier struct {
	from, to sequent.Store
	report   func(Result)
	progress func(Summary)

	sum        Summary
	secondPass bool                 // unchanged sessions are counted already
	failed     map[sequent.Key]bool // reported failures
}

// Limits of one commit, except for a single session that is longer. A commit costs
// about one network round trip or disk write, and memory for its thoughts.
const (
	maxSessions = 64
	maxThoughts = 2000
	maxLookups  = 8  // concurrent
	maxTries    = 10 // of a session that keeps changing in the target
)

// run copies everything. A session that changes during the first pass moves to
// the front of the listing, so a second pass looks at the sessions that were
// updated since the first one began.
func (c *copier) run(ctx context.Context) error {
	first, err := c.from.List(ctx, sequent.Query{AllOwners: true, Limit: 1})
	if err != nil || len(first.Headers) == 0 {
		return err
	}
	if err := c.pass(ctx, time.Time{}); err != nil {
		return err
	}
	c.secondPass = true
	return c.pass(ctx, first.Headers[0].Updated)
}

// pass copies the sessions that were updated at or after since.
func (c *copier) pass(ctx context.Context, since time.Time) error {
	q := sequent.Query{AllOwners: true, Since: since, Limit: 500, Now: time.Now()}
	for {
		page, err := c.from.List(ctx, q)
		if err != nil {
			return err
		}
		for rest := page.Headers; len(rest) > 0; {
			n, thoughts := 0, 0
			for n < len(rest) && n < maxSessions && (n == 0 || thoughts+rest[n].Len <= maxThoughts) {
				thoughts += rest[n].Len
				n++
			}
			if err := c.chunk(ctx, rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		if page.Next == "" {
			return nil
		}
		q.Cursor = page.Next
	}
}

// A step is the work on one session.
type step struct {
	Result
	write *sequent.Write // nil if there is nothing to write
	raced bool           // the session changed in the target in the meantime
}

// chunk copies sessions with one commit.
func (c *copier) chunk(ctx context.Context, headers []sequent.Header) error {
	steps := make([]*step, len(headers))
	faults := make([]error, len(headers))
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxLookups)
	for i := range headers {
		slots <- struct{}{}
		wg.Go(func() {
			steps[i], faults[i] = c.plan(ctx, headers[i])
			<-slots
		})
	}
	wg.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	if err := c.commit(ctx, steps); err != nil {
		return err
	}
	for i, s := range steps {
		for tries := 0; s.raced; tries++ {
			if tries == maxTries {
				s.raced, s.Outcome, s.Thoughts = false, importer.Failed, 0
				s.Err = &sequent.Error{
					Code: sequent.CodeConflict, Field: "sessionId",
					Msg: fmt.Sprintf("the session %q keeps changing in the target store", s.Key.ID), Fix: "copy again when it is not in use",
				}
				break
			}
			var err error
			if s, err = c.plan(ctx, headers[i]); err != nil {
				return err
			}
			if err := c.commit(ctx, []*step{s}); err != nil {
				return err
			}
		}
		c.count(s)
	}
	c.progress(c.sum)
	return nil
}

// count counts a session, and reports it unless it is unchanged.
func (c *copier) count(s *step) {
	switch s.Outcome {
	case importer.Added:
		c.sum.Added++
	case importer.Extended:
		c.sum.Extended++
	case importer.Failed:
		if c.failed[s.Key] {
			return
		}
		c.failed[s.Key] = true
		c.sum.Failed++
	case importer.Unchanged:
		if !c.secondPass {
			c.sum.Unchanged++
		}
		return
	default:
		return // deleted in the source
	}
	c.sum.Thoughts += s.Thoughts
	c.report(s.Result)
}

// commit commits the writes of steps. It returns an error of the store, which ends
// the copy. An error of a session goes into its step.
func (c *copier) commit(ctx context.Context, steps []*step) error {
	var batch []*sequent.Write
	var of []*step
	for _, s := range steps {
		if s.write != nil {
			batch, of = append(batch, s.write), append(of, s)
		}
	}
	if len(batch) == 0 {
		return nil
	}
	err := c.to.Commit(ctx, batch)
	switch {
	case err != nil && !ofSession(err):
		return err
	case err != nil && len(of) > 1: // nothing is stored: commit one by one to find the faulty session
		for _, s := range of {
			if err := c.commit(ctx, []*step{s}); err != nil {
				return err
			}
		}
		return nil
	case err != nil:
		of[0].fail(err)
		return nil
	}
	for _, s := range of {
		if s.write.Err != nil {
			if !ofSession(s.write.Err) {
				return s.write.Err
			}
			s.fail(s.write.Err)
		}
	}
	return nil
}

func (s *step) fail(err error) {
	s.Outcome, s.Thoughts, s.Err, s.write = importer.Failed, 0, err, nil
}

// ofSession reports whether an error concerns one session, so that others can
// still be copied.
func ofSession(err error) bool {
	switch sequent.CodeOf(err) {
	case sequent.CodeCorrupt, sequent.CodeLimitExceeded, sequent.CodeConflict, sequent.CodeSessionExists,
		sequent.CodeInvalidThought, sequent.CodeInvalidSession, sequent.CodeInternal:
		return true
	}
	return false
}

// plan determines what the target lacks of a session.
func (c *copier) plan(ctx context.Context, listed sequent.Header) (*step, error) {
	k := listed.Key
	s := &step{Result: Result{Key: k, Title: listed.Title, Outcome: importer.Unchanged}}
	now, have, err := c.to.Load(ctx, k, listed.Position(), 0)
	exists := err == nil
	switch {
	case exists && sameHeader(now, listed, true):
		return s, nil
	case exists && now.Epoch == listed.Epoch:
		now, have, err = c.to.Load(ctx, k, sequent.Position{}, 0)
	}
	if errors.Is(err, sequent.ErrNotFound) {
		exists, now, have, err = false, sequent.Header{}, nil, nil
	}
	var h sequent.Header
	var log []sequent.Entry
	if err == nil {
		h, log, err = c.from.Load(ctx, k, sequent.Position{}, 0)
	}
	switch {
	case errors.Is(err, sequent.ErrNotFound):
		s.Outcome = "" // deleted in the source
		return s, nil
	case err != nil && ofSession(err):
		s.fail(err)
		return s, nil
	case err != nil:
		return nil, err
	}
	if exists {
		lacks, err := lacking(now, have, h, log)
		if err != nil && now.Expired(time.Now()) {
			if err := c.to.Delete(ctx, k, now.Epoch); err != nil && !errors.Is(err, sequent.ErrNotFound) {
				return nil, err
			}
			exists, now, have = false, sequent.Header{}, nil
		} else if err != nil {
			s.fail(err)
			return s, nil
		} else if !lacks {
			return s, nil
		}
	}
	s.Outcome, s.Thoughts = importer.Added, h.Len-now.Len
	tail := h.Join(now, have, log)
	if exists {
		s.Outcome = importer.Extended
		h.Epoch, h.Version = now.Epoch, max(h.Version, now.Version+1)
	}
	s.write = &sequent.Write{
		Base: now.Position(), Header: h, Entries: tail,
		Rebase: func(sequent.Header, bool, []sequent.Entry) bool { s.raced = true; return false },
	}
	return s, nil
}

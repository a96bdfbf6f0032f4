package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive/importer"
)

// A Copied is what became of a session that was copied.
type Copied struct {
	Key      sequent.Key
	Title    string
	Outcome  importer.Outcome
	Thoughts int   // that were brought
	Err      error // why it failed; the others go on
}

// A CopySummary counts sessions by what became of them.
type CopySummary struct {
	Added, Extended, Unchanged, Failed int
	Thoughts                           int // that were brought
}

// A copier brings the sessions of one store into another, as they are: also
// their epochs and versions, so that who follows them can go on. Each comes over
// as a whole or not at all, and what the other store has it does not get again,
// so that a copier that was stopped at any moment can be run again.
type copier struct {
	from, to sequent.Store
	now      func() time.Time
	report   func(Copied)      // of sessions that are not unchanged
	progress func(CopySummary) // after some

	sum  CopySummary
	late bool // this is about what changed meanwhile: the rest has been counted

	failed map[sequent.Key]bool // and told
}

// One commit has so much, but for a session that is longer: it costs about one
// round trip, or one write to the disk, and little memory.
const (
	copySessions = 64
	copyThoughts = 2000
	copyLookups  = 8 // at a time
)

// run copies everything. A session that changes meanwhile is listed anew, among
// those that changed last, and so is looked at once more at the end.
func (c *copier) run(ctx context.Context) error {
	c.failed = make(map[sequent.Key]bool)
	first, err := c.from.List(ctx, sequent.Query{AllOwners: true, Limit: 1})
	if err != nil || len(first.Headers) == 0 {
		return err
	}
	if err := c.pass(ctx, time.Time{}); err != nil {
		return err
	}
	c.late = true
	return c.pass(ctx, first.Headers[0].Updated)
}

// pass copies the sessions that were updated since a time.
func (c *copier) pass(ctx context.Context, since time.Time) error {
	q := sequent.Query{AllOwners: true, Since: since, Limit: 500, Now: c.now()}
	for {
		page, err := c.from.List(ctx, q)
		if err != nil {
			return err
		}
		for rest := page.Headers; len(rest) > 0; {
			n, thoughts := 0, 0
			for n < len(rest) && n < copySessions && (n == 0 || thoughts+rest[n].Len <= copyThoughts) {
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

// A step is what is to be done about a session.
type step struct {
	Copied
	write *sequent.Write // nil for nothing
	raced bool           // somebody has changed it in the other store meanwhile
}

// chunk copies some sessions.
func (c *copier) chunk(ctx context.Context, headers []sequent.Header) error {
	steps := make([]*step, len(headers))
	faults := make([]error, len(headers))
	var wg sync.WaitGroup
	turns := make(chan struct{}, copyLookups)
	for i := range headers {
		turns <- struct{}{}
		wg.Go(func() {
			steps[i], faults[i] = c.plan(ctx, headers[i])
			<-turns
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
			if tries == 10 {
				s.raced, s.Outcome, s.Thoughts = false, importer.Failed, 0
				s.Err = &sequent.Error{
					Code: sequent.CodeConflict, Field: "sessionId",
					Msg: fmt.Sprintf("the session %q keeps changing in the store that it is copied to", s.Key.ID), Fix: "copy again when it is quiet",
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

// count counts a session, and reports it if anything happened to it.
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
		if !c.late {
			c.sum.Unchanged++
		}
		return
	default:
		return // it is gone
	}
	c.sum.Thoughts += s.Thoughts
	c.report(s.Copied)
}

// commit makes the writes of steps. An error is one of the store, after which it
// makes no sense to go on; what is wrong with a session goes into its step.
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
	case err != nil && len(of) > 1: // nothing is stored: find out whose fault it is
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

// ofSession reports whether an error is of one session, so that others may do.
func ofSession(err error) bool {
	switch sequent.CodeOf(err) {
	case sequent.CodeCorrupt, sequent.CodeLimitExceeded, sequent.CodeConflict, sequent.CodeSessionExists,
		sequent.CodeInvalidThought, sequent.CodeInvalidSession, sequent.CodeInternal:
		return true
	}
	return false
}

// plan finds out what the other store lacks of a session.
func (c *copier) plan(ctx context.Context, listed sequent.Header) (*step, error) {
	k := listed.Key
	s := &step{Copied: Copied{Key: k, Title: listed.Title, Outcome: importer.Unchanged}}
	now, have, err := c.to.Load(ctx, k, listed.Position())
	exists := err == nil
	switch {
	case exists && sameHeader(now, listed, true):
		return s, nil
	case exists && now.Epoch == listed.Epoch:
		now, have, err = c.to.Load(ctx, k, sequent.Position{})
	}
	if errors.Is(err, sequent.ErrNotFound) {
		exists, now, have, err = false, sequent.Header{}, nil, nil
	}
	var h sequent.Header
	var log []sequent.Thought
	if err == nil {
		h, log, err = c.from.Load(ctx, k, sequent.Position{})
	}
	switch {
	case errors.Is(err, sequent.ErrNotFound):
		s.Outcome = "" // deleted meanwhile
		return s, nil
	case err != nil && ofSession(err):
		s.fail(err)
		return s, nil
	case err != nil:
		return nil, err
	}
	if exists {
		lacks, err := lacking(now, have, h, log)
		if err != nil && now.Expired(c.now()) { // it is as good as gone
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
	s.Outcome, s.Thoughts = importer.Added, len(log)-len(have)
	if exists {
		s.Outcome = importer.Extended
		h.Epoch, h.Version = now.Epoch, max(h.Version, now.Version+1)
	}
	s.write = &sequent.Write{
		Base: now.Position(), Header: h, Thoughts: log[len(have):],
		Rebase: func(sequent.Header, bool, []sequent.Thought) bool { s.raced = true; return false },
	}
	return s, nil
}

// Package indexer decides when the search index of an SQL store is updated: soon
// after commits, but not while the store is being written to, because indexing
// slows writers down.
package indexer

import (
	"context"
	"sync/atomic"
	"time"
)

// Limits of an indexer.
const (
	BatchSize    = 500     // thoughts per transaction
	BatchBytes   = 4 << 20 // text per transaction
	MaxUnindexed = 1000    // thoughts that a search reads before it calls Expedite

	writePause = 250 * time.Millisecond // without a commit, before the index is updated
	maxBacklog = 10_000                 // thoughts that wait for a pause
)

// A Schedule tells a goroutine when to update the index.
type Schedule struct {
	commits   chan struct{} // capacity one
	expedited chan struct{} // capacity one
	committed atomic.Int64  // sum of the arguments of Committed
	indexed   atomic.Int64  // the argument of Indexed
}

// NewSchedule returns a schedule on which nothing is due.
func NewSchedule() *Schedule {
	return &Schedule{commits: make(chan struct{}, 1), expedited: make(chan struct{}, 1)}
}

// Committed makes an update due after the next pause in writing. A commit of n
// thoughts has just returned; n may be 0 to make an update due without one.
func (s *Schedule) Committed(n int) {
	s.committed.Add(int64(n))
	select {
	case s.commits <- struct{}{}:
	default:
	}
}

// Mark returns the number of thoughts that were committed so far, for Indexed.
func (s *Schedule) Mark() int64 { return s.committed.Load() }

// Indexed tells that the index has all thoughts that were committed before a Mark.
func (s *Schedule) Indexed(mark int64) { s.indexed.Store(mark) }

// Lag returns how many thoughts were committed since the index was last complete.
func (s *Schedule) Lag() int64 { return s.committed.Load() - s.indexed.Load() }

// Expedite makes an update due at once, because a search has to read much of the
// store without the index.
func (s *Schedule) Expedite() {
	select {
	case s.expedited <- struct{}{}:
	default:
	}
}

// Wait waits until an update is due or retry fires. It returns ctx.Err() if ctx
// ends first.
func (s *Schedule) Wait(ctx context.Context, retry <-chan time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.expedited:
		return nil
	case <-retry:
		return nil
	case <-s.commits:
	}
	start := s.committed.Load()
	for before, now := int64(-1), start; now != before && now-start < maxBacklog; now = s.committed.Load() {
		before = now
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.expedited:
			return nil
		case <-time.After(writePause):
		}
	}
	select {
	case <-s.commits: // the update that is due now covers it
	default:
	}
	return nil
}

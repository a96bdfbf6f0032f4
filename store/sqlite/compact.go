package sqlite

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// A Residue says where text of deleted sessions may be left. The zero Residue means
// that no file of the store holds any.
type Residue struct {
	// Log is the size in bytes of the write-ahead log, if it could not be emptied because
	// another process reads it.
	Log     int64  `json:"log,omitempty"`
	LogFile string `json:"logFile,omitempty"` // its path
	// Deleted is the number of sessions that were deleted since the file was rewritten:
	// their text was overwritten, but SQLite may have left copies in unused parts of its
	// pages, and words in the index. [Store.Compact] removes them.
	Deleted int `json:"deleted,omitempty"`
}

// A Compaction is the result of [Store.Compact]. Sizes are in bytes, of the file and its log.
type Compaction struct {
	Before  int64   `json:"before"`
	After   int64   `json:"after"`
	Residue Residue `json:"residue,omitzero"`
}

// Compact rewrites the store's file without unused space and without text that was
// deleted. Writers wait meanwhile, and fail with [sequent.CodeBusy] if it takes longer than
// their busy timeout: about two seconds for 100 MiB. It needs as much free disk space as the
// file has twice. It calls progress with the Size of the store every 100 ms, unless progress
// is nil.
func (s *Store) Compact(ctx context.Context, progress func(bytes int64)) (Compaction, error) {
	c := Compaction{Before: s.Size()}
	if progress != nil {
		defer repeat(func() { progress(s.Size()) })()
	}
	err := s.withWriter(ctx, func(w *writer) error {
		_, err := w.conn.ExecContext(ctx, "INSERT INTO tool_words (tool_words) VALUES ('optimize'); VACUUM; UPDATE tool_state SET deleted = 0")
		w.failed = err != nil
		return err
	})
	if err != nil {
		if ctx.Err() != nil { // SQLite's own error is "interrupted"
			err = ctx.Err()
		}
		return c, s.wrap(err)
	}
	c.Residue, err = s.Erase(ctx)
	c.After = s.Size()
	return c, err
}

// Erase empties the write-ahead log, which may hold deleted text, and returns where some may
// be left.
func (s *Store) Erase(ctx context.Context) (r Residue, err error) {
	err = s.withWriter(ctx, func(w *writer) error {
		// Writers wait while the checkpoint waits for readers.
		_, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout=100; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout=%d", s.busyTimeout.Milliseconds()))
		if err != nil {
			w.failed = true
			return err
		}
		return w.conn.QueryRowContext(ctx, "SELECT deleted FROM tool_state").Scan(&r.Deleted)
	})
	if info, missing := os.Stat(s.path + "-wal"); missing == nil && info.Size() > 0 {
		r.Log, r.LogFile = info.Size(), s.path+"-wal"
	}
	return r, s.wrap(err)
}

// Size returns the size in bytes of the store's file and its write-ahead log.
func (s *Store) Size() (n int64) {
	for _, name := range []string{s.path, s.path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			n += info.Size()
		}
	}
	return n
}

// repeat calls do every 100 ms until stop is called.
func repeat(do func()) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				do()
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

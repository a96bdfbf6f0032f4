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
		return interrupted(ctx, err)
	})
	if err != nil {
		return c, s.wrap(err)
	}
	c.Residue, err = s.Erase(ctx)
	c.After = s.Size()
	return c, err
}

// interrupted returns the error of a context that has ended for SQLite's, which is "interrupted".
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Erase empties the write-ahead log, which may hold deleted text, and returns where some may
// be left.
func (s *Store) Erase(ctx context.Context) (r Residue, err error) {
	err = s.withWriter(ctx, func(w *writer) error {
		// Writers wait while the checkpoint waits for readers.
		_, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout=100; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout=%d", s.busyTimeout.Milliseconds()))
		if err == nil {
			err = w.conn.QueryRowContext(ctx, "SELECT deleted FROM tool_state").Scan(&r.Deleted)
		}
		w.failed = err != nil
		return err
	})
	if info, missing := os.Stat(s.path + "-wal"); missing == nil && info.Size() > 0 {
		r.Log, r.LogFile = info.Size(), s.path+"-wal"
	}
	return r, s.wrap(err)
}

// repeat calls do every 100 ms until stop is called.
func repeat(do func()) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
				do()
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

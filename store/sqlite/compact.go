package sqlite

import (
	"context"
	"os"
)

// A Compaction is the result of [Store.Compact]. Sizes are in bytes, of the file,
// its index and their logs.
type Compaction struct {
	Before  int64   `json:"before"`
	After   int64   `json:"after"`
	Residue Residue `json:"residue,omitzero"`
}

// Compact rewrites the store's file without unused space and without text that was
// deleted, and then calls Erase. Writers wait meanwhile, and fail with
// [sequent.CodeBusy] if it takes longer than their busy timeout: about a second for
// 100 MiB. It needs as much free disk space as the file has twice. A file of an
// older version gets the current layout. It calls progress with the Size of the store
// every 100 ms, unless progress is nil.
func (s *Store) Compact(ctx context.Context, progress func(bytes int64)) (Compaction, error) {
	c := Compaction{Before: s.Size()}
	if progress != nil {
		defer repeat(func() { progress(s.Size()) })()
	}
	err := s.withWriter(ctx, func(w *writer) error {
		for _, text := range []string{"PRAGMA auto_vacuum=INCREMENTAL", "VACUUM"} {
			if _, err := w.conn.ExecContext(ctx, text); err != nil {
				w.failed = true
				return err
			}
		}
		return nil
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

// IndexLag returns how many thoughts of this process may not be in the search index yet.
func (s *Store) IndexLag() int64 {
	if s.index == nil {
		return 0
	}
	return s.index.schedule.Lag()
}

// Size returns the size in bytes of the store's file, its index and their
// write-ahead logs.
func (s *Store) Size() (n int64) {
	for _, path := range []string{s.path, indexPath(s.path)} {
		for _, name := range []string{path, path + "-wal"} {
			if info, err := os.Stat(name); err == nil {
				n += info.Size()
			}
		}
	}
	return n
}

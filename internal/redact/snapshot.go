package redact

import (
	"context"
	"time"

	"github.com/sequent-dev/sequent"
)

// Snapshot returns the session of a log that is in no store, such as a redacted one.
func Snapshot(ctx context.Context, h sequent.Header, entries []sequent.Entry) (*sequent.Session, error) {
	store := sequent.NewMemoryStore()
	write := &sequent.Write{Header: h, Entries: entries}
	if err := store.Commit(ctx, []*sequent.Write{write}); err != nil {
		return nil, err
	}
	if write.Err != nil {
		return nil, write.Err
	}
	never := func() time.Time { return time.Time{} } // the copy outlives the session
	return sequent.New(sequent.Config{Store: store, Now: never}).Owned(h.Owner).Session(ctx, h.ID)
}

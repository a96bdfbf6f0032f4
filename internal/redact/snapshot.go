package redact

import (
	"context"
	"time"

	"github.com/sequent-dev/sequent"
)

// Snapshot returns the session of a log that is in no store, such as a redacted one.
func Snapshot(ctx context.Context, h sequent.Header, entries []sequent.Entry) (*sequent.Session, error) {
	store := sequent.NewMemoryStore()
	h.Expires = time.Time{}
	if err := store.Commit(ctx, []*sequent.Write{{Header: h, Entries: entries}}); err != nil {
		return nil, err
	}
	return sequent.New(sequent.Config{Store: store}).Owned(h.Owner).Session(ctx, h.ID)
}

package transfer

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent"
)

// DryRun returns a store that reads sessions from store and keeps changes in
// memory. Listings and searches do not see the changes.
func DryRun(store sequent.Store) sequent.Store {
	return &dryRun{Store: store, changes: sequent.NewMemoryStore()}
}

type dryRun struct {
	sequent.Store
	changes *sequent.MemoryStore // sessions that were written to
}

// Load implements [sequent.Store].
func (d *dryRun) Load(ctx context.Context, k sequent.Key, have sequent.Position, limit int) (sequent.Header, []sequent.Entry, error) {
	h, log, err := d.changes.Load(ctx, k, have, limit)
	if errors.Is(err, sequent.ErrNotFound) {
		return d.Store.Load(ctx, k, have, limit)
	}
	return h, log, err
}

// Commit implements [sequent.Store].
func (d *dryRun) Commit(ctx context.Context, batch []*sequent.Write) error {
	for _, w := range batch {
		k := w.Header.Key
		if _, _, err := d.changes.Load(ctx, k, sequent.Position{}, 0); !errors.Is(err, sequent.ErrNotFound) {
			continue
		}
		h, log, err := d.Store.Load(ctx, k, sequent.Position{}, 0)
		if errors.Is(err, sequent.ErrNotFound) {
			continue
		}
		if err == nil {
			err = d.changes.Commit(ctx, []*sequent.Write{{Header: h, Entries: log}})
		}
		if err != nil {
			return err
		}
	}
	return d.changes.Commit(ctx, batch)
}

// Delete implements [sequent.Store]. It deletes from the changes only: the engine
// deletes expired sessions of the store and treats them as missing anyway.
func (d *dryRun) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	if err := d.changes.Delete(ctx, k, epoch); !errors.Is(err, sequent.ErrNotFound) {
		return err
	}
	return nil
}

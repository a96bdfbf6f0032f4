package app

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/vault"
)

// Copies are the files outside the store that hold the text of a session. Exports and
// backups are not among them: their places are not recorded.
type Copies struct {
	Note vault.URI // of the dialect wiki; empty if there is none
	File string    // path of the session file of the dialect classic; empty if there is none
}

// Copies returns the copies of a session, which need not exist in the store.
func (a *App) Copies(ctx context.Context, k sequent.Key) (c Copies, err error) {
	v, err := a.Vaults()
	if err != nil {
		return Copies{}, err
	}
	if c.Note, err = v.Note(ctx, k.Owner, k.ID); err != nil {
		return c, err
	}
	dir, err := a.storageDir()
	if err != nil {
		return c, err
	}
	c.File, err = archive.Dir(dir).File(k)
	return c, err
}

// DeleteCopies deletes copies of a session. A note is deleted from the index as well.
func (a *App) DeleteCopies(ctx context.Context, k sequent.Key, c Copies) error {
	var err error
	if c.Note != "" {
		v, open := a.Vaults()
		if open != nil {
			return open
		}
		own, open := v.Existing(ctx, k.Owner)
		if open != nil {
			return open
		}
		err = own.DeleteNote(ctx, c.Note)
	}
	if c.File != "" {
		dir, located := a.storageDir()
		if located != nil {
			return errors.Join(err, located)
		}
		err = errors.Join(err, archive.Dir(dir).Remove(k))
	}
	return err
}

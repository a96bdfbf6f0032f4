package app

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// A RenamedOwner is what [App.RenameOwner] did.
type RenamedOwner struct {
	Sessions int
	Vault    string // new folder of the notes of the dialect wiki; empty if there is none
	Files    int    // session files of the dialect classic
}

// RenameOwner gives the sessions of an owner to another one; see [sequent.OwnerStore]. The
// owner's vault and session files go along, if they are on this machine. A dry run changes
// nothing.
func (a *App) RenameOwner(ctx context.Context, from, to string, dryRun bool) (done RenamedOwner, err error) {
	v, err := a.Vaults()
	if err != nil {
		return done, err
	}
	folder, err := v.Rename(from, to, true)
	if err != nil {
		return done, err
	}
	dir, err := a.storageDir()
	if err != nil {
		return done, err
	}
	if dryRun {
		usage, err := sequent.UsageOf(ctx, a.store, sequent.Query{Owner: from})
		for _, u := range usage {
			done.Sessions += u.Sessions
		}
		done.Vault = folder
		if err == nil {
			done.Files, err = archive.Dir(dir).RenameOwner(from, to, true)
		}
		return done, err
	}
	owners, ok := sequent.As[sequent.OwnerStore](a.store)
	if !ok {
		return done, &sequent.Error{Code: sequent.CodeReadOnly, Msg: "the store cannot rename an owner", Fix: "use SQLite or PostgreSQL"}
	}
	if done.Sessions, err = owners.RenameOwner(ctx, from, to); err != nil {
		return done, err
	}
	done.Files, err = archive.Dir(dir).RenameOwner(from, to, false)
	var vault error
	done.Vault, vault = v.Rename(from, to, false)
	return done, errors.Join(err, vault)
}

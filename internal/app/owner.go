package app

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/transfer"
)

// A RenamedOwner is what [App.RenameOwner] did.
type RenamedOwner struct {
	transfer.Renamed
	Vault string // new folder of the notes of the dialect wiki; empty if there is none
	Files int    // session files of the dialect classic
}

// RenameOwner gives the sessions of an owner to another one; see [transfer.Rename]. The
// owner's vault and session files go along, if they are on this machine. It sets Store of
// the configuration.
func (a *App) RenameOwner(ctx context.Context, cfg transfer.RenameConfig) (RenamedOwner, error) {
	var done RenamedOwner
	if a.store == nil { // there is no default store
		return done, nil
	}
	v, err := a.Vaults(false)
	if err != nil {
		return done, err
	}
	_, folder, err := v.Renamable(cfg.From, cfg.To)
	if err != nil {
		return done, err
	}
	dir, err := a.storageDir()
	if err != nil {
		return done, err
	}
	cfg.Store = a.store
	if cfg.DryRun {
		done.Renamed, err = transfer.Rename(ctx, cfg)
		done.Vault = folder
		if err == nil {
			done.Files, err = archive.Dir(dir).OwnerFiles(cfg.From)
		}
		return done, err
	}
	if err := a.writable(ctx); err != nil {
		return done, err
	}
	if done.Renamed, err = transfer.Rename(ctx, cfg); err != nil {
		return done, err
	}
	done.Files, err = archive.Dir(dir).RenameOwner(cfg.From, cfg.To)
	var vault error
	done.Vault, vault = v.Rename(cfg.From, cfg.To)
	return done, errors.Join(err, vault)
}

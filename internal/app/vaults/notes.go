package vaults

import (
	"context"
	"path/filepath"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// Note returns the URI of a session's note in an owner's vault; empty if there is no
// note or no vault. It writes nothing.
func (v *Vaults) Note(ctx context.Context, owner string, id sequent.ID) (vault.URI, error) {
	if !thinking.ValidID(id) {
		return "", nil
	}
	opened, err := vault.Open(vault.Config{Dir: v.ownersFolder(owner)})
	if err != nil {
		return "", nil //nolint:nilerr // without a vault there is no note
	}
	defer opened.Close() //nolint:errcheck // it only read
	uri, there, err := thinking.New(thinking.Config{Vault: opened}).Find(ctx, id)
	if err != nil || !there {
		return "", err
	}
	return uri, nil
}

// DeleteNote deletes a note from the vault and from the index.
func (v *Vaults) DeleteNote(ctx context.Context, owner string, uri vault.URI) error {
	o, err := v.existing(ctx, owner)
	if err != nil {
		return err
	}
	if err := o.vault.Delete(ctx, uri); err != nil {
		return err
	}
	return o.index.Refresh(ctx, uri)
}

// SessionNotes returns the folder with the notes of an owner's sessions, and whether
// it has any.
func (v *Vaults) SessionNotes(ctx context.Context, owner string) (folder string, some bool) {
	dir := v.ownersFolder(owner)
	folder = filepath.Join(dir, filepath.FromSlash(thinking.Folder))
	opened, err := vault.Open(vault.Config{Dir: dir})
	if err != nil {
		return folder, false
	}
	defer opened.Close() //nolint:errcheck // it only read
	for info, err := range opened.WalkFolder(ctx, thinking.Folder) {
		if err == nil && thinking.ValidID(sequent.ID(info.URI.Name())) {
			return folder, true
		}
	}
	return folder, false
}

func (v *Vaults) ownersFolder(owner string) string {
	return filepath.Join(v.config.Dir, ownersDir(owner))
}

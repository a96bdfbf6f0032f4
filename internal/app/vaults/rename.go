package vaults

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sequent-dev/sequent"
)

// Renamable returns the folder of an owner's vault and the one that it gets if it becomes
// another owner's; both are empty if the owner has no vault. It refuses a new owner who has
// notes already.
func (v *Vaults) Renamable(from, to string) (old, renamed string, err error) {
	old, renamed = v.ownersFolder(from), v.ownersFolder(to)
	if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	} else if err != nil {
		return "", "", err
	}
	entries, err := os.ReadDir(renamed)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	for _, e := range entries {
		if e.Name() != stateDir {
			return "", "", &sequent.Error{
				Code: sequent.CodeSessionExists, Field: "vault",
				Msg: fmt.Sprintf("both owners have notes: %s and %s", old, renamed),
				Fix: "move the notes of one folder elsewhere; nothing was changed",
			}
		}
	}
	return old, renamed, nil
}

// Rename makes the vault of an owner that of another one, and returns its new folder; empty
// if the owner has no vault. Programs that have the vault open notice it.
func (v *Vaults) Rename(from, to string) (string, error) {
	old, renamed, err := v.Renamable(from, to)
	if err != nil || old == "" {
		return "", err
	}
	// What a server leaves in a vault without notes can be made again.
	if err := os.RemoveAll(filepath.Join(renamed, stateDir)); err != nil {
		return "", err
	}
	if err := os.Remove(renamed); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return renamed, os.Rename(old, renamed)
}

package vaults

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// A Vault is one owner's folder of notes and what works on it.
type Vault struct {
	Notes     *vault.Vault
	Sessions  *thinking.Files
	Workflows *workflow.Workflows
	Editor    *edit.Editor
	Index     *index.Index

	engine *sequent.Engine // the owner's
	folder fs.FileInfo     // when it was opened
}

// openVault opens the vault of an owner.
func (v *Vaults) openVault(owner string) (*Vault, error) {
	cfg := v.config
	o := &Vault{engine: cfg.Engine.Owned(owner)}
	notes, err := vault.Open(vault.Config{Dir: v.Dir(owner), MaxNotes: cfg.MaxNotes})
	if err != nil {
		return nil, err
	}
	if o.folder, err = os.Stat(v.Dir(owner)); err != nil {
		return nil, errors.Join(err, notes.Close())
	}
	o.Notes, o.Sessions = notes, thinking.New(notes)
	o.Index = index.New(index.Config{Vault: notes, Embedder: cfg.Embedder, Model: cfg.Model, Log: cfg.Logger})
	o.Workflows = workflow.New(notes, cfg.Engine.Now)
	o.Editor = edit.New(edit.Config{Vault: notes, Now: cfg.Engine.Now, Protected: map[string]string{
		thinking.Folder:     "continue the session with sequential_thinking, which can revise a thought",
		"thinking/workflow": "use the tool workflow",
		"assumptions":       "use assumption_ledger with action update",
	}})
	return o, nil
}

func (o *Vault) close() error { return errors.Join(o.Index.Close(), o.Notes.Close()) }

// DeleteNote deletes a note from the vault and from the index.
func (o *Vault) DeleteNote(ctx context.Context, uri vault.URI) error {
	if err := o.Notes.Delete(ctx, uri, nil); err != nil {
		return err
	}
	return o.Index.Update(ctx)
}

// A SyncReport is the result of [Vault.Sync].
type SyncReport struct {
	index.Report
	Sessions int      `json:"sessions"` // whose note was written, or that were read from notes
	Problems []string `json:"problems"` // what could not be done, a sentence each
}

// Sync writes notes that are behind their sessions and brings the index up to date. With
// rebuild it also reads sessions from notes, and makes the index anew. It calls progress,
// unless that is nil, with how far the index is.
func (o *Vault) Sync(ctx context.Context, rebuild bool, progress func(index.Progress)) (out SyncReport, err error) {
	files, err := o.Sessions.Sync(ctx, o.engine, rebuild)
	if err != nil {
		return out, err
	}
	update := o.Index.Sync
	if rebuild {
		update = o.Index.Rebuild
	}
	out.Report, err = update(ctx, progress)
	out.Sessions, out.Problems = files.Notes+files.Read, []string{}
	for _, f := range files.Failed {
		out.Problems = append(out.Problems, string(f.URI)+": "+Reason(f.Err))
	}
	_, mistakes := o.Workflows.Definitions(ctx)
	for _, err := range append(out.Unreadable, mistakes...) {
		out.Problems = append(out.Problems, Reason(err))
	}
	if out.Partial {
		out.Problems = append(out.Problems, "notes with very many links: there are more relations than were counted")
	}
	if out.Warning != "" {
		out.Problems = append(out.Problems, out.Warning)
	}
	return out, err
}

// Reason returns what a caller may know of an error.
func Reason(err error) string {
	e, ok := errors.AsType[*sequent.Error](err)
	switch {
	case !ok || e.Code == sequent.CodeInternal:
		return "see the server's log"
	case e.Fix == "":
		return e.Msg
	}
	return e.Msg + "; " + e.Fix
}

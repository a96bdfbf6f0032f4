package wiki

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// A VaultConfig configures a [Vault].
type VaultConfig struct {
	Engine *sequent.Engine // of the owner's sessions; required
	Notes  vault.Config
	Index  index.Config // Vault and Dir are set by OpenVault
	Agent  string       // the author of answers to steps of workflows
	Logger *slog.Logger // required

	// Fallback is a folder for the index of a vault that is read-only. If it is empty, such
	// a vault cannot be opened.
	Fallback string
}

// A Vault is one owner's folder of notes and what works on it.
type Vault struct {
	Notes     *vault.Vault
	Sessions  *thinking.Files
	Workflows *workflow.Workflows
	Editor    *edit.Editor
	index     *index.Index
	engine    *sequent.Engine
	logger    *slog.Logger
}

// OpenVault opens a vault, which Close releases.
func OpenVault(ctx context.Context, cfg VaultConfig) (*Vault, error) {
	v := &Vault{engine: cfg.Engine, logger: cfg.Logger}
	notes, err := vault.Open(cfg.Notes)
	if err != nil {
		return nil, err
	}
	if err := cfg.findIndex(ctx, notes); err != nil {
		return nil, errors.Join(err, notes.Close())
	}
	now := cfg.Engine.Now
	cfg.Index.Vault = notes
	v.Notes, v.Sessions, v.index = notes, thinking.New(notes), index.New(cfg.Index)
	v.Workflows = workflow.New(workflow.Config{Vault: notes, Agent: cfg.Agent, Now: now})
	v.Editor = edit.New(edit.Config{Vault: notes, Now: now, Protected: map[string]string{
		thinking.Folder:     "continue the session with sequential_thinking, which can revise a thought",
		"thinking/workflow": "use the tool workflow",
		ledgerFolder:        "use assumption_ledger with action update",
	}})
	return v, nil
}

// findIndex sets the folder of the index of a vault that is read-only.
func (cfg *VaultConfig) findIndex(ctx context.Context, notes *vault.Vault) error {
	err := notes.Writable()
	code := sequent.CodeOf(err)
	if err == nil || cfg.Fallback == "" || code != vault.CodeReadOnly && code != vault.CodeFull {
		return err
	}
	cfg.Logger.WarnContext(ctx, "the vault is read-only: thoughts go into the store, and into notes once it is writable; its index is in the cache folder",
		"vault", notes.Dir(), "index", cfg.Fallback, "error", err)
	cfg.Index.Dir = cfg.Fallback
	return os.MkdirAll(cfg.Fallback, 0o700)
}

// Close releases the vault.
func (v *Vault) Close() error { return errors.Join(v.index.Close(), v.Notes.Close()) }

// Maintain writes what a crash has left unwritten.
func (v *Vault) Maintain(ctx context.Context) {
	if _, err := v.Editor.Resume(ctx); err != nil && ctx.Err() == nil {
		v.logger.WarnContext(ctx, "a move of a note that was interrupted was not completed; sync tries again", "error", err)
	}
	if _, err := v.Sessions.Sync(ctx, v.engine, false); err != nil && ctx.Err() == nil {
		v.logger.WarnContext(ctx, "notes that are behind their sessions were not written; sync tries again", "error", err)
	}
}

// Search finds notes, best first, as they are now. It calls progress, unless that is nil, while
// it indexes notes that have changed.
func (v *Vault) Search(ctx context.Context, q index.Query, progress func(index.Progress)) (index.Results, error) {
	return v.index.Search(ctx, q, progress)
}

// DeleteNote deletes a note from the vault and from the index.
func (v *Vault) DeleteNote(ctx context.Context, uri vault.URI) error {
	if err := v.Notes.Delete(ctx, uri, nil); err != nil {
		return err
	}
	_, err := v.index.Sync(ctx, nil)
	return err
}

// A SyncReport is the result of [Vault.Sync].
type SyncReport struct {
	index.Report
	Sessions int      `json:"sessions"` // whose note was written, or that were read from notes
	Problems []string `json:"problems"` // what could not be done, a sentence each
}

// Sync writes notes that are behind their sessions and brings the index up to date. With
// rebuild it also reads sessions from notes, and makes the index anew. It calls progress,
// unless that is nil, with the stage (reading or embedding) and how far it is.
func (v *Vault) Sync(ctx context.Context, rebuild bool, progress func(stage string, done, total float64)) (SyncReport, error) {
	if progress == nil {
		progress = func(string, float64, float64) {}
	}
	moved, err := v.Editor.Resume(ctx)
	var files thinking.Report
	if err == nil {
		files, err = v.Sessions.Sync(ctx, v.engine, rebuild)
	}
	if code := sequent.CodeOf(err); err != nil && code != vault.CodeReadOnly && code != vault.CodeFull {
		return SyncReport{}, err
	} // else the index may be on another disk
	update := v.index.Sync
	if rebuild {
		update = v.index.Rebuild
	}
	r, failed := update(ctx, func(p index.Progress) { progress(p.Stage, float64(p.Done), float64(p.Total)) })
	if err == nil {
		err = failed
	}
	out := SyncReport{Report: r, Sessions: files.Notes + files.Read, Problems: []string{}}
	for _, f := range files.Failed {
		out.Problems = append(out.Problems, string(f.URI)+": "+reason(f.Err))
	}
	for _, left := range r.Unreadable {
		out.Problems = append(out.Problems, reason(left))
	}
	_, mistakes := v.Workflows.Definitions(ctx)
	for _, mistake := range mistakes {
		out.Problems = append(out.Problems, reason(mistake))
	}
	if r.Partial {
		out.Problems = append(out.Problems, "notes with very many links: there are more relations than were counted")
	}
	if r.Warning != "" {
		out.Problems = append(out.Problems, r.Warning)
	}
	for _, m := range moved {
		for _, left := range m.Left {
			out.Problems = append(out.Problems, reason(left))
		}
	}
	return out, err
}

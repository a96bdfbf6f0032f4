package wiki

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"

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
	Notes  vault.Config    // Wrote is set by OpenVault
	Index  index.Config    // Vault and Dir are set by OpenVault
	Agent  string          // the author of answers to steps of workflows
	Logger *slog.Logger    // required

	// Fallback is a folder for the index of a vault that is read-only. If it is empty, such
	// a vault cannot be opened.
	Fallback string
}

// A Vault is one owner's folder of notes and what works on it. It indexes what this process
// writes before the next search, so that a write does not wait for the index.
type Vault struct {
	Notes     *vault.Vault
	Sessions  *thinking.Files
	Workflows *workflow.Workflows
	Editor    *edit.Editor
	index     *index.Index
	engine    *sequent.Engine
	logger    *slog.Logger

	updating chan struct{} // held while the index is updated, so that many calls cost what one does

	mu      sync.Mutex         // guards the fields below
	synced  bool               // this process has synced the index
	written map[vault.URI]bool // since the last search
}

// OpenVault opens a vault, which Close releases.
func OpenVault(ctx context.Context, cfg VaultConfig) (*Vault, error) {
	v := &Vault{engine: cfg.Engine, logger: cfg.Logger, written: make(map[vault.URI]bool), updating: make(chan struct{}, 1)}
	cfg.Notes.Wrote = v.wrote
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

// Maintain writes what a crash has left unwritten, and then keeps the index up to date
// until ctx is cancelled.
func (v *Vault) Maintain(ctx context.Context) {
	if _, err := v.Editor.Resume(ctx); err != nil && ctx.Err() == nil {
		v.logger.WarnContext(ctx, "a move of a note that was interrupted was not completed; sync tries again", "error", err)
	}
	if _, err := v.Sessions.Sync(ctx, v.engine, false); err != nil && ctx.Err() == nil {
		v.logger.WarnContext(ctx, "notes that are behind their sessions were not written; sync tries again", "error", err)
	}
	v.index.Watch(ctx)
}

// wrote records that a note was written.
func (v *Vault) wrote(uri vault.URI) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.written[uri] = true
}

// refresh brings the index up to date: with all notes the first time, then with those that
// this process has written. Changes of other programs are found by [index.Index.Watch].
func (v *Vault) refresh(ctx context.Context, progress func(index.Progress)) error {
	select {
	case v.updating <- struct{}{}:
	case <-ctx.Done():
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: ctx.Err()}
	}
	defer func() { <-v.updating }()
	v.mu.Lock()
	synced, written := v.synced, slices.Collect(maps.Keys(v.written))
	clear(v.written)
	v.mu.Unlock()
	var err error
	switch {
	case !synced:
		_, err = v.index.Sync(ctx, progress)
	case len(written) > 0:
		err = v.index.Refresh(ctx, written...)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.synced = synced || err == nil
	if err != nil {
		for _, uri := range written {
			v.written[uri] = true // for the next search
		}
	}
	return err
}

// Search finds notes, best first. It finds what this process has written before the call.
// It calls progress, unless that is nil, while it indexes the notes for the first time.
func (v *Vault) Search(ctx context.Context, q index.Query, progress func(index.Progress)) (index.Results, error) {
	if err := v.refresh(ctx, progress); err != nil {
		return index.Results{}, err
	}
	return v.index.Search(ctx, q)
}

// DeleteNote deletes a note from the vault and from the index.
func (v *Vault) DeleteNote(ctx context.Context, uri vault.URI) error {
	if err := v.Notes.Delete(ctx, uri, nil); err != nil {
		return err
	}
	return v.index.Refresh(ctx, uri)
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

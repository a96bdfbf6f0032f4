package vaults

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// Progress is called with the stage of an operation (sessions, reading or embedding)
// and how far it is.
type Progress = func(stage string, done, total float64)

// Sync brings sessions and notes into agreement and updates the index, as the tool
// sync does. With rebuild it also restores what was deleted from the notes of
// sessions, and rebuilds the index. The vault must exist.
func (v *Vaults) Sync(ctx context.Context, owner string, rebuild bool, progress Progress) (wiki.SyncReport, error) {
	o, err := v.existing(ctx, owner)
	if err != nil {
		return wiki.SyncReport{}, err
	}
	return o.graph.sync(ctx, rebuild, progress)
}

// Search updates the index and finds notes. The vault must exist.
func (v *Vaults) Search(ctx context.Context, owner string, q index.Query, progress Progress) (index.Results, error) {
	o, err := v.existing(ctx, owner)
	if err != nil {
		return index.Results{}, err
	}
	if _, err := o.index.Sync(ctx, func(p index.Progress) { progress(p.Stage, float64(p.Done), float64(p.Total)) }); err != nil {
		return index.Results{}, err
	}
	return o.index.Search(ctx, q)
}

// existing opens a vault, unless its folder is missing.
func (v *Vaults) existing(ctx context.Context, owner string) (*opened, error) {
	dir := v.ownersFolder(owner)
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, noVault(dir)
	}
	return v.vault(ctx, owner)
}

func noVault(dir string) error {
	return &sequent.Error{
		Code: vault.CodeUnavailable,
		Msg:  "there is no folder " + dir,
		Fix:  "name the folder of your notes with --vault DIR, or run sequent serve --dialect wiki, which creates one",
	}
}

// A Finding is a problem or a difference that Check reports.
type Finding struct {
	Problem    string     `json:"problem"`            // a word for programs
	Place      string     `json:"place,omitempty"`    // the URI of a note, or the path of a file in the vault
	Session    sequent.ID `json:"session,omitempty"`  // for the note of a session
	Thoughts   []int      `json:"thoughts,omitempty"` // of the session, by their position in the log
	Text       string     `json:"text"`               // the place and the problem
	Repairable bool       `json:"mended"`             // Sync repairs it
	Wrong      bool       `json:"wrong"`              // it is an error, and not a person's edit
}

// The problems of a vault besides those of [thinking.Problem].
const (
	badDefinition = "bad_definition" // the file of a workflow has a mistake
	unreadable    = "unreadable"     // a note cannot be read
	damagedFront  = "damaged_front"  // front matter is not YAML
)

// Check reports the differences between the sessions of the store and their notes,
// and the files that cannot be read. It changes nothing and returns the number of
// notes it has read.
func (v *Vaults) Check(ctx context.Context, owner string, report func(Finding)) (notes int, err error) {
	dir := v.ownersFolder(owner)
	notesVault, err := vault.Open(vault.Config{Dir: dir})
	if errors.Is(err, fs.ErrNotExist) {
		err = noVault(dir)
	}
	if err != nil {
		return 0, err
	}
	defer notesVault.Close()
	id, err := fallbackID(ctx, v.fallback(dir))
	if _, missing := os.Stat(filepath.Join(dir, stateDir, "id")); missing == nil { // else ID would create one
		id, err = notesVault.ID(ctx, "")
	}
	if err != nil {
		return 0, err
	}
	files := thinking.New(thinking.Config{
		Vault: notesVault, Dialect: "wiki",
		Owns: func(h *sequent.Header) bool { return id != "" && h.Labels[thinking.LabelVault] == id },
	})
	for f, err := range files.Check(ctx, v.config.Engine.Owned(owner)) {
		if err != nil {
			return notes, err
		}
		report(Finding{
			Problem: string(f.Problem), Place: string(f.URI), Session: f.Session, Thoughts: f.Thoughts, Text: f.String(),
			Repairable: f.Problem.Repairable(), Wrong: f.Problem.Repairable() || f.Problem == thinking.Failed || f.Problem == thinking.TwoFiles,
		})
	}
	if notes, err = checkNotes(ctx, notesVault, report); err != nil {
		return notes, err
	}
	_, mistakes, err := workflow.New(workflow.Config{Vault: notesVault}).Definitions(ctx)
	for _, m := range mistakes {
		report(Finding{Problem: badDefinition, Place: workflow.Folder, Text: clientText(m), Wrong: true})
	}
	return notes, err
}

// checkNotes reads every note.
func checkNotes(ctx context.Context, v *vault.Vault, report func(Finding)) (notes int, err error) {
	for info, err := range v.Walk(ctx) {
		var n *vault.Note
		if err == nil {
			n, err = v.Read(ctx, info.URI)
		}
		switch {
		case ctx.Err() != nil:
			return notes, err
		case errors.Is(err, vault.ErrNotFound): // deleted since
		case err != nil:
			report(Finding{Problem: unreadable, Place: string(info.URI), Text: clientText(err), Wrong: true})
		default:
			notes++
			if err := n.Front.Err(); err != nil {
				report(Finding{Problem: damagedFront, Place: string(info.URI), Text: string(info.URI) + ": " + clientText(err), Wrong: true})
			}
		}
	}
	return notes, nil
}

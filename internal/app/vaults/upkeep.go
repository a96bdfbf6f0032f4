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

// A Progress says how far something is: sessions, reading, embedding.
type Progress func(stage string, done, total float64)

// Sync brings sessions and notes in step, and the index with the notes, as the
// dialect's tool sync does. With rebuild it also brings back what was deleted
// from the notes of sessions, and makes the index anew. The vault must be there.
func (v *Vaults) Sync(ctx context.Context, owner string, rebuild bool, progress Progress) (wiki.Synced, error) {
	s, err := v.existing(ctx, owner)
	if err != nil {
		return wiki.Synced{}, err
	}
	return s.graph.sync(ctx, rebuild, progress)
}

// Search finds notes, after the index has been brought in step with them. The
// vault must be there.
func (v *Vaults) Search(ctx context.Context, owner string, q index.Query, progress Progress) (index.Results, error) {
	s, err := v.existing(ctx, owner)
	if err != nil {
		return index.Results{}, err
	}
	if _, err := s.index.Sync(ctx, func(p index.Progress) { progress(p.Stage, float64(p.Done), float64(p.Total)) }); err != nil {
		return index.Results{}, err
	}
	return s.index.Search(ctx, q)
}

// existing opens a vault, and makes none.
func (v *Vaults) existing(ctx context.Context, owner string) (*shelf, error) {
	dir := v.ownersFolder(owner)
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, noVault(dir)
	}
	return v.shelf(ctx, owner)
}

func noVault(dir string) error {
	return &sequent.Error{
		Code: vault.CodeUnavailable,
		Msg:  "there is no folder " + dir,
		Fix:  "name the folder of your notes with --vault DIR; sequent serve --dialect wiki makes one",
	}
}

// A Finding is something about a vault that a person may want to know.
type Finding struct {
	Problem  string     // a word for programs
	Place    string     // the URI of a note, or the path of a file in the vault
	Session  sequent.ID // if it is about the note of a session
	Thoughts []int      // of the session, by their position in the log
	Text     string     // the place, and what is the matter
	Mended   bool       // Sync does something about it
	Wrong    bool       // it is no person's doing, or keeps something from working
}

// The problems of a vault beside those of [thinking.Problem].
const (
	badDefinition = "bad_definition" // a workflow's file has a mistake
	unreadable    = "unreadable"     // a note cannot be read
	damagedFront  = "damaged_front"  // front matter is not YAML
)

// Check reports what differs between the sessions of the store and their notes,
// and which files cannot be used. It changes nothing, and returns how many notes
// it has looked at.
func (v *Vaults) Check(ctx context.Context, owner string, report func(Finding)) (notes int, err error) {
	dir := v.ownersFolder(owner)
	opened, err := vault.Open(vault.Config{Dir: dir})
	if errors.Is(err, fs.ErrNotExist) {
		err = noVault(dir)
	}
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	id, err := asideID(ctx, v.aside(dir))
	if _, missing := os.Stat(filepath.Join(dir, stateDir, "id")); missing == nil { // else it would be made
		id, err = opened.ID(ctx, "")
	}
	if err != nil {
		return 0, err
	}
	files := thinking.New(thinking.Config{
		Vault: opened, Dialect: "wiki",
		Owns: func(h *sequent.Header) bool { return id != "" && h.Labels[thinking.LabelVault] == id },
	})
	for f, err := range files.Check(ctx, v.config.Engine.Owned(owner)) {
		if err != nil {
			return notes, err
		}
		report(Finding{
			Problem: string(f.Problem), Place: string(f.URI), Session: f.Session, Thoughts: f.Thoughts, Text: f.String(),
			Mended: f.Problem.Mended(), Wrong: f.Problem.Mended() || f.Problem == thinking.Failed || f.Problem == thinking.TwoFiles,
		})
	}
	if notes, err = checkNotes(ctx, opened, report); err != nil {
		return notes, err
	}
	_, mistakes, err := workflow.New(workflow.Config{Vault: opened}).Definitions(ctx)
	for _, m := range mistakes {
		report(Finding{Problem: badDefinition, Place: workflow.Folder, Text: sayable(m), Wrong: true})
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
		case errors.Is(err, vault.ErrNotFound): // since it was listed
		case err != nil:
			report(Finding{Problem: unreadable, Place: string(info.URI), Text: sayable(err), Wrong: true})
		default:
			notes++
			if err := n.Front.Err(); err != nil {
				report(Finding{Problem: damagedFront, Place: string(info.URI), Text: string(info.URI) + ": " + sayable(err), Wrong: true})
			}
		}
	}
	return notes, nil
}

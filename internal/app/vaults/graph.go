package vaults

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// A graph implements [wiki.Graph]. It keeps the index of a vault up to date with
// what this process writes: written notes are indexed before the next search, so
// that a write does not wait for the index.
type graph struct {
	index *index.Index
	files *thinking.Files
	// everySession is used for a vault that has lost its notes: all sessions of the
	// dialect get a note.
	everySession *thinking.Files
	engine       *sequent.Engine
	vault        *vault.Vault
	editor       *edit.Editor

	mu      sync.Mutex         // guards the fields below
	synced  bool               // this process has synced the index
	written map[vault.URI]bool // since the last search
}

// wrote records that a note was written.
func (g *graph) wrote(uri vault.URI) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.written == nil {
		g.written = make(map[vault.URI]bool)
	}
	g.written[uri] = true
}

// refresh brings the index up to date: with all notes the first time, then with
// those that this process has written. A note that fails is found by the next Sync.
func (g *graph) refresh(ctx context.Context) error {
	g.mu.Lock()
	synced, written := g.synced, g.written
	g.written = nil
	g.mu.Unlock()
	switch {
	case !synced:
		if _, err := g.index.Sync(ctx, nil); err != nil {
			return err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.synced = true
		return nil
	case len(written) == 0:
		return nil
	}
	return g.index.Refresh(ctx, slices.Collect(maps.Keys(written))...)
}

// Search implements [wiki.Graph].
func (g *graph) Search(ctx context.Context, q index.Query) (index.Results, error) {
	if err := g.refresh(ctx); err != nil {
		return index.Results{}, err
	}
	return g.index.Search(ctx, q)
}

// Context implements [wiki.Graph].
func (g *graph) Context(ctx context.Context, q index.ContextQuery) (index.Context, error) {
	if err := g.refresh(ctx); err != nil {
		return index.Context{}, err
	}
	return g.index.Context(ctx, q)
}

// Near implements [wiki.Graph]. It does not index the text's own note, which grows with
// each thought, and leaves the changes of other programs to [index.Index.Watch].
func (g *graph) Near(ctx context.Context, q index.NearQuery) (index.Near, error) {
	g.mu.Lock()
	synced := g.synced
	var written []vault.URI
	for uri := range g.written {
		if synced && uri != q.Except {
			written = append(written, uri)
			delete(g.written, uri)
		}
	}
	g.mu.Unlock()
	if len(written) > 0 {
		if err := g.index.Refresh(ctx, written...); err != nil {
			for _, uri := range written {
				g.wrote(uri) // for the next search
			}
			return index.Near{}, err
		}
	}
	if !synced {
		if err := g.refresh(ctx); err != nil {
			return index.Near{}, err
		}
	}
	return g.index.Near(ctx, q)
}

// Sync implements [wiki.Graph].
func (g *graph) Sync(ctx context.Context, progress func(message string, done, total float64)) (wiki.SyncReport, error) {
	return g.sync(ctx, false, progress)
}

// sync is Sync. With rebuild, it also restores what was deleted from the notes of
// sessions, writes the notes of all sessions into a vault that has none, and rebuilds
// the index.
func (g *graph) sync(ctx context.Context, rebuild bool, progress Progress) (wiki.SyncReport, error) {
	if progress == nil {
		progress = func(string, float64, float64) {}
	}
	moved, err := g.editor.Resume(ctx)
	if code := sequent.CodeOf(err); err != nil && code != vault.CodeReadOnly && code != vault.CodeFull {
		return wiki.SyncReport{}, err
	}
	sessions, files := 0, g.files
	if rebuild && g.lost(ctx) {
		files = g.everySession
	}
	f, failed := files.Sync(ctx, g.engine, thinking.Options{RestoreDeleted: rebuild, Progress: func(done, total int) {
		sessions = total
		progress("sessions", float64(done), float64(total))
	}})
	if code := sequent.CodeOf(failed); failed != nil && code != vault.CodeReadOnly && code != vault.CodeFull {
		return wiki.SyncReport{}, failed
	} // else the index may be on another disk
	refresh := g.index.Sync
	if rebuild {
		refresh = g.index.Rebuild
	}
	r, err := refresh(ctx, func(p index.Progress) {
		progress(p.Stage, float64(sessions+p.Done), float64(sessions+p.Total))
	})
	if failed != nil {
		err = failed
	}
	if err != nil {
		return wiki.SyncReport{}, err
	}
	list := problems(f, r)
	for _, m := range moved {
		for _, err := range m.Left {
			list = append(list, clientText(err))
		}
	}
	return wiki.SyncReport{Report: r, Sessions: f.Files + f.Adopted, Problems: list}, nil
}

// lost reports whether the vault has no note of a session. That is the state of a
// folder that was deleted and created again: it has another id than the sessions
// record.
func (g *graph) lost(ctx context.Context) bool {
	for info, err := range g.vault.WalkFolder(ctx, thinking.Folder) {
		if err != nil || thinking.ValidID(sequent.ID(info.URI.Name())) {
			return false
		}
	}
	return true
}

// problems returns what a sync could not do, for a client.
func problems(f thinking.Report, r index.Report) []string {
	var list []string
	for _, left := range f.Left {
		switch left.Problem {
		case thinking.Failed:
			list = append(list, string(left.URI)+": "+clientText(left.Err))
		case thinking.TwoFiles:
			list = append(list, string(left.URI)+": the session has another note; one of them is used")
		}
	}
	for _, err := range r.Unreadable {
		list = append(list, clientText(err))
	}
	if r.Partial {
		list = append(list, "notes with very many links: there are more relations than were counted")
	}
	if r.Warning != "" {
		list = append(list, r.Warning)
	}
	return list
}

// clientText returns what a client may read of an error.
func clientText(err error) string {
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return "something could not be read"
	}
	if e.Fix != "" {
		return e.Msg + ": " + e.Fix
	}
	return e.Msg
}

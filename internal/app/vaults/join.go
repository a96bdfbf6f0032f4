package vaults

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/assumption"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/wikilink"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// Dialect returns the dialect wiki over the vaults. Of cfg it sets what vaults
// know.
func (v *Vaults) Dialect(cfg wiki.Config) dialect.Dialect {
	cfg.Engine, cfg.Open, cfg.Agent, cfg.Logger = v.config.Engine, v.Open, v.config.Agent, v.config.Logger
	cfg.Linked = func(markdown string) bool { return wikilink.HasConcept([]byte(markdown)) }
	return wiki.New(cfg)
}

// sessionFiles are the notes of sessions.
type sessionFiles struct {
	*thinking.Files
	graph *graph
}

func (f *sessionFiles) Write(ctx context.Context, s *sequent.Session) error {
	defer f.graph.touchSession(s.ID())
	return f.Files.Write(ctx, s)
}

// parents are what a session can be part of.
type parents struct {
	runs  *workflow.Workflows
	graph *graph
}

func (p *parents) Open(ctx context.Context, id string) (bool, error) {
	status, err := p.runs.Status(ctx, id)
	if err == nil && status == workflow.Absent {
		err = wiki.ErrNotFound
	}
	return !status.Closed(), err
}

func (p *parents) Join(ctx context.Context, id string, session sequent.ID) error {
	defer p.graph.touch("thinking/workflow/" + id)
	return p.runs.Link(ctx, id, string(session))
}

// workflows lead through steps.
type workflows struct {
	runs  *workflow.Workflows
	graph *graph
}

func (w *workflows) Start(ctx context.Context, p wiki.Plan) (wiki.Run, error) {
	plan := workflow.Plan{Steps: p.Steps, Title: p.Title}
	if p.Definitions != "" {
		var err error
		if plan.Queue, err = workflow.ParseQueue(p.Definitions); err != nil {
			return wiki.Run{}, err
		}
	}
	r, err := w.runs.Start(ctx, plan)
	return w.run(r, err)
}

func (w *workflows) Change(ctx context.Context, id string, c wiki.Change) (wiki.Run, error) {
	answer := workflow.Answer{Response: c.Response, Thoughts: c.Thoughts, At: c.At}
	if c.Status == "" {
		r, err := w.runs.Advance(ctx, id, answer)
		return w.run(r, err)
	}
	end := workflow.Closing{Status: workflow.Status(c.Status), Conclusion: c.Conclusion}
	if c.Response != "" {
		end.Answer = &answer
	}
	r, err := w.runs.Close(ctx, id, end)
	return w.run(r, err)
}

func (w *workflows) View(ctx context.Context, id string) (wiki.Run, error) {
	r, err := w.runs.View(ctx, id)
	return w.run(r, err)
}

func (w *workflows) run(r workflow.Run, err error) (wiki.Run, error) {
	if err != nil {
		return wiki.Run{}, err
	}
	w.graph.touch(r.URI.Path())
	out := wiki.Run{
		ID: r.ID, URI: string(r.URI), Title: r.Title, Status: string(r.Status),
		Answered: r.Answered, Steps: r.Steps(), Sessions: r.Sessions, Note: r.Note,
	}
	if s, ok := r.Next(); ok {
		out.Next = &wiki.Task{Name: s.Name, Description: s.Description, Enhanced: s.Enhanced, Metadata: s.Metadata}
	}
	return out, nil
}

// Definitions returns what can be started.
func (w *workflows) Definitions(ctx context.Context) ([]wiki.Definition, []string, error) {
	all, wrong, err := w.runs.Definitions(ctx)
	if err != nil {
		return nil, nil, err
	}
	list := make([]wiki.Definition, len(all))
	for i, d := range all {
		list[i] = wiki.Definition{ID: d.ID, Name: d.Name, Description: d.Description, Steps: len(d.Steps)}
	}
	mistakes := make([]string, len(wrong))
	for i, err := range wrong {
		mistakes[i] = err.Error()
	}
	return list, mistakes, nil
}

// assumptions are what is taken for granted.
type assumptions struct {
	ledger *assumption.Ledger
	vault  *vault.Vault
	graph  *graph
}

func (a *assumptions) Append(ctx context.Context, n wiki.Assumption) (wiki.Assumption, error) {
	e, err := a.ledger.Append(ctx, assumption.Assumption{
		Statement: n.Text, Concepts: n.Concepts, Context: n.Context, ValidationPlan: n.Validation, Confidence: n.Confidence,
	})
	return a.entry(e, err)
}

func (a *assumptions) Update(ctx context.Context, n wiki.Assumption) (wiki.Assumption, error) {
	e, err := a.ledger.Update(ctx, vault.URI(n.URI), assumption.Change{
		Status: assumption.Status(n.Status), Confidence: n.Confidence, ValidationPlan: n.Validation,
		Notes: n.Remark, Concepts: n.Concepts,
	})
	return a.entry(e, err)
}

func (a *assumptions) Read(ctx context.Context, uri string) (wiki.Assumption, error) {
	e, err := a.ledger.Read(ctx, vault.URI(uri))
	return a.entry(e, err)
}

func (a *assumptions) Latest(ctx context.Context, most int) ([]wiki.Assumption, error) {
	var uris []vault.URI
	for info, err := range a.vault.WalkFolder(ctx, assumption.Folder) {
		if ctx.Err() != nil {
			return nil, err
		}
		if err == nil {
			uris = append(uris, info.URI)
		}
	}
	// Folders and names tell when they were made.
	slices.SortFunc(uris, func(a, b vault.URI) int { return strings.Compare(b.Path(), a.Path()) })
	var list []wiki.Assumption
	for _, uri := range uris[:min(most, len(uris))] {
		e, err := a.ledger.Read(ctx, uri)
		if errors.Is(err, vault.ErrNotFound) {
			continue // since it was listed
		}
		n, err := a.entry(e, err)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

func (a *assumptions) entry(e assumption.Entry, err error) (wiki.Assumption, error) {
	if err != nil {
		return wiki.Assumption{}, err
	}
	a.graph.touch(e.URI.Path())
	return wiki.Assumption{
		URI: string(e.URI), Text: e.Statement, Concepts: e.Concepts, Context: e.Context,
		Validation: e.ValidationPlan, Confidence: e.Confidence, Status: string(e.Status), Note: e.Body,
	}, nil
}

// A graph finds notes. What was there when the process began, and what it has
// written itself, is found at once: the index reads it before the next search, so
// that writing does not wait for it.
type graph struct {
	vault *vault.Vault
	index *index.Index
	files *thinking.Files
	// everySession is files for a vault that lost them: all sessions of the
	// dialect should have one.
	everySession *thinking.Files
	engine       *sequent.Engine

	mu       sync.Mutex         // guards what follows
	synced   bool               // by this process
	notes    map[vault.URI]bool // written since the index was last refreshed
	sessions map[sequent.ID]bool
}

// touch says that a note may have been written.
func (g *graph) touch(path string) {
	if uri, err := vault.PathURI(path); err == nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.notes[uri] = true
	}
}

// touchSession says that the note of a session may have been written.
func (g *graph) touchSession(id sequent.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[id] = true
}

// refresh brings the index up to date with what this process has written. What
// does not work is found by the next Sync.
func (g *graph) refresh(ctx context.Context) error {
	g.mu.Lock()
	synced, notes, sessions := g.synced, g.notes, g.sessions
	g.notes, g.sessions = make(map[vault.URI]bool), make(map[sequent.ID]bool)
	g.mu.Unlock()
	if !synced {
		if _, err := g.index.Sync(ctx, nil); err != nil {
			return err
		}
		g.mu.Lock()
		g.synced = true
		g.mu.Unlock()
		return nil
	}
	for id := range sessions {
		if uri, ok, err := g.files.Find(ctx, id); ok && err == nil {
			notes[uri] = true
		}
	}
	if len(notes) == 0 {
		return nil
	}
	return g.index.Refresh(ctx, slices.Collect(maps.Keys(notes))...)
}

func (g *graph) Search(ctx context.Context, q wiki.Query) (wiki.Found, error) {
	if err := g.refresh(ctx); err != nil {
		return wiki.Found{}, err
	}
	r, err := g.index.Search(ctx, index.Query{
		Text: q.Text, Mode: index.Mode(q.Mode), PageSize: q.PageSize, Page: q.Page,
		Folder: q.Folder, Tags: q.Tags, MinScore: q.MinScore,
	})
	if err != nil {
		return wiki.Found{}, err
	}
	found := wiki.Found{Total: r.Total, Advice: r.Warning}
	for _, h := range r.Hits {
		found.Results = append(found.Results, wiki.Result{
			Title: h.Title, URI: string(h.URI), Snippet: h.Snippet,
			Score: h.Score, Text: h.Text, Graph: h.Graph, Meaning: h.Semantic,
		})
	}
	return found, nil
}

func (g *graph) Context(ctx context.Context, q wiki.Surroundings) (wiki.Context, error) {
	if err := g.refresh(ctx); err != nil {
		return wiki.Context{}, err
	}
	c, err := g.index.Context(ctx, index.ContextQuery{
		Concept: q.Concept, Depth: q.Depth, MaxEntities: q.Most, IncludeContent: q.Content,
	})
	if err != nil {
		return wiki.Context{}, err
	}
	return wiki.Context{Concept: c.Concept, Notes: c.Notes, Direct: relations(c.Direct), Expanded: relations(c.Expanded)}, nil
}

func relations(list []index.Relation) []wiki.Relation {
	var out []wiki.Relation
	for _, r := range list {
		n := wiki.Relation{Concept: r.Name, Count: r.Count, Via: r.Via, Preview: r.Preview}
		for _, uri := range r.Files {
			n.URIs = append(n.URIs, string(uri))
		}
		out = append(out, n)
	}
	return out
}

// Sync brings sessions and their notes in step, and then the index with all
// notes.
func (g *graph) Sync(ctx context.Context, progress func(message string, done, total float64)) (wiki.Synced, error) {
	return g.sync(ctx, false, progress)
}

// lost reports whether the vault has no note of any session: what a vault looks like
// whose folder was lost and made anew, under another id than the sessions know.
func (g *graph) lost(ctx context.Context) bool {
	for info, err := range g.vault.WalkFolder(ctx, thinking.Folder) {
		if err != nil || thinking.ValidID(sequent.ID(info.URI.Name())) {
			return false
		}
	}
	return true
}

// sync is Sync; or, with rebuild, brings back what was deleted from the notes of
// sessions as well, or all of them where there are none, and makes the index anew.
func (g *graph) sync(ctx context.Context, rebuild bool, progress func(message string, done, total float64)) (wiki.Synced, error) {
	if progress == nil {
		progress = func(string, float64, float64) {}
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
		return wiki.Synced{}, failed
	} // else the index may be elsewhere
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
		return wiki.Synced{}, err
	}
	out := wiki.Synced{
		Notes: r.Notes, Changed: r.Changed, Removed: r.Removed,
		Concepts: r.Concepts, Relations: r.Relations, Orphans: r.Orphans,
		Sessions: f.Files + f.Adopted,
	}
	for _, left := range f.Left {
		switch left.Problem {
		case thinking.Failed:
			out.Problems = append(out.Problems, string(left.URI)+": "+sayable(left.Err))
		case thinking.TwoFiles:
			out.Problems = append(out.Problems, string(left.URI)+": the session has another note; one of them is used")
		}
	}
	for _, p := range r.Unreadable {
		out.Problems = append(out.Problems, sayable(p.Err))
	}
	if r.Warning != "" {
		out.Problems = append(out.Problems, r.Warning)
	}
	return out, nil
}

// sayable is what a client may know of an error.
func sayable(err error) string {
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return "something could not be read"
	}
	if e.Fix != "" {
		return e.Msg + ": " + e.Fix
	}
	return e.Msg
}

// notebook is all notes of a vault.
type notebook struct{ vault *vault.Vault }

func (n *notebook) Read(ctx context.Context, path string) (string, error) {
	uri, err := vault.PathURI(path)
	if err != nil {
		return "", err
	}
	note, err := n.vault.Read(ctx, uri)
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(note.Bytes()), "\uFFFD"), nil
}

func (n *notebook) Recent(ctx context.Context, most int) ([]wiki.Note, error) {
	list, err := n.latest(ctx, "")
	if err != nil {
		return nil, err
	}
	var notes []wiki.Note
	for _, i := range list[:min(most, len(list))] {
		notes = append(notes, wiki.Note{URI: string(i.URI), Modified: i.Modified})
	}
	return notes, nil
}

func (n *notebook) Complete(ctx context.Context, prefix string, most int) ([]string, error) {
	list, err := n.latest(ctx, prefix)
	if err != nil {
		return nil, err
	}
	paths := []string{}
	for _, i := range list[:min(most, len(list))] {
		paths = append(paths, i.URI.Path())
	}
	return paths, nil
}

// latest returns the notes whose path begins with a prefix, those changed last
// first. What cannot be a note is left out.
func (n *notebook) latest(ctx context.Context, prefix string) ([]vault.Info, error) {
	var list []vault.Info
	for info, err := range n.vault.Walk(ctx) {
		if ctx.Err() != nil {
			return nil, err
		}
		if err == nil && strings.HasPrefix(info.URI.Path(), prefix) {
			list = append(list, info)
		}
	}
	slices.SortStableFunc(list, func(a, b vault.Info) int { return b.Modified.Compare(a.Modified) })
	return list, nil
}

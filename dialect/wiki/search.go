package wiki

import (
	"context"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// A result is a note that was found.
type result struct {
	index.Hit
	Status  string `json:"status,omitempty"` // of a session
	Matches string `json:"matches"`          // what the score is made of
}

// search answers search_memories.
func search(ctx context.Context, t *turn, in index.Query) error {
	found, err := t.vault.Index.Search(ctx, in, nil)
	if err != nil {
		return err
	}
	combined := ""
	if found.Words > 1 {
		combined = fmt.Sprintf(" at least one of the %d words (\"quote\" what must occur)", found.Words)
	}
	switch {
	case found.Total == 0:
		t.printf("No note matches. Try fewer or other words, or build_context on a concept.")
	case len(found.Hits) == 0:
		t.printf("%d notes match, and none of them is on page %d.", found.Total, found.Page)
	case len(found.Hits) == found.Total:
		t.printf("%s%s:\n", printable.Count(found.Total, "note matches", "notes match"), combined)
	default:
		t.printf("%d notes match%s; page %d of %d:\n", found.Total, combined, found.Page, (found.Total+found.PageSize-1)/found.PageSize)
	}
	results := []result{}
	for _, h := range found.Hits {
		r := result{Hit: h, Matches: matches(found, h)}
		t.ofSession(ctx, in.Text, &r)
		results = append(results, r)
		state := ""
		if r.Status != "" {
			state = ", " + r.Status
		}
		t.linef("- %s (%.2f: %s%s) %s", oneLine(r.Title), r.Score, r.Matches, state, r.URI)
		if r.Snippet != "" {
			t.linef("  %s", oneLine(r.Snippet))
		}
	}
	if found.Warning != "" {
		t.linef("⚠️ %s", oneLine(found.Warning))
	}
	t.out = struct {
		Mode    index.Mode `json:"mode"`
		Query   string     `json:"query"`
		Total   int        `json:"totalCount"`
		Page    int        `json:"page"`
		Size    int        `json:"pageSize"`
		Results []result   `json:"results"`
	}{found.Mode, in.Text, found.Total, found.Page, found.PageSize, results}
	return nil
}

// matches says what the score of a hit is made of.
func matches(found index.Results, h index.Hit) string {
	var parts []string
	if found.Words > 0 && (h.Words > 0 || h.Graph == 0 && h.Semantic == 0) {
		parts = append(parts, fmt.Sprintf("%d of %s", h.Words, printable.Count(found.Words, "word", "words")))
	}
	switch {
	case h.Graph == 1:
		parts = append(parts, "linked")
	case h.Graph > 0:
		parts = append(parts, "linked nearby")
	}
	if h.Semantic > 0 {
		parts = append(parts, fmt.Sprintf("meaning %.2f", h.Semantic))
	}
	return strings.Join(parts, ", ")
}

// session returns the session of a note; nil if it is another note, or the store does not
// have the session yet.
func (t *turn) session(ctx context.Context, uri vault.URI) *sequent.Session {
	id := sequent.ID(uri.Name())
	if !strings.HasPrefix(uri.Path(), thinking.Folder+"/") || !thinking.ValidID(id) {
		return nil
	}
	s, err := t.engine.Session(ctx, id)
	if err != nil || s.Len() == 0 {
		return nil
	}
	return s
}

// ofSession completes the result for the note of a session: its state, and for a concluded
// one the conclusion in place of its first thought, followed by a thought that matches if the
// conclusion does not.
func (t *turn) ofSession(ctx context.Context, query string, r *result) {
	s := t.session(ctx, r.URI)
	if s == nil {
		return
	}
	r.Status = stateOf(s)
	if mark := standings(s)[0]; mark != "" { // the title is the first thought
		r.Title += " (" + mark + ")"
	}
	piece := matching(s, query)
	conclusion, matches := index.Excerpt(s.Conclusion(), query)
	switch {
	case s.Conclusion() == "" && piece != "":
		r.Snippet = piece
	case s.Conclusion() != "":
		if r.Snippet = conclusion; !matches && piece != "" {
			r.Snippet += " " + piece
		}
	}
}

// contextArgs are the arguments of build_context.
type contextArgs struct {
	Concept     string `json:"conceptName" alias:"concept_name"`
	Depth       *int   `json:"depth"`
	MaxEntities int    `json:"maxEntities,omitzero" alias:"max_entities"`
	Content     bool   `json:"includeContent,omitzero" alias:"include_content"`
}

// relations answers build_context.
func relations(ctx context.Context, t *turn, in contextArgs) error {
	q := index.ContextQuery{Concept: in.Concept, Depth: 2, MaxEntities: in.MaxEntities, IncludeContent: in.Content}
	if in.Depth != nil {
		q.Depth = *in.Depth
	}
	near, err := t.vault.Index.Context(ctx, q)
	if err != nil {
		return err
	}
	out := struct {
		index.Context
		Depth   int    `json:"depth"`
		Warning string `json:"warning,omitempty"`
	}{near, q.Depth, ""}
	notes := printable.Count(near.Notes, "note", "notes")
	switch {
	case near.Notes == 0:
		t.printf("No note mentions [[%s]] yet. search_memories finds notes by their words.", near.Concept)
	case len(near.Direct) == 0:
		t.printf("[[%s]] is in %s, and no other concept with it.", near.Concept, notes)
	default:
		t.printf("[[%s]] is in %s, together with:\n", near.Concept, notes)
	}
	for _, r := range near.Direct {
		t.linef("- [[%s]] in %s,", r.Name, printable.Count(r.Count, "note", "notes"))
		for _, uri := range r.Files {
			t.printf(" %s", uri)
		}
		if r.Preview != "" {
			t.linef("  %s: %s", r.PreviewFrom, oneLine(r.Preview))
		}
	}
	for i, r := range near.Expanded {
		if i == 0 {
			t.printf("\n\nFurther away:\n")
		}
		t.linef("- [[%s]] by way of [[%s]]", r.Name, r.Via)
	}
	if near.Incomplete {
		out.Warning = "incomplete: these notes have more links or text than one call reads; ask with a lower depth or maxEntities, " +
			"without includeContent, or for a narrower concept"
		t.linef("⚠️ %s", out.Warning)
	}
	t.out = out
	return nil
}

// synchronize answers sync.
func synchronize(ctx context.Context, t *turn, _ struct{}) error {
	s, err := t.vault.Sync(ctx, false, func(p index.Progress) {
		if t.call.Progress != nil {
			t.call.Progress(p.Stage, float64(p.Done), float64(p.Total))
		}
	})
	if err != nil {
		return err
	}
	t.out = struct {
		Files int `json:"files"`
		vaults.SyncReport
	}{s.Notes, s}
	t.printf("Synced %s: %d read anew, %d removed\n", printable.Count(s.Notes, "note", "notes"), s.Changed, s.Removed)
	t.printf("%s, %s between them, %d without any", printable.Count(s.Concepts, "concept", "concepts"), printable.Count(s.Relations, "relation", "relations"), s.Orphans)
	if s.Sessions > 0 {
		t.linef("%s written into notes", printable.Count(s.Sessions, "session", "sessions"))
	}
	for _, p := range s.Problems {
		t.linef("⚠️ %s", oneLine(p))
	}
	return nil
}

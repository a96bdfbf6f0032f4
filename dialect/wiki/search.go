package wiki

import (
	"bytes"
	"context"
	_ "embed" // of the contract
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
)

var (
	//go:embed search.json
	searchSpec []byte
	//go:embed search.md
	searchText []byte
	//go:embed context.json
	contextSpec []byte
	//go:embed context.md
	contextText []byte
	//go:embed sync.json
	syncSpec []byte
	//go:embed sync.md
	syncText []byte
)

// offeredModes is the part of the contract of search_memories that depends on whether there
// is an embedding model.
const (
	offeredModes = `"enum": ["Hybrid", "FullText"], "default": "Hybrid", "description": "Hybrid: words and links. FullText: words alone."`
	allModes     = `"enum": ["Hybrid", "FullText", "Semantic"], "default": "Hybrid", "description": "Hybrid: words, links and meaning. FullText: words alone. Semantic: meaning alone."`
)

// searchContract returns the contract of search_memories. It offers the mode Semantic only
// if there is an embedding model.
func searchContract(semantic bool) tool.Spec {
	spec := searchSpec
	if semantic {
		if spec = bytes.Replace(spec, []byte(offeredModes), []byte(allModes), 1); bytes.Equal(spec, searchSpec) {
			panic("wiki: search.json has other modes than offeredModes")
		}
	}
	return tool.Parse(spec, searchText)
}

// rejectSearch is reject. It also says how the mode Semantic becomes available.
func rejectSearch(err *tool.ArgumentError) (tool.Reply, error) {
	if err.Field == "mode" && strings.EqualFold(err.Value, `"Semantic"`) {
		return (&refusal{"EMBEDDINGS_NOT_CONFIGURED", "a search by meaning alone needs an embedding model, and this server was started without one; " +
			"use Hybrid or FullText, or start it with SEQUENT_EMBEDDINGS_URL"}).reply(), nil
	}
	return reject(err)
}

// searchArgs are the arguments of search_memories.
type searchArgs struct {
	learnArgs
	Query    string   `json:"query"`
	Mode     string   `json:"mode,omitzero"`
	PageSize int      `json:"pageSize,omitzero" alias:"page_size"`
	Page     int      `json:"page,omitzero"`
	Folder   string   `json:"folder,omitzero"`
	Tags     []string `json:"tags"`
	MinScore float64  `json:"minScore,omitzero" alias:"min_score"`
}

type resultOut struct {
	Title    string    `json:"title"`
	URI      vault.URI `json:"uri"`
	Snippet  string    `json:"snippet"`
	Score    float64   `json:"score"`
	Text     float64   `json:"textScore,omitzero"`
	Graph    float64   `json:"graphScore,omitzero"`
	Semantic float64   `json:"semanticScore,omitzero"`
	Status   string    `json:"status,omitempty"` // of a session
	Matches  string    `json:"matches"`          // what the score is made of
}

// search answers search_memories.
func (d *server) search(ctx context.Context, c tool.Call, in searchArgs) (tool.Reply, error) {
	v, err := d.open(ctx, c.Caller.Owner)
	if err != nil {
		return refuse(err)
	}
	found, err := v.Graph.Search(ctx, index.Query{
		Text: in.Query, Mode: index.Mode(in.Mode), Page: in.Page, PageSize: in.PageSize,
		Folder: in.Folder, Tags: in.Tags, MinScore: in.MinScore,
	})
	if err != nil {
		return refuse(err)
	}
	out := struct {
		Mode    index.Mode  `json:"mode"`
		Query   string      `json:"query"`
		Total   int         `json:"totalCount"`
		Page    int         `json:"page"`
		Size    int         `json:"pageSize"`
		Results []resultOut `json:"results"`
	}{found.Mode, in.Query, found.Total, found.Page, found.PageSize, []resultOut{}}
	var b strings.Builder
	switch {
	case found.Total == 0:
		b.WriteString("No note matches. Try fewer or other words, or build_context on a concept.")
	case len(found.Hits) == 0:
		fmt.Fprintf(&b, "%d notes match, and none of them is on page %d.", found.Total, found.Page)
	case len(found.Hits) == found.Total:
		fmt.Fprintf(&b, "%s%s:\n", wording.Count(found.Total, "note matches", "notes match"), combined(found))
	default:
		fmt.Fprintf(&b, "%d notes match%s; page %d of %d:\n", found.Total, combined(found), found.Page, (found.Total+found.PageSize-1)/found.PageSize)
	}
	for _, h := range found.Hits {
		r := resultOut{h.Title, h.URI, h.Snippet, h.Score, h.Text, h.Graph, h.Semantic, "", matches(found, h)}
		extra := d.ofSession(ctx, c.Caller, v, in.Query, &r)
		out.Results = append(out.Results, r)
		state := ""
		if r.Status != "" {
			state = ", " + r.Status
		}
		fmt.Fprintf(&b, "\n- %s (%.2f: %s%s) %s", oneLine(r.Title), r.Score, r.Matches, state, r.URI)
		for _, line := range []string{r.Snippet, extra} {
			if line != "" {
				b.WriteString("\n  " + oneLine(line))
			}
		}
	}
	for _, u := range found.Unlinked {
		if len(u.Similar) > 0 {
			b.WriteString("\n💡 " + proposal(u))
		}
	}
	if found.Warning != "" {
		b.WriteString("\n⚠️ " + oneLine(found.Warning))
	}
	ignored(&b, c.Unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}

// combined says how the words of a query combine, if there are several.
func combined(found index.Results) string {
	if found.Words < 2 {
		return ""
	}
	return fmt.Sprintf(" at least one of the %d words (\"quote\" what must occur)", found.Words)
}

// matches says what the score of a hit is made of.
func matches(found index.Results, h index.Hit) string {
	var parts []string
	if found.Words > 0 && (h.Words > 0 || h.Graph == 0 && h.Semantic == 0) {
		parts = append(parts, fmt.Sprintf("%d of %s", h.Words, wording.Count(found.Words, "word", "words")))
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

// ofSession completes the result for the note of a session: its state, and for a concluded
// one the conclusion in place of its first thought. It returns a line about a thought that
// matches, if the conclusion does not.
func (d *server) ofSession(ctx context.Context, caller tool.Caller, v *Vault, query string, r *resultOut) (extra string) {
	id := sequent.ID(r.URI.Name())
	if !strings.HasPrefix(r.URI.Path(), thinking.Folder+"/") || !thinking.ValidID(id) {
		return ""
	}
	s, err := d.session(ctx, caller, v, id, nil)
	if err != nil || s.Len() == 0 {
		return "" // it is in the note only
	}
	r.Status = stateOf(s)
	if mark := standings(s)[0]; mark != "" { // the title is the first thought
		r.Title += " (" + mark + ")"
	}
	concluded := false
	if text := s.Conclusion(); text != "" {
		var matches bool
		if r.Snippet, matches = index.Excerpt(text, query); matches {
			return ""
		}
		concluded = true
	}
	piece := matching(s, query)
	if !concluded && piece != "" {
		r.Snippet, piece = piece, ""
	}
	return piece
}

// matching returns an excerpt of the first thought of a session that matches and still
// holds, else of the first one that matches, with a mark; empty if none does.
func matching(s *sequent.Session, query string) string {
	marks := standings(s)
	superseded := ""
	for t := range s.All() {
		mark := marks[t.Seq-1]
		if mark != "" && superseded != "" {
			continue
		}
		piece, ok := index.Excerpt(t.Text, query)
		if !ok {
			piece, ok = index.Excerpt(t.Note, query)
		}
		switch {
		case ok && mark == "":
			return fmt.Sprintf("Thought %s: %s", nameOf(t), piece)
		case ok:
			superseded = fmt.Sprintf("Thought %s (%s): %s", nameOf(t), mark, piece)
		}
	}
	return superseded
}

// contextArgs are the arguments of build_context.
type contextArgs struct {
	learnArgs
	Concept     string `json:"conceptName" alias:"concept_name"`
	Depth       *int   `json:"depth"`
	MaxEntities int    `json:"maxEntities,omitzero" alias:"max_entities"`
	Content     bool   `json:"includeContent,omitzero" alias:"include_content"`
}

type relationOut struct {
	Name    string      `json:"name"`
	Count   int         `json:"coOccurrenceCount"`
	Via     string      `json:"via,omitempty"`
	Files   []vault.URI `json:"files"`
	Preview string      `json:"contentPreview,omitempty"`
	From    vault.URI   `json:"previewFrom,omitempty"`
}

// context answers build_context.
func (d *server) context(ctx context.Context, c tool.Call, in contextArgs) (tool.Reply, error) {
	v, err := d.open(ctx, c.Caller.Owner)
	if err != nil {
		return refuse(err)
	}
	q := index.ContextQuery{Concept: in.Concept, Depth: 2, MaxEntities: in.MaxEntities, IncludeContent: in.Content}
	if in.Depth != nil {
		q.Depth = *in.Depth
	}
	near, err := v.Graph.Context(ctx, q)
	if err != nil {
		return refuse(err)
	}
	out := struct {
		Concept  string        `json:"conceptName"`
		Depth    int           `json:"depth"`
		Direct   []relationOut `json:"directRelations"`
		Expanded []relationOut `json:"expandedRelations"`
		Similar  []string      `json:"similarConcepts,omitempty"`
		Warning  string        `json:"warning,omitempty"`
	}{near.Concept, q.Depth, []relationOut{}, []relationOut{}, near.Similar, ""}
	var b strings.Builder
	switch {
	case near.Notes == 0:
		fmt.Fprintf(&b, "No note mentions [[%s]] yet. search_memories finds notes by their words.", near.Concept)
		if len(near.Similar) > 0 {
			fmt.Fprintf(&b, " Did you mean %s?", linked(near.Similar, len(near.Similar)))
		}
	case len(near.Direct) == 0:
		fmt.Fprintf(&b, "[[%s]] is in %s, and no other concept with it.", near.Concept, wording.Count(near.Notes, "note", "notes"))
	default:
		fmt.Fprintf(&b, "[[%s]] is in %s, together with:\n", near.Concept, wording.Count(near.Notes, "note", "notes"))
	}
	for _, r := range near.Direct {
		out.Direct = append(out.Direct, outOf(r))
		fmt.Fprintf(&b, "\n- [[%s]] in %s,", r.Name, wording.Count(r.Count, "note", "notes"))
		for _, uri := range r.Files {
			fmt.Fprintf(&b, " %s", uri)
		}
		if r.Preview != "" {
			fmt.Fprintf(&b, "\n  %s: %s", r.PreviewFrom, oneLine(r.Preview))
		}
	}
	if near.Notes == 1 && len(near.Similar) > 0 {
		fmt.Fprintf(&b, "\n💡 There is also %s", linked(near.Similar, len(near.Similar)))
	}
	for i, r := range near.Expanded {
		if i == 0 {
			b.WriteString("\n\nFurther away:\n")
		}
		out.Expanded = append(out.Expanded, outOf(r))
		fmt.Fprintf(&b, "\n- [[%s]] by way of [[%s]]", r.Name, r.Via)
	}
	if near.Incomplete {
		out.Warning = "incomplete: these notes have more links or text than one call reads; ask with a lower depth or maxEntities, " +
			"without includeContent, or for a narrower concept"
		b.WriteString("\n⚠️ " + out.Warning)
	}
	ignored(&b, c.Unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}

func outOf(r index.Relation) relationOut {
	return relationOut{r.Name, r.Count, r.Via, append([]vault.URI{}, r.Files...), r.Preview, r.PreviewFrom}
}

type syncArgs struct{ learnArgs }

// sync answers sync.
func (d *server) sync(ctx context.Context, c tool.Call, _ syncArgs) (tool.Reply, error) {
	v, err := d.open(ctx, c.Caller.Owner)
	if err != nil {
		return refuse(err)
	}
	s, err := v.Graph.Sync(ctx, c.Progress)
	if err != nil {
		return refuse(err)
	}
	out := struct {
		Files     int      `json:"files"`
		Changed   int      `json:"changed"`
		Removed   int      `json:"removed"`
		Concepts  int      `json:"concepts"`
		Relations int      `json:"relations"`
		Orphans   int      `json:"orphans"`
		Sessions  int      `json:"sessionsMended"`
		Problems  []string `json:"problems"`
	}{
		s.Notes, s.Changed, s.Removed, s.Concepts, s.Relations, s.Orphans, s.Sessions,
		append([]string{}, s.Problems...),
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Synced %s: %d read anew, %d removed\n", wording.Count(s.Notes, "note", "notes"), s.Changed, s.Removed)
	fmt.Fprintf(&b, "%s, %s between them, %d without any", wording.Count(s.Concepts, "concept", "concepts"), wording.Count(s.Relations, "relation", "relations"), s.Orphans)
	if s.Sessions > 0 {
		fmt.Fprintf(&b, "\n%s brought in step with its note", wording.Count(s.Sessions, "session", "sessions"))
	}
	const most = 10
	for i, p := range s.Problems {
		if i == most {
			fmt.Fprintf(&b, "\n⚠️ and %d more", len(s.Problems)-most)
			break
		}
		b.WriteString("\n⚠️ " + oneLine(p))
	}
	ignored(&b, c.Unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}

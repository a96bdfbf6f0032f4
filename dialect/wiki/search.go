package wiki

import (
	"context"
	_ "embed" // of the contract
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/tool"
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

// A Graph finds notes and what their links connect.
type Graph interface {
	// Search finds notes, best first.
	Search(ctx context.Context, q Query) (Found, error)

	// Context returns what is near a concept; nothing if it is unknown.
	Context(ctx context.Context, q Surroundings) (Context, error)

	// Sync reads what has changed, and brings the notes of sessions in step with
	// the log. Progress, if it is not nil, is told how far it is.
	Sync(ctx context.Context, progress func(message string, done, total float64)) (Synced, error)
}

// A Query asks for notes.
type Query struct {
	Text     string
	Mode     string // Hybrid, FullText or Semantic
	Page     int    // from 1
	PageSize int
	Folder   string
	Tags     []string
	MinScore float64
}

// Found is a page of notes.
type Found struct {
	Results []Result
	Total   int    // how many match in all
	Advice  string // what the caller should know; may be empty
}

// A Result is a note that was found.
type Result struct {
	Title, URI, Snippet string
	Score               float64 // from 0 to 1, as are the others
	Text                float64 // by words; 0 if they do not count
	Graph               float64 // by links; 0 if they do not count
	Meaning             float64 // by meaning; 0 if it does not count
}

// Surroundings ask what is near a concept.
type Surroundings struct {
	Concept string
	Depth   int
	Most    int  // relations of each kind
	Content bool // with pieces of notes
}

// Context is what is near a concept.
type Context struct {
	Concept  string     // as it is normalized
	Notes    int        // that mention it
	Direct   []Relation // most notes first
	Expanded []Relation
}

// A Relation is a concept that occurs together with another.
type Relation struct {
	Concept string
	Count   int      // notes in which they occur together
	Via     string   // the concept that it occurs with, where that is not the one asked for
	URIs    []string // of some of the notes
	Preview string   // a piece of the first, if asked for
}

// Synced is what Sync did.
type Synced struct {
	Notes     int // that there are
	Changed   int // read anew
	Removed   int // gone since the last time
	Concepts  int
	Relations int      // pairs of concepts that occur together in a note
	Orphans   int      // concepts that occur together with no other
	Sessions  int      // sessions whose note, or whose log, was mended
	Problems  []string // what could not be done, a sentence each
}

// searchArgs are the arguments of search_memories.
type searchArgs struct {
	Query    string   `json:"query"`
	Mode     string   `json:"mode,omitzero"`
	PageSize int      `json:"pageSize,omitzero" alias:"page_size"`
	Page     int      `json:"page,omitzero"`
	Folder   string   `json:"folder,omitzero"`
	Tags     []string `json:"tags"`
	MinScore float64  `json:"minScore,omitzero" alias:"min_score"`
}

type resultOut struct {
	Title   string  `json:"title"`
	URI     string  `json:"uri"`
	Snippet string  `json:"snippet"`
	Score   float64 `json:"score"`
	Text    float64 `json:"textScore,omitzero"`
	Graph   float64 `json:"graphScore,omitzero"`
	Meaning float64 `json:"semanticScore,omitzero"`
}

// search answers search_memories.
func (d *server) search(ctx context.Context, c tool.Call, in searchArgs) (tool.Reply, error) {
	v, err := d.open(ctx, c.Caller.Owner)
	if err != nil {
		return refuse(err)
	}
	q := Query{
		Text: in.Query, Mode: in.Mode, Page: max(in.Page, 1), PageSize: in.PageSize,
		Folder: in.Folder, Tags: in.Tags, MinScore: in.MinScore,
	}
	if q.Mode == "" {
		q.Mode = "Hybrid"
	}
	if q.PageSize == 0 {
		q.PageSize = 10
	}
	found, err := v.Graph.Search(ctx, q)
	if err != nil {
		return refuse(err)
	}
	out := struct {
		Mode    string      `json:"mode"`
		Query   string      `json:"query"`
		Total   int         `json:"totalCount"`
		Page    int         `json:"page"`
		Size    int         `json:"pageSize"`
		Results []resultOut `json:"results"`
	}{q.Mode, q.Text, found.Total, q.Page, q.PageSize, []resultOut{}}
	var b strings.Builder
	switch {
	case found.Total == 0:
		b.WriteString("No note matches. Try fewer or other words, or build_context on a concept.")
	case len(found.Results) == 0:
		fmt.Fprintf(&b, "%d notes match, and none of them is on page %d.", found.Total, q.Page)
	case len(found.Results) == found.Total:
		fmt.Fprintf(&b, "%s:\n", count(found.Total, "note matches", "notes match"))
	default:
		fmt.Fprintf(&b, "%d notes match; page %d of %d:\n", found.Total, q.Page, (found.Total+q.PageSize-1)/q.PageSize)
	}
	for _, r := range found.Results {
		out.Results = append(out.Results, resultOut(r))
		fmt.Fprintf(&b, "\n- %s (%.3f) %s", oneLine(r.Title), r.Score, r.URI)
		if r.Snippet != "" {
			b.WriteString("\n  " + oneLine(r.Snippet))
		}
	}
	if found.Advice != "" {
		b.WriteString("\n⚠️ " + oneLine(found.Advice))
	}
	ignored(&b, c.Unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}

// contextArgs are the arguments of build_context.
type contextArgs struct {
	Concept string `json:"conceptName" alias:"concept_name"`
	Depth   *int   `json:"depth"`
	Most    int    `json:"maxEntities,omitzero" alias:"max_entities"`
	Content bool   `json:"includeContent,omitzero" alias:"include_content"`
}

type relationOut struct {
	Name    string   `json:"name"`
	Count   int      `json:"coOccurrenceCount"`
	Via     string   `json:"via,omitempty"`
	Files   []string `json:"files"`
	Preview string   `json:"contentPreview,omitempty"`
}

// context answers build_context.
func (d *server) context(ctx context.Context, c tool.Call, in contextArgs) (tool.Reply, error) {
	v, err := d.open(ctx, c.Caller.Owner)
	if err != nil {
		return refuse(err)
	}
	q := Surroundings{Concept: in.Concept, Depth: 2, Most: in.Most, Content: in.Content}
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
	}{near.Concept, q.Depth, []relationOut{}, []relationOut{}}
	var b strings.Builder
	switch {
	case near.Notes == 0:
		fmt.Fprintf(&b, "No note mentions [[%s]] yet. search_memories finds notes by their words.", near.Concept)
	case len(near.Direct) == 0:
		fmt.Fprintf(&b, "[[%s]] is in %s, and no other concept with it.", near.Concept, count(near.Notes, "note", "notes"))
	default:
		fmt.Fprintf(&b, "[[%s]] is in %s, together with:\n", near.Concept, count(near.Notes, "note", "notes"))
	}
	for _, r := range near.Direct {
		out.Direct = append(out.Direct, r.out())
		fmt.Fprintf(&b, "\n- [[%s]] in %s, %s", r.Concept, count(r.Count, "note", "notes"), strings.Join(r.URIs, " "))
		if r.Preview != "" {
			b.WriteString("\n  " + oneLine(r.Preview))
		}
	}
	for i, r := range near.Expanded {
		if i == 0 {
			b.WriteString("\n\nFurther away:\n")
		}
		out.Expanded = append(out.Expanded, r.out())
		fmt.Fprintf(&b, "\n- [[%s]] by way of [[%s]]", r.Concept, r.Via)
	}
	ignored(&b, c.Unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}

func (r Relation) out() relationOut {
	return relationOut{r.Concept, r.Count, r.Via, append([]string{}, r.URIs...), r.Preview}
}

type syncArgs struct{}

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
	fmt.Fprintf(&b, "Synced %s: %d read anew, %d removed\n", count(s.Notes, "note", "notes"), s.Changed, s.Removed)
	fmt.Fprintf(&b, "%s, %s between them, %d without any", count(s.Concepts, "concept", "concepts"), count(s.Relations, "relation", "relations"), s.Orphans)
	if s.Sessions > 0 {
		fmt.Fprintf(&b, "\n%s brought in step with its note", count(s.Sessions, "session", "sessions"))
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

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

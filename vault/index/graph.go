package index

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A ContextQuery asks for the relations of a concept.
type ContextQuery struct {
	Concept string // in any spelling, with or without brackets
	// Depth is how many relations to follow, at most 10: 1 returns only direct ones,
	// 0 none.
	Depth          int
	MaxEntities    int  // of each of the two lists, at most 1000; 0 means 20
	IncludeContent bool // with a preview for each direct relation
}

// A Context is the relations of a concept; empty for a concept that no note links
// to.
type Context struct {
	Concept  string     `json:"conceptName"` // normalized
	Notes    int        `json:"-"`           // that link to it
	Direct   []Relation `json:"directRelations"`
	Expanded []Relation `json:"expandedRelations"`
	// Incomplete means that the notes have more links or text than one question may
	// read: relations, files or previews can be missing, and a Count too low.
	Incomplete bool `json:"-"`
}

// A Relation is a concept that is related to another.
type Relation struct {
	Name string `json:"name"`
	// Count is the number of notes that link to both. The other concept of an
	// expanded relation is Via.
	Count int         `json:"coOccurrenceCount"`
	Files []vault.URI `json:"files"` // up to three of these notes, last changed first
	// Preview is text of the first of Files that no relation before this one has shown,
	// around the concept, if asked for; empty if they all have been shown.
	Preview     string    `json:"contentPreview,omitempty"`
	PreviewFrom vault.URI `json:"previewFrom,omitempty"` // the note of Preview
	Via         string    `json:"via,omitempty"`         // the concept that an expanded relation was reached through
}

// Limits of one question.
const (
	defaultEntities = 20
	maxEntities     = 1000
	maxDepth        = 10
	maxFiles        = 3
	maxExpanded     = 5       // relations of one distance from which the next are reached
	maxRead         = 50_000  // links of the notes of one concept, the notes changed last first
	maxPreviews     = 2 << 20 // bytes of notes
)

// Context returns the concepts that are related to a concept, those that are
// related to them, and so on, strongest first. It first indexes the notes that have changed.
func (x *Index) Context(ctx context.Context, q ContextQuery) (out Context, err error) {
	q.MaxEntities = min(max(cmp.Or(q.MaxEntities, defaultEntities), 1), maxEntities)
	name := wikilink.Normalize(strings.Trim(strings.TrimSpace(q.Concept), "[]"))
	if name == "" {
		return out, invalid("conceptName", "the concept has no name", "write the text of a WikiLink")
	}
	err = x.current(ctx, false, nil, func(Report) error {
		out = Context{Concept: name, Direct: []Relation{}, Expanded: []Relation{}}
		return x.view(ctx, func(t *tx) {
			t.each("SELECT count(*) FROM links WHERE concept = ? AND NOT named", []any{name}, nil, &out.Notes)
			around(t, q, &out)
		})
	})
	if err == nil && q.IncludeContent {
		x.addPreviews(ctx, &out)
	}
	return out, err
}

// around adds the relations of a concept.
func around(t *tx, q ContextQuery, out *Context) {
	reached := map[string]bool{out.Concept: true}
	frontier := []string{out.Concept}
	for distance := 1; distance <= min(q.Depth, maxDepth) && len(frontier) > 0; distance++ {
		var next []Relation
		for _, from := range frontier {
			related, complete := neighbours(t, from)
			next = append(next, related...)
			out.Incomplete = out.Incomplete || !complete
		}
		slices.SortFunc(next, strongest)
		frontier = nil
		list := &out.Direct
		if distance > 1 {
			list = &out.Expanded
		}
		for _, r := range next {
			if reached[r.Name] {
				continue // by a shorter or stronger path
			}
			reached[r.Name] = true
			if len(frontier) < maxExpanded {
				frontier = append(frontier, r.Name)
			}
			if distance == 1 {
				r.Via = ""
			}
			if len(*list) < q.MaxEntities {
				*list = append(*list, r)
			}
		}
	}
}

// strongest orders relations by the number of notes, most first, then by name.
func strongest(a, b Relation) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name), strings.Compare(a.Via, b.Via))
}

// neighbouring selects the other links of the notes that link to a concept, those changed
// last first. The second argument limits the rows.
const neighbouring = `
	SELECT a.path, b.concept FROM (
		SELECT id, path FROM links JOIN notes ON id = note WHERE concept = ?1 AND NOT named ORDER BY modified DESC, path LIMIT ?2
	) a CROSS JOIN links b ON b.note = a.id AND b.named = 0 WHERE b.concept != ?1 LIMIT ?2`

// neighbours returns the relations of a concept, unordered; Via is the concept. It reads
// the notes changed last first, and reports whether it has read them all.
func neighbours(t *tx, concept string) (list []Relation, complete bool) {
	places := make(map[string]int) // in list
	read := 0
	var p, other string
	t.each(neighbouring, []any{concept, maxRead}, func() {
		read++
		i, ok := places[other]
		if !ok {
			i = len(list)
			places[other] = i
			list = append(list, Relation{Name: other, Via: concept})
		}
		r := &list[i]
		if r.Count++; r.Count <= maxFiles {
			uri, _ := vault.PathURI(p) // it was one
			r.Files = append(r.Files, uri)
		}
	}, &p, &other)
	return list, read < maxRead
}

// addPreviews adds a piece of text to the direct relations. It shows no note twice.
func (x *Index) addPreviews(ctx context.Context, out *Context) {
	shown := make(map[vault.URI]bool)
	left := maxPreviews
	for i := range out.Direct {
		r := &out.Direct[i]
		at := slices.IndexFunc(r.Files, func(uri vault.URI) bool { return !shown[uri] })
		if at < 0 {
			continue
		}
		body := x.body(ctx, r.Files[at])
		if left -= len(body); left < 0 {
			out.Incomplete = true
			return
		}
		shown[r.Files[at]] = true
		r.PreviewFrom = r.Files[at]
		r.Preview, _ = excerpt(body, nil, []string{r.Name, out.Concept})
	}
}

// addLinked makes the notes hits that link to a concept of the query or have its name, and
// sets graph scores. Notes that link to the same concepts are equally close; their words
// decide between them.
func (s *search) addLinked() {
	const relatedWeight, maxRelated = 0.5, 20
	for _, concept := range s.links {
		var id int64
		var share float64
		s.tx.each(`SELECT note, max(share) FROM (
				SELECT note, 1.0 AS share FROM links WHERE concept = ?1
				UNION ALL
				SELECT note, ?3 FROM links WHERE NOT named AND concept IN (
					SELECT concept FROM (`+neighbouring+`) GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ?4)
			) GROUP BY note`, []any{concept, maxRead, relatedWeight, maxRelated}, func() {
			if f := s.candidate(id); f != nil {
				f.hit = f.hit || share == 1
				f.graph += share / float64(len(s.links))
			}
		}, &id, &share)
	}
}

package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A ContextQuery asks for the relations of a concept.
type ContextQuery struct {
	Concept string // in any spelling, with or without brackets
	// Depth is how many relations to follow, 0 to 10: 1 returns only direct ones,
	// 0 none.
	Depth          int
	MaxEntities    int  // of each of the two lists, 1 to 1000; 0 means 20
	IncludeContent bool // with a preview for each direct relation
}

// A Context is the relations of a concept; empty for a concept that no note links
// to.
type Context struct {
	Concept  string // normalized
	Notes    int    // that link to it
	Direct   []Relation
	Expanded []Relation
	// Incomplete means that the notes have more links or text than one question may
	// read: relations, files or previews can be missing, and a Count too low.
	Incomplete bool
	// Similar are concepts with a similar name, if at most one note links to this one.
	Similar []string
}

// A Relation is a concept that is related to another.
type Relation struct {
	Name string
	// Count is the number of notes that link to both. The other concept of an
	// expanded relation is Via.
	Count int
	Files []vault.URI // up to three of these notes, last changed first
	// Preview is text of the first of Files that no relation before this one has shown,
	// around the concept, if asked for; empty if they all have been shown.
	Preview     string
	PreviewFrom vault.URI // the note of Preview
	Distance    int       // 1 for direct relations
	Via         string    // the concept that an expanded relation was reached through
}

const (
	defaultEntities = 20
	maxEntities     = 1000
	maxDepth        = 10
	maxFiles        = 3
	maxExpanded     = 5 // relations of one distance from which the next are reached
)

// Context returns the concepts that are related to a concept, those that are
// related to them, and so on, strongest first.
func (x *Index) Context(ctx context.Context, q ContextQuery) (Context, error) {
	if q.MaxEntities == 0 {
		q.MaxEntities = defaultEntities
	}
	name := wikilink.Normalize(strings.Trim(strings.TrimSpace(q.Concept), "[]"))
	switch {
	case name == "":
		return Context{}, invalid("conceptName", "the concept has no name", "write the text of a WikiLink")
	case q.Depth < 0 || q.Depth > maxDepth:
		return Context{}, invalid("depth", fmt.Sprintf("depth is %d", q.Depth), fmt.Sprintf("use 0 to %d", maxDepth))
	case q.MaxEntities < 0 || q.MaxEntities > maxEntities:
		return Context{}, invalid("maxEntities", fmt.Sprintf("maxEntities is %d", q.MaxEntities), fmt.Sprintf("use 1 to %d", maxEntities))
	}
	var out Context
	err := x.read(ctx, func(v *view) error {
		var err error
		work := x.work
		out, err = v.around(ctx, name, q, &work)
		return err
	})
	return out, err
}

// A budget is the work that is left for one question. It is counted and not timed, so
// that the same question has the same answer on any machine.
type budget struct {
	links int // to visit
	bytes int // of notes to read for previews
	short bool
}

const (
	linkBudget    = 1 << 21 // about 0.2 s
	previewBudget = 2 << 20
)

// take takes n of what is left of part. It reports false, and that the budget was too
// short, if that is less.
func (b *budget) take(part *int, n int) bool {
	if *part < n {
		b.short = true
		return false
	}
	*part -= n
	return true
}

func (v *view) around(ctx context.Context, name string, q ContextQuery, b *budget) (Context, error) {
	out := Context{Concept: name}
	start, ok := v.concepts.find(name)
	if !ok || len(v.mentioning(start)) == 0 {
		out.Similar = v.similar(name, nil)
		return out, nil
	}
	if out.Notes = len(v.mentioning(start)); out.Notes == 1 {
		out.Similar = v.similar(name, nil)
	}
	shown := make(map[int64]bool) // notes with a preview
	reached := map[int32]bool{start: true}
	frontier := []int32{start}
	for distance := 1; distance <= q.Depth && len(frontier) > 0; distance++ {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		var next []edge
		for _, from := range frontier {
			next = append(next, v.neighbours(from, b)...)
		}
		v.sortEdges(next)
		frontier = nil
		list := &out.Direct
		if distance > 1 {
			list = &out.Expanded
		}
		for _, e := range next {
			if reached[e.to] {
				continue // by a shorter or stronger path
			}
			reached[e.to] = true
			if len(frontier) < maxExpanded {
				frontier = append(frontier, e.to)
			}
			if len(*list) == q.MaxEntities {
				continue
			}
			r := v.relation(e, b)
			if q.IncludeContent && distance == 1 {
				if err := v.preview(ctx, &r, e, shown, b); err != nil {
					return out, err
				}
			}
			if r.Distance = distance; distance > 1 {
				r.Via = v.concepts.name(e.from)
			}
			*list = append(*list, r)
		}
	}
	out.Incomplete = b.short
	return out, nil
}

// relation returns the relation for an edge.
func (v *view) relation(e edge, b *budget) Relation {
	r := Relation{Name: v.concepts.name(e.to), Count: e.weight}
	from, to := v.mentioning(e.from), v.mentioning(e.to)
	if !b.take(&b.links, len(from)+len(to)) {
		return r
	}
	var notes []*noteInfo
	for _, id := range common(from, to) {
		notes = append(notes, v.notes[id])
	}
	slices.SortFunc(notes, latestFirst)
	for _, n := range notes[:min(len(notes), maxFiles)] {
		r.Files = append(r.Files, n.uri)
	}
	return r
}

// preview sets the preview of a relation: from the first of its files that is not among
// the shown ones, to which it is added.
func (v *view) preview(ctx context.Context, r *Relation, e edge, shown map[int64]bool, b *budget) error {
	for _, uri := range r.Files {
		n := v.uris[uri]
		if shown[n.id] {
			continue
		}
		if !b.take(&b.bytes, int(n.size)) {
			return nil
		}
		shown[n.id] = true
		body, err := v.body(ctx, n)
		r.Preview, r.PreviewFrom = snippet(body, []unit{nameUnit(r.Name), nameUnit(v.concepts.name(e.from))}), uri
		return err
	}
	return nil
}

// latestFirst orders notes by their last change, latest first.
func latestFirst(a, b *noteInfo) int {
	return cmp.Or(cmp.Compare(b.modified, a.modified), strings.Compare(a.path, b.path))
}

// common returns the ids that are in both of two sorted lists.
func common(a, b []int64) []int64 {
	var out []int64
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case b[0] < a[0]:
			b = b[1:]
		default:
			out = append(out, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return out
}

// An edge connects two related concepts.
type edge struct {
	from, to int32
	weight   int // notes that link to both
}

// neighbours returns the edges of a concept, unordered. Of the notes that mention it,
// it reads those changed last, as far as the budget lasts.
func (s *snapshot) neighbours(c int32, b *budget) []edge {
	ids := s.mentioning(c)
	links := 0
	for _, id := range ids {
		links += len(s.notes[id].concepts)
	}
	if links > b.links {
		ids = slices.SortedFunc(slices.Values(ids), func(a, b int64) int { return latestFirst(s.notes[a], s.notes[b]) })
	}
	weights := make(map[int32]int)
	for _, id := range ids {
		concepts := s.notes[id].concepts
		if !b.take(&b.links, len(concepts)) {
			break
		}
		for _, other := range concepts {
			if other != c {
				weights[other]++
			}
		}
	}
	out := make([]edge, 0, len(weights))
	for to, n := range weights {
		out = append(out, edge{c, to, n})
	}
	return out
}

// sortEdges sorts edges by weight, heaviest first, then by name.
func (s *snapshot) sortEdges(edges []edge) {
	names := s.concepts.all()
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(names[a.to], names[b.to]), strings.Compare(names[a.from], names[b.from]))
	})
}

// maxNameTokens limits how many tokens in a row are looked up as a concept's name.
const maxNameTokens = 8

// asked returns the concepts that a query names: its links, and the longest runs
// of its words that are the name of a concept.
func (s *snapshot) asked(r *request) []int32 {
	var out []int32
	add := func(c int32) {
		if (len(s.mentioning(c)) > 0 || len(s.named(c)) > 0) && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, name := range r.links {
		if c, ok := s.concepts.find(name); ok {
			add(c)
		}
	}
	for i := 0; i < len(r.tokens); {
		size := 1
		for n := min(maxNameTokens, len(r.tokens)-i); n > 0; n-- {
			if c, ok := s.concepts.findSpelled(r.tokens[i : i+n]); ok {
				add(c)
				size = n
				break
			}
		}
		i += size
	}
	return out
}

// relatedWeight is the most that a note gets for mentioning a concept that is
// related to the one asked for.
const relatedWeight = 0.5

// proximity returns how close notes are to concepts, from 0 to 1. A concept counts
// by its rarity: in full for notes that mention it or have its name; for others in
// part, by the strongest relation of a concept that they mention. Notes that
// mention the same concepts are equally close; their words decide between them. Where
// the notes have more links than one search may visit, the strongest relations count.
func (s *snapshot) proximity(asked []int32) map[int64]float64 {
	scores := make(map[int64]float64)
	rarities := 0.0
	b := &budget{links: linkBudget}
	for _, c := range asked {
		rarity := math.Log(1 + float64(len(s.notes))/float64(1+len(s.mentioning(c))))
		rarities += rarity
		shares := make(map[int64]float64)
		edges := s.neighbours(c, b)
		visits := 0
		for _, e := range edges {
			visits += len(s.mentioning(e.to))
		}
		if visits > b.links {
			s.sortEdges(edges)
		}
		for _, e := range edges {
			if !b.take(&b.links, len(s.mentioning(e.to))) {
				break
			}
			strength := float64(e.weight) / math.Sqrt(float64(len(s.mentioning(c)))*float64(len(s.mentioning(e.to))))
			for _, id := range s.mentioning(e.to) {
				shares[id] = max(shares[id], relatedWeight*strength)
			}
		}
		for _, id := range slices.Concat(s.mentioning(c), s.named(c)) {
			shares[id] = 1
		}
		for id, share := range shares {
			scores[id] += rarity * share
		}
	}
	for id := range scores {
		scores[id] /= rarities
	}
	return scores
}

// addLinked adds the notes that mention a concept of the query or have its name,
// and sets the graph scores of all candidates.
func (s *search) addLinked(c *candidates) {
	asked := s.asked(s.request)
	if len(asked) == 0 {
		return
	}
	for _, concept := range asked {
		for _, id := range slices.Concat(s.mentioning(concept), s.named(concept)) {
			if n := s.notes[id]; s.allowed(n) {
				c.get(n)
			}
		}
	}
	scores := s.proximity(asked)
	for _, f := range c.all {
		f.graph = min(scores[f.note.id], 1)
	}
}

package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/words"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A ContextQuery asks what is around a concept.
type ContextQuery struct {
	Concept string // in any spelling, with or without brackets
	// Depth is how many relations to follow: 1 gives the direct ones alone, 0
	// nothing. It is at most 10.
	Depth          int
	MaxEntities    int  // of each of the two lists, 1 to 1000; 0 means 20
	IncludeContent bool // with a piece of a note for each direct relation
}

// A Context is what is around a concept. A concept that no note mentions has
// nothing around it.
type Context struct {
	Concept  string // as it is normalized
	Notes    int    // that mention it
	Direct   []Relation
	Expanded []Relation
}

// A Relation is a concept that occurs together with another.
type Relation struct {
	Name string
	// Count is in how many notes the two occur together. In an expanded relation
	// the other is Via.
	Count    int
	Files    []vault.URI // up to three of these notes, last changed first
	Preview  string      // a piece of the first of them, around the concept; if asked for
	Distance int         // 1 for direct relations
	Via      string      // the concept through which an expanded relation was reached
}

const (
	defaultEntities = 20
	mostEntities    = 1000
	mostDepth       = 10
	mostFiles       = 3
	startingPoints  = 5 // of the relations of one distance, so many lead to the next
)

// Context returns the concepts that occur together with a concept, those with
// which they occur together, and so on.
func (x *Index) Context(ctx context.Context, q ContextQuery) (Context, error) {
	if q.MaxEntities == 0 {
		q.MaxEntities = defaultEntities
	}
	name := wikilink.Normalize(strings.Trim(strings.TrimSpace(q.Concept), "[]"))
	switch {
	case name == "":
		return Context{}, invalid("conceptName", "the concept has no name", "write the text of a WikiLink")
	case q.Depth < 0 || q.Depth > mostDepth:
		return Context{}, invalid("depth", fmt.Sprintf("depth is %d", q.Depth), fmt.Sprintf("use 0 to %d", mostDepth))
	case q.MaxEntities < 0 || q.MaxEntities > mostEntities:
		return Context{}, invalid("maxEntities", fmt.Sprintf("maxEntities is %d", q.MaxEntities), fmt.Sprintf("use 1 to %d", mostEntities))
	}
	var out Context
	err := x.reading(ctx, func(v *view) error {
		var err error
		out, err = v.around(ctx, name, q)
		return err
	})
	return out, err
}

func (v *view) around(ctx context.Context, name string, q ContextQuery) (Context, error) {
	out := Context{Concept: name}
	start, ok := v.concepts.find(name)
	if !ok {
		return out, nil
	}
	out.Notes = len(v.mentioning(start))
	reached := map[int32]bool{start: true}
	frontier := []int32{start}
	for distance := 1; distance <= q.Depth && len(frontier) > 0; distance++ {
		var next []edge
		for _, from := range frontier {
			next = append(next, v.neighbours(from)...)
		}
		v.sortEdges(next)
		frontier = nil
		list := &out.Direct
		if distance > 1 {
			list = &out.Expanded
		}
		for _, e := range next {
			if reached[e.to] {
				continue // from nearer, or by a stronger relation
			}
			reached[e.to] = true
			if len(frontier) < startingPoints {
				frontier = append(frontier, e.to)
			}
			if len(*list) == q.MaxEntities {
				continue
			}
			r, err := v.relation(ctx, e, q.IncludeContent && distance == 1)
			if err != nil {
				return out, err
			}
			if r.Distance = distance; distance > 1 {
				r.Via = v.concepts.name(e.from)
			}
			*list = append(*list, r)
		}
	}
	return out, nil
}

// relation says what an edge is, with a piece of a note if content is wanted.
func (v *view) relation(ctx context.Context, e edge, content bool) (Relation, error) {
	r := Relation{Name: v.concepts.name(e.to), Count: e.weight}
	var notes []*noteInfo
	for _, id := range common(v.mentioning(e.from), v.mentioning(e.to)) {
		notes = append(notes, v.notes[id])
	}
	slices.SortFunc(notes, func(a, b *noteInfo) int {
		return cmp.Or(cmp.Compare(b.modified, a.modified), strings.Compare(a.path, b.path))
	})
	for _, n := range notes[:min(len(notes), mostFiles)] {
		r.Files = append(r.Files, n.uri)
	}
	if !content {
		return r, nil
	}
	var body string
	if err := v.tx.QueryRowContext(ctx, "SELECT body FROM notes WHERE id = ?", notes[0].id).Scan(&body); err != nil {
		return r, err
	}
	r.Preview = snippet(body, []unit{{tokens: words.Tokens(r.Name)}, {tokens: words.Tokens(v.concepts.name(e.from))}})
	return r, nil
}

// common returns what two sorted lists share.
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

// An edge says in how many notes two concepts occur together.
type edge struct {
	from, to int32
	weight   int
}

// neighbours returns the edges of a concept, in no order.
func (s *snapshot) neighbours(c int32) []edge {
	weights := make(map[int32]int)
	for _, id := range s.mentioning(c) {
		for _, other := range s.notes[id].concepts {
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

// sortEdges puts the heaviest first; of equals, by name.
func (s *snapshot) sortEdges(edges []edge) {
	names := s.concepts.all()
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(names[a.to], names[b.to]), strings.Compare(names[a.from], names[b.from]))
	})
}

// longestName is how many tokens in a row are looked at as the name of a
// concept.
const longestName = 8

// asked returns the concepts that a query names: by its links, and by words in
// a row that are the name of one, the longest that can be.
func (s *snapshot) asked(r *request) []int32 {
	var out []int32
	add := func(c int32) {
		if (len(s.mentioning(c)) > 0 || len(s.namesakes(c)) > 0) && !slices.Contains(out, c) {
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
		for n := min(longestName, len(r.tokens)-i); n > 0; n-- {
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

// relatedWeight is how much a note gets, at most, for a concept that is related
// to one that was asked for, against what it gets for that one.
const relatedWeight = 0.5

// proximity returns how close notes are to concepts: for each concept what it
// is worth, the rarer the more, to the notes that mention it or bear its name;
// to others a part of it, by the strongest relation of a concept that they
// mention. Notes that mention the same concepts are equally close: which of
// them says more about it, their words must tell.
func (s *snapshot) proximity(asked []int32) map[int64]float64 {
	scores := make(map[int64]float64)
	for _, c := range asked {
		rarity := math.Log(1 + float64(len(s.notes))/float64(1+len(s.mentioning(c))))
		shares := make(map[int64]float64)
		for _, e := range s.neighbours(c) {
			strength := float64(e.weight) / math.Sqrt(float64(len(s.mentioning(c)))*float64(len(s.mentioning(e.to))))
			for _, id := range s.mentioning(e.to) {
				shares[id] = max(shares[id], relatedWeight*strength)
			}
		}
		for _, id := range slices.Concat(s.mentioning(c), s.namesakes(c)) {
			shares[id] = 1
		}
		for id, share := range shares {
			scores[id] += rarity * share
		}
	}
	return scores
}

// addLinked gives the candidates their closeness to the concepts of the query,
// and adds the notes that mention one or bear its name.
func (s *search) addLinked(c *candidates) {
	asked := s.asked(s.request)
	if len(asked) == 0 {
		return
	}
	for _, concept := range asked {
		for _, id := range slices.Concat(s.mentioning(concept), s.namesakes(concept)) {
			if n := s.notes[id]; s.allowed(id) && s.query.admits(n) {
				c.get(n)
			}
		}
	}
	scores := s.proximity(asked)
	most := 0.0
	for _, f := range c.all {
		f.graph = scores[f.note.id]
		most = max(most, f.graph)
	}
	for _, f := range c.all {
		if most > 0 {
			f.graph /= most
		}
	}
}

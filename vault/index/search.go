package index

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/vault"
)

// Results is a page of what a search has found.
type Results struct {
	Mode     Mode
	Total    int // matching notes, on all pages
	Page     int
	PageSize int
	Hits     []Hit
	// Warning says what did not work and what the results lack therefore; it
	// is mostly empty.
	Warning string
}

// A Hit is a note that matches. All scores lie between 0 and 1.
type Hit struct {
	URI     vault.URI
	Title   string
	Snippet string // a piece of the note around a match, in one line of at most 200 characters
	// Score orders the hits. In mode FullText and Semantic it is the one score
	// below; in mode Hybrid it joins the ranks by each of them.
	Score float64
	Text  float64 // how much of the query's words the note has, by BM25; 0 if none
	Graph float64 // how close the note's links are to the query's concepts, against the closest; 0 if not at all
	// Semantic is the cosine between the query and the closest passage of the
	// note; 0 if there is none.
	Semantic float64
}

const snippetLength = 200 // characters

// fusion is the constant of reciprocal rank fusion, from the paper that
// introduced it (Cormack, Clarke, Büttcher 2009): large enough that no one list
// decides alone by its first places.
const fusion = 60

// nearest is how many notes a hybrid search takes in for their meaning alone.
const nearest = 50

// Search returns the notes that match a query, best first. The order is the
// same for every page as long as no note changes.
func (x *Index) Search(ctx context.Context, q Query) (Results, error) {
	if err := q.check(); err != nil {
		return Results{}, err
	}
	if q.Mode == Semantic && x.embedder == nil {
		return Results{}, noEmbeddings()
	}
	asked, err := understand(q.Text)
	if err != nil && q.Mode != Semantic {
		return Results{}, err
	}
	results := Results{Mode: q.Mode, Page: q.Page, PageSize: q.PageSize}
	var vector []float32
	if x.embedder != nil && q.Mode != FullText {
		if vector, err = x.queryVector(ctx, &q); err != nil {
			if q.Mode == Semantic || ctx.Err() != nil {
				return Results{}, wrap(err)
			}
			x.log.WarnContext(ctx, "a search goes without meaning", "error", err)
			results.Warning = "the embedding model could not be asked; the results are by words and links alone"
		}
	}
	err = x.reading(ctx, func(v *view) error {
		results.Hits = nil // of an attempt that found damage
		s := search{view: v, query: &q, request: &asked, model: x.model, vector: vector, results: &results}
		return s.run(ctx)
	})
	return results, err
}

// reading calls f with the present state of a complete index.
func (x *Index) reading(ctx context.Context, f func(*view) error) error {
	err := x.try(ctx, f)
	if isDamage(err) && ctx.Err() == nil {
		x.log.WarnContext(ctx, "the index of the vault is damaged and is made anew", "index", x.path, "error", err)
		damaged, _ := os.Stat(x.path)
		if err = x.repair(ctx, damaged); err == nil {
			err = x.try(ctx, f)
		}
	}
	if err != nil && ctx.Err() != nil { // SQLite only says that it was interrupted
		err = ctx.Err()
	}
	return wrap(err)
}

func (x *Index) try(ctx context.Context, f func(*view) error) error {
	if err := x.makeDir(); err != nil {
		return err
	}
	v, err := x.view(ctx)
	if errors.Is(err, errMissing) || err == nil && !v.synced {
		if err == nil {
			v.close()
		}
		if _, err := x.Sync(ctx, nil); err != nil {
			return err
		}
		v, err = x.view(ctx)
	}
	if err != nil {
		return err
	}
	defer v.close()
	return f(v)
}

// repair throws a damaged index away, unless another process has done so, and
// makes it anew.
func (x *Index) repair(ctx context.Context, damaged os.FileInfo) error {
	unlock, err := x.lock(ctx)
	if err != nil {
		return err
	}
	if present, err2 := os.Stat(x.path); err2 != nil || damaged == nil || os.SameFile(present, damaged) {
		err = x.discard()
	}
	unlock()
	if err == nil {
		_, err = x.Sync(ctx, nil)
	}
	return err
}

// A search is one call of Search.
type search struct {
	*view
	query   *Query
	request *request
	model   string
	vector  []float32 // of the query; nil if meaning does not count
	results *Results
	allowed func(note int64) bool // has what is required and nothing that is excluded
}

// A found note is a candidate with its scores.
type found struct {
	note                         *noteInfo
	score, text, graph, semantic float64
	counts                       []float64 // of each of the request's units, if words matched
}

func (s *search) run(ctx context.Context) error {
	all, err := s.candidates(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(f *found) bool { return round(f.score) < s.query.MinScore })
	s.results.Total = len(all)
	first := len(all)
	if s.query.Page <= len(all) { // else the product could be too large for an int
		first = min((s.query.Page-1)*s.query.PageSize, len(all))
	}
	all = leading(all, first+s.query.PageSize)
	for _, f := range all[first:min(first+s.query.PageSize, len(all))] {
		hit, err := s.hit(ctx, f)
		if err != nil {
			return err
		}
		s.results.Hits = append(s.results.Hits, hit)
	}
	return nil
}

// leading returns the first n notes in their order, and perhaps more: to sort
// all of a large vault takes as long as to find them.
func leading(all []*found, n int) []*found {
	if n < len(all) {
		scores := make([]float64, len(all))
		for i, f := range all {
			scores[i] = -f.score
		}
		slices.Sort(scores)
		all = slices.DeleteFunc(all, func(f *found) bool { return -f.score > scores[n-1] })
	}
	slices.SortFunc(all, func(a, b *found) int { return compareRank(a.score, b.score, a.note, b.note) })
	return all
}

func (s *search) candidates(ctx context.Context) ([]*found, error) {
	if err := s.setAllowed(ctx); err != nil {
		return nil, err
	}
	var c candidates
	if s.query.Mode == Semantic {
		if err := s.addNear(ctx, &c, math.MaxInt); err != nil {
			return nil, err
		}
		for _, f := range c.all {
			f.score = f.semantic
		}
		return c.all, nil
	}
	if err := s.addMatches(ctx, &c); err != nil {
		return nil, err
	}
	if s.query.Mode == FullText {
		for _, f := range c.all {
			f.score = f.text
		}
		return c.all, nil
	}
	s.addLinked(&c)
	if s.vector != nil {
		if err := s.addNear(ctx, &c, nearest); err != nil {
			return nil, err
		}
	}
	c.fuse()
	return c.all, nil
}

// Candidates are the notes that may be hits.
type candidates struct {
	all    []*found
	byID   map[int64]*found
	unused []found
}

// grow makes room for so many notes.
func (c *candidates) grow(n int) {
	c.all = make([]*found, 0, n)
	c.byID = make(map[int64]*found, n)
	c.unused = make([]found, n)
}

// get returns the candidate for a note, which it makes one.
func (c *candidates) get(n *noteInfo) *found {
	f := c.byID[n.id]
	if f == nil {
		if len(c.unused) == 0 {
			c.unused = make([]found, 64)
		}
		f, c.unused = &c.unused[0], c.unused[1:]
		f.note = n
		if c.byID == nil {
			c.byID = make(map[int64]*found)
		}
		c.byID[n.id] = f
		c.all = append(c.all, f)
	}
	return f
}

// fuse gives the candidates of a hybrid search their scores: what they get for
// their rank in each list, against what the first of all lists would get. Notes
// with the same score in a list share a rank.
func (c *candidates) fuse() {
	lists := []func(*found) float64{
		func(f *found) float64 { return f.text },
		func(f *found) float64 { return f.graph },
		func(f *found) float64 { return f.semantic },
	}
	best := 0.0
	ranked := make([]float64, 0, len(c.all))
	for _, score := range lists {
		ranked = ranked[:0]
		for _, f := range c.all {
			if s := score(f); s > 0 {
				ranked = append(ranked, -s)
			}
		}
		if len(ranked) == 0 {
			continue
		}
		best += 1.0 / (fusion + 1)
		slices.Sort(ranked)
		for _, f := range c.all {
			if s := score(f); s > 0 {
				better, _ := slices.BinarySearch(ranked, -s)
				f.score += 1 / float64(fusion+better+1)
			}
		}
	}
	for _, f := range c.all {
		f.score = min(f.score/best, 1)
	}
}

// compareRank puts the better of two notes first, and equals in the order of
// their paths.
func compareRank(a, b float64, left, right *noteInfo) int {
	return cmp.Or(cmp.Compare(b, a), strings.Compare(left.path, right.path))
}

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

// Results is a page of hits.
type Results struct {
	Mode     Mode
	Total    int // hits on all pages
	Page     int
	PageSize int
	Hits     []Hit
	Words    int // of the query that count: a hit has at least one of them, if there are any
	// Unlinked are the links of the query that name no concept of a note.
	Unlinked []Unlinked
	// Warning says what the results lack because of a failure; empty if nothing.
	Warning string
}

// A Hit is a note that matches. All scores are between 0 and 1.
type Hit struct {
	URI     vault.URI `json:"uri"`
	Title   string    `json:"title"`
	Snippet string    `json:"snippet"` // text around a match, one line of at most 200 characters
	Words   int       `json:"-"`       // how many of Results.Words the note has
	// Score orders the hits: Text in mode FullText, Semantic in mode Semantic. In
	// mode Hybrid it joins the three as independent evidence: words alone can
	// reach 1, links alone 0.5, meaning alone 0.5, and each adds to the others.
	Score float64 `json:"score"`
	// Text is 1 for a note that is full of all words of the query. Half of it is
	// the share of the words that the note has, rare words counting more; half is
	// its BM25 score as a share of the highest possible.
	Text float64 `json:"text,omitempty"`
	// Graph is 1 for a note that links to all concepts of the query, or has their
	// name. A related concept counts up to half.
	Graph float64 `json:"graph,omitempty"`
	// Semantic is the cosine of the query and the nearest passage of the note.
	Semantic float64 `json:"meaning,omitempty"`
}

const maxSnippet = 200 // characters

// Search returns the notes that match a query, best first. Notes of equal score
// are in the order of their paths.
//
// In mode Hybrid, a hit has a word of the query, a link to one of its concepts, or
// a passage that is clearly nearer in meaning than two notes of the vault are on
// average.
func (x *Index) Search(ctx context.Context, q Query) (Results, error) {
	if err := q.check(); err != nil {
		return Results{}, err
	}
	if q.Mode == Semantic && x.embedder == nil {
		return Results{}, noEmbeddings()
	}
	asked, err := parse(q.Text)
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
			x.log.WarnContext(ctx, "a search ignores meaning, because the embedding model did not answer", "error", err)
			results.Warning = "the embedding model did not answer; the results are by words and links alone"
		}
	}
	err = x.read(ctx, func(v *view) error {
		results.Hits = nil // of an attempt that found damage
		s := search{view: v, query: &q, request: &asked, model: x.model, vector: vector, results: &results}
		return s.run(ctx)
	})
	return results, err
}

// read calls f with the current state of a complete index. If the index is
// damaged, it rebuilds it and calls f again.
func (x *Index) read(ctx context.Context, f func(*view) error) error {
	err := x.tryRead(ctx, f)
	if isDamage(err) && ctx.Err() == nil {
		x.log.WarnContext(ctx, "the index of the vault is damaged; it is rebuilt", "index", x.path, "error", err)
		damaged, _ := os.Stat(x.path)
		if err = x.repair(ctx, damaged); err == nil {
			err = x.tryRead(ctx, f)
		}
	}
	if err != nil && ctx.Err() != nil { // SQLite's error only says that it was interrupted
		err = ctx.Err()
	}
	return wrap(err)
}

func (x *Index) tryRead(ctx context.Context, f func(*view) error) error {
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

// repair replaces a damaged index, unless another process has done so.
func (x *Index) repair(ctx context.Context, damaged os.FileInfo) error {
	unlock, err := x.lock(ctx)
	if err != nil {
		return err
	}
	if now, err2 := os.Stat(x.path); err2 != nil || damaged == nil || os.SameFile(now, damaged) {
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
	allowed func(*noteInfo) bool // by folder, tags, required and excluded units
	rarest  []unit               // the request's units, those of the fewest notes first
}

// A found note is a candidate with its scores.
type found struct {
	note                         *noteInfo
	score, text, graph, semantic float64
	near                         float64 // semantic against notes picked at random: 0 to 1
	units                        uint64  // a bit for each of search.rarest that the note has
}

func (s *search) run(ctx context.Context) error {
	all, err := s.candidates(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(f *found) bool { return round(f.score) < s.query.MinScore })
	slices.SortFunc(all, func(a, b *found) int { return compareRank(a.score, b.score, a.note, b.note) })
	s.results.Total, s.results.Words = len(all), len(s.rarest)
	s.results.Unlinked = s.unlinked(s.request.links)
	if s.query.Page > len(all) { // the product below could overflow
		return nil
	}
	first := min((s.query.Page-1)*s.query.PageSize, len(all))
	for _, f := range all[first:min(first+s.query.PageSize, len(all))] {
		hit, err := s.hit(ctx, f)
		if err != nil {
			return err
		}
		s.results.Hits = append(s.results.Hits, hit)
	}
	return nil
}

func (s *search) candidates(ctx context.Context) ([]*found, error) {
	if err := s.setAllowed(ctx); err != nil {
		return nil, err
	}
	c := candidates{byID: make(map[int64]*found)}
	if s.query.Mode == Semantic {
		if err := s.addNear(ctx, &c); err != nil {
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
		if err := s.addNear(ctx, &c); err != nil {
			return nil, err
		}
	}
	for _, f := range c.all {
		f.score = 1 - (1-f.text)*(1-linkWeight*f.graph)*(1-meaningWeight*f.near)
	}
	return c.all, nil
}

// The hybrid score that a note can reach by its links alone, and by its meaning
// alone.
const (
	linkWeight    = 0.5
	meaningWeight = 0.5
)

// candidates are the notes that may be hits.
type candidates struct {
	all  []*found
	byID map[int64]*found
}

// get returns the candidate for a note, which it adds if necessary.
func (c *candidates) get(n *noteInfo) *found {
	f := c.byID[n.id]
	if f == nil {
		f = &found{note: n}
		c.byID[n.id] = f
		c.all = append(c.all, f)
	}
	return f
}

// compareRank orders notes by score, then by path.
func compareRank(a, b float64, left, right *noteInfo) int {
	return cmp.Or(cmp.Compare(b, a), strings.Compare(left.path, right.path))
}

// round keeps the four decimals of a score that are worth reading.
func round(score float64) float64 { return math.Round(score*1e4) / 1e4 }

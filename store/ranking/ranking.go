// Package ranking ranks the results of [sequent.Store.Search] and splits them into
// pages. A store finds the thoughts that match and loads those of the page; queries,
// scores and cursors are the same for all stores.
//
//	search, err := ranking.Parse(query)  // refuses queries and cursors that are not valid
//	search.Begin()                       // a matcher and an empty corpus
//	…                                    // on the first page, add thoughts to search.Corpus
//	best, next, err := search.Rank(ctx, newest, block)
//	if len(best) == 0 && search.Relax() { // no thought has all words
//		search.Begin()
//		…                                // as before, for some of the words
//	}
//	unknown, err := search.Unknown(ctx, best, find)
package ranking

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/words"
)

// Limits of a search.
const (
	// BlockSize is the number of thoughts that a store with many should rank against
	// each other. If more match, the newest BlockSize are ranked first, then the next,
	// and so on, because reading and ranking a thought costs about 10 µs.
	BlockSize = 2000

	// Sample is the maximum number of thoughts with a word that a store should count,
	// newest first, to learn how common the word is. See [Estimate].
	Sample = 20_000
)

// A Search computes one page of a result. It is not safe for concurrent use.
type Search struct {
	Query sequent.SearchQuery
	Asked words.Query   // the content of Query.Text; see [Search.Relax]
	From  *words.Cursor // end of the previous page; nil on the first page

	// Matcher matches the text and the note of a thought. Begin sets it.
	Matcher *words.Matcher

	// Corpus has the statistics of all thoughts in the store, also those that the
	// query does not select. The store fills it in on the first page. On later pages
	// Rank replaces it by the first page's.
	Corpus words.Corpus

	digest uint64
}

// Parse parses a query. The error has [sequent.CodeInvalidQuery] and the field query
// or cursor: the text is not a valid query, or the cursor is from another one.
func Parse(q sequent.SearchQuery) (Search, error) {
	asked, err := words.Parse(q.Text)
	if err != nil {
		return Search{}, refuse("query", err)
	}
	asked = asked.Content()
	owner := "one:" + q.Owner
	if q.AllOwners {
		owner = "all"
	}
	s := Search{Query: q, Asked: asked, digest: words.Digest(asked, owner, string(q.Session), q.Project)}
	if q.Cursor != "" {
		c, err := words.ParseCursor(q.Cursor, asked, s.digest)
		if err != nil {
			return Search{}, refuse("cursor", err)
		}
		s.From = &c
		if c.Corpus.Partial {
			s.Asked, _ = asked.Partial()
		}
	}
	return s, nil
}

func refuse(field string, err error) error {
	e := &sequent.Error{Code: sequent.CodeInvalidQuery, Field: field, Msg: "the search is not valid", Err: err}
	if w, ok := errors.AsType[*words.Error](err); ok {
		e.Msg, e.Fix, e.Err = w.Msg, w.Fix, nil
	}
	return e
}

// Begin sets Matcher and an empty Corpus. A store calls it before Rank, and again
// before each further attempt to compute the page.
func (s *Search) Begin() {
	s.Matcher = words.NewMatcher(s.Asked)
	s.Corpus = words.NewCorpus(s.Asked)
}

// A Candidate is a thought that matches and that the query selects.
type Candidate struct {
	ID     int64   // the store's, greater than 0; later thoughts have greater ids
	Counts []int   // a copy of the counts that Matcher.Match returned
	Length int     // in tokens, as Matcher.Match returned it
	Score  float64 // set by Rank; higher is better
}

// compare orders candidates by descending score, then newest first.
func (c *Candidate) compare(o *Candidate) int {
	return cmp.Or(cmp.Compare(o.Score, c.Score), cmp.Compare(o.ID, c.ID))
}

// Estimate returns the number of thoughts with a word, for Corpus.Hits. Of those, n
// were counted from the newest down to the id oldest; newest is the greatest id of all
// thoughts. Below [Sample] the count is exact, otherwise it is extrapolated.
func Estimate(n, oldest, newest int64) int64 {
	if n == Sample {
		n = max(n, int64(float64(n)*float64(newest)/float64(newest-oldest+1)))
	}
	return n
}

// A Block returns the candidates with ids from at.Low to at.Bound, in any order. If
// at.Low is 0, the store chooses where the block begins and sets at.Low: about
// [BlockSize] candidates below at.Bound, or 1 for all of them.
//
// If Search.Asked is partial, at.Low and at.Bound are positions in another order, and
// the store uses [Search.Divide], or returns all candidates with ids up to at.Newest
// and sets at.Low to 1.
type Block func(ctx context.Context, at *words.Cursor) ([]Candidate, error)

// Rank ranks block after block until the page is full: by score, then newest first.
// It returns at most Query.PageSize hits and the cursor of the next page, or "" if
// this is the last. The first page has thoughts up to the id newest, later pages
// continue at the cursor, so that thoughts recorded meanwhile do not move others to
// another page. The store must have completed the corpus by the end of the first call
// of block. Errors are those of block.
func (s *Search) Rank(ctx context.Context, newest int64, block Block) (hits []Candidate, next string, err error) {
	at := words.Cursor{Query: s.digest, Bound: newest, Score: math.MaxFloat64, ID: math.MaxInt64}
	if s.Asked.IsPartial() {
		at.Bound, at.Newest = math.MaxInt64, newest
	}
	if s.From != nil {
		at = *s.From
		s.Corpus = at.Corpus // the first page's, so that scores compare
	}
	limit := s.Query.PageSize()
	for at.Bound > 0 {
		found, err := block(ctx, &at)
		if err != nil {
			return nil, "", err
		}
		for i := range found {
			found[i].Score = s.Corpus.Score(found[i].Counts, found[i].Length)
		}
		after := Candidate{ID: at.ID, Score: at.Score}
		found = slices.DeleteFunc(found, func(c Candidate) bool { return after.compare(&c) >= 0 })
		slices.SortFunc(found, func(a, b Candidate) int { return a.compare(&b) })
		if room := limit - len(hits); len(found) > room {
			hits = append(hits, found[:room]...)
			last := hits[limit-1]
			at.Score, at.ID = last.Score, last.ID
			break
		}
		hits = append(hits, found...)
		at.Bound, at.Low, at.Score, at.ID = at.Low-1, 0, math.MaxFloat64, math.MaxInt64
		if len(hits) == limit {
			break
		}
	}
	if at.Bound > 0 {
		at.Corpus = s.Corpus
		next = at.String()
	}
	return hits, next, nil
}

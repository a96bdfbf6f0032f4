// Package ranked implements searching for SQL stores: a store finds the matching
// thoughts, this package ranks them and splits the result into pages.
package ranked

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/words"
)

// Limits of a search.
const (
	defaultHits = 20   // hits on a page
	MaxHits     = 1000 // hits on a page

	// BlockSize is the number of thoughts that are ranked against each other. If
	// more match, the newest BlockSize are ranked first, then the next, and so on,
	// because reading and ranking a thought costs about 10 µs.
	BlockSize = 2000

	// Sample is the maximum number of thoughts with a word that are counted, newest
	// first, to learn how common the word is. See [Estimate].
	Sample = 20_000
)

// A Search computes one page of a result.
type Search struct {
	Query sequent.SearchQuery
	Asked words.Query
	From  *words.Cursor // end of the previous page; nil on the first page

	// Matcher matches the thoughts that the store reads. Corpus is filled in by
	// the store.
	Matcher *words.Matcher
	Corpus  words.Corpus

	digest uint64
}

// Parse parses a query. It returns an error with [sequent.CodeInvalidQuery] if the
// text is not a valid query or the cursor is from another one.
func Parse(q sequent.SearchQuery) (Search, error) {
	asked, err := words.Parse(q.Text)
	if err != nil {
		return Search{}, refuse("query", err)
	}
	owner := "one:" + q.Owner
	if q.AllOwners {
		owner = "all"
	}
	s := Search{Query: q, Asked: asked, digest: words.Digest(asked, owner, string(q.Session))}
	if q.Cursor != "" {
		c, err := words.ParseCursor(q.Cursor, asked, s.digest)
		if err != nil {
			return Search{}, refuse("cursor", err)
		}
		s.From = &c
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

// Begin resets the matcher and the corpus. A store calls it before each attempt to
// compute the page.
func (s *Search) Begin() {
	s.Matcher = words.NewMatcher(s.Asked)
	s.Corpus = words.NewCorpus(s.Asked)
}

// A Candidate is a thought that matches.
type Candidate struct {
	ID     int64 // ids grow with time
	Counts []int // occurrences of each wanted term
	Length int   // in tokens
	Score  float64
}

// compare orders candidates by descending score, then newest first.
func (c *Candidate) compare(o *Candidate) int {
	return cmp.Or(cmp.Compare(o.Score, c.Score), cmp.Compare(o.ID, c.ID))
}

// Estimate returns the estimated number of thoughts with a word. Of those, n were
// counted from the newest down to the id oldest; newest is the greatest id of all
// thoughts. Below [Sample] the count is exact, otherwise it is extrapolated.
func Estimate(n, oldest, newest int64) int64 {
	if n == Sample {
		n = max(n, int64(float64(n)*float64(newest)/float64(newest-oldest+1)))
	}
	return n
}

// A Block returns the matching thoughts of one block: ids at.Low to at.Bound, or,
// if at.Low is 0, the newest [BlockSize] up to at.Bound, in which case it sets
// at.Low to the block's lowest id.
type Block func(ctx context.Context, at *words.Cursor) ([]Candidate, error)

// Rank ranks block after block until the page is full. It returns the hits and the
// cursor of the next page, or "" if this is the last. The first page searches
// thoughts up to the id newest, others continue at the cursor. The store must have
// completed the corpus by the end of the first call of block.
func (s *Search) Rank(ctx context.Context, newest int64, block Block) (hits []Candidate, next string, err error) {
	at := words.Cursor{Query: s.digest, Bound: newest, Score: math.MaxFloat64, ID: math.MaxInt64}
	if s.From != nil {
		at = *s.From
		s.Corpus = at.Corpus // the first page's, so that scores compare
	}
	limit := min(cmp.Or(max(s.Query.Limit, 0), defaultHits), MaxHits)
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

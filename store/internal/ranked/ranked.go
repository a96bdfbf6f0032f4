// Package ranked searches the thoughts of SQL stores: it ranks those that a store
// proposes, and pages through them.
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

// Bounds of a search.
const (
	defaultHits = 20
	MaxHits     = 1000 // of a page

	// BlockSize is how many thoughts are ranked against each other. If more
	// match, the newest so many are ranked first, then the next, and so on:
	// reading and ranking a thought costs about 10 µs, however common the words.
	BlockSize = 2000

	// Sample is how many thoughts with a word are counted, newest first, to tell
	// how common the word is; beyond that it is estimated.
	Sample = 20_000
)

// A Search is one page of a result in the making.
type Search struct {
	Query sequent.SearchQuery
	Asked words.Query
	From  *words.Cursor // where the page before ended; nil on the first page

	// Matcher and Corpus are the store's to use and to fill in.
	Matcher *words.Matcher
	Corpus  words.Corpus

	digest uint64
}

// Parse returns a search that has not begun. Its error is a *sequent.Error: the
// query cannot be understood, or the cursor is none of it.
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
	e := &sequent.Error{Code: sequent.CodeInvalidQuery, Field: field, Msg: "the search cannot be understood", Err: err}
	if w, ok := errors.AsType[*words.Error](err); ok {
		e.Msg, e.Fix, e.Err = w.Msg, w.Fix, nil
	}
	return e
}

// Begin makes ready for a try: a store may have to try again.
func (s *Search) Begin() {
	s.Matcher = words.NewMatcher(s.Asked)
	s.Corpus = words.NewCorpus(s.Asked)
}

// A Candidate is a thought that matches.
type Candidate struct {
	ID     int64 // the greater, the newer
	Counts []int // of each wanted term
	Length int   // in tokens
	Score  float64
}

// compare puts the better of two candidates first; of equals, the newer.
func (c *Candidate) compare(o *Candidate) int {
	return cmp.Or(cmp.Compare(o.Score, c.Score), cmp.Compare(o.ID, c.ID))
}

// Estimate returns how many thoughts have a word of which n were counted, the
// newest, down to the id oldest; newest is the greatest id of all.
func Estimate(n, oldest, newest int64) int64 {
	if n == Sample { // the newest say how common it is among all
		n = max(n, int64(float64(n)*float64(newest)/float64(newest-oldest+1)))
	}
	return n
}

// A Block finds the matching thoughts of the block that at is in: the newest up to
// at.Bound. It sets at.Low to the oldest that belongs to it, or finds it set and
// keeps to it.
type Block func(ctx context.Context, at *words.Cursor) ([]Candidate, error)

// Rank ranks block after block until the page is full, and returns the best and
// the cursor for the page after it; it is empty if there is none. On the first page
// thoughts up to the id newest are searched; on another, from the cursor on. The
// corpus is complete at the latest when the first block is found.
func (s *Search) Rank(ctx context.Context, newest int64, block Block) (hits []Candidate, next string, err error) {
	at := words.Cursor{Query: s.digest, Bound: newest, Score: math.MaxFloat64, ID: math.MaxInt64}
	if s.From != nil {
		at = *s.From
		s.Corpus = at.Corpus // as on the first page
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

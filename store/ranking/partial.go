package ranking

import (
	"cmp"
	"context"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/words"
)

// Relax makes s a search for thoughts with some of the words, those with most words
// first. It returns false if that finds nothing more, and on later pages. A store calls
// it if the first page has no hit, and then begins again.
func (s *Search) Relax() bool {
	if s.From != nil || s.Asked.IsPartial() {
		return false
	}
	partial, ok := s.Asked.Partial()
	if ok {
		s.Asked = partial
	}
	return ok
}

// idBits is the number of bits of an id in a position.
const idBits = 50

// position returns the place of a thought in the order of a partial search: by the
// number of its terms, then newest first.
func position(terms int, id int64) int64 { return int64(terms)<<idBits | id }

func (c *Candidate) position() int64 {
	terms := 0
	for _, n := range c.Counts {
		if n > 0 {
			terms++
		}
	}
	return position(terms, c.ID)
}

// Divide returns the block of a partial search that at describes, and sets at.Low. The
// lists have, for each wanted term, the ids of thoughts that have it according to the
// index. The candidates are matching thoughts that are not in the index. Read returns
// those of some thoughts in the index that match and that the query selects. A block
// has about size thoughts, those with most terms first.
func (s *Search) Divide(at *words.Cursor, size int, lists [][]int64, candidates []Candidate,
	read func(ids []int64) ([]Candidate, error),
) ([]Candidate, error) {
	all := slices.Concat(lists...)
	slices.Sort(all)
	var places []int64
	add := func(id, place int64) {
		if id <= at.Newest && place <= at.Bound && place >= at.Low {
			places = append(places, place)
		}
	}
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		add(all[i], position(n, all[i]))
		i += n
	}
	unindexed := make(map[int64]Candidate, len(candidates))
	for _, c := range candidates {
		unindexed[c.ID] = c
		add(c.ID, c.position())
	}
	slices.SortFunc(places, func(a, b int64) int { return cmp.Compare(b, a) })

	limit := size + 1 // one more, to learn whether there are more
	if at.Low > 0 {
		limit = len(places)
	}
	var found []Candidate
	for len(places) > 0 && len(found) < limit {
		var ids []int64
		n := min(limit-len(found), len(places))
		for _, p := range places[:n] {
			id := p & (1<<idBits - 1)
			if c, ok := unindexed[id]; ok {
				found = append(found, c)
			} else {
				ids = append(ids, id)
			}
		}
		places = places[n:]
		if len(ids) == 0 {
			continue
		}
		matching, err := read(ids)
		if err != nil {
			return nil, err
		}
		found = append(found, matching...)
	}
	if at.Low == 0 {
		at.Low = 1
		if len(found) == limit {
			slices.SortFunc(found, func(a, b Candidate) int { return cmp.Compare(b.position(), a.position()) })
			found = found[:size]
			at.Low = found[size-1].position()
		}
	}
	return found, nil
}

// A Find returns the newest thoughts that match a query and that the search selects,
// at most n.
type Find func(ctx context.Context, q words.Query, n int) ([]Candidate, error)

// Limits of Unknown.
const (
	maxUnknown = 5   // words
	nearSample = 200 // thoughts with a word that is near an unknown one
)

// Unknown returns the words of the query that no selected thought has, at most five,
// with the nearest words that selected thoughts have. It looks for them only if no
// thought has all words, on the first page. Hits are those of the page.
//
// It costs a search that matches one thought for each word of the query, and one of at
// most 200 thoughts for each unknown word. Errors are those of find.
func (s *Search) Unknown(ctx context.Context, hits []Candidate, find Find) ([]sequent.UnknownWord, error) {
	if s.From != nil || len(hits) > 0 && !s.Asked.IsPartial() {
		return nil, nil
	}
	var unknown []sequent.UnknownWord
	for i, t := range s.Asked.Wanted() {
		if words.Unspaced(t.Tokens[0]) || len(unknown) == maxUnknown ||
			slices.ContainsFunc(hits, func(c Candidate) bool { return c.Counts[i] > 0 }) {
			continue
		}
		found, err := find(ctx, t.Query(), 1)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			continue
		}
		word := sequent.UnknownWord{Word: t.String()}
		if near, ok := words.Near(t); ok {
			if found, err = find(ctx, near, nearSample); err != nil {
				return nil, err
			}
			counts := make([][]int, len(found))
			for i, c := range found {
				counts[i] = c.Counts
			}
			word.Nearest = words.Nearest(t, near, counts)
		}
		unknown = append(unknown, word)
	}
	return unknown, nil
}

package index

import (
	"context"
	"math"
	"slices"
)

// A tally says how often a note has a unit, the head's weight included.
type tally struct {
	note  int64
	count float64
}

// addMatches adds the notes that have at least one of the words asked for, with
// their text score.
func (s *search) addMatches(ctx context.Context, c *candidates) error {
	units := s.request.units
	ranking := newRanking(len(s.notes), s.words)
	lists := make([][]tally, len(units))
	longest := 0
	for i, u := range units {
		var err error
		if lists[i], err = s.tallies(ctx, u); err != nil {
			return err
		}
		if lists[i], err = s.addForms(ctx, u, lists[i]); err != nil {
			return err
		}
		ranking.add(len(lists[i]), weight(u))
		longest = max(longest, len(lists[i]))
	}
	c.grow(longest)
	var room []float64 // for the counts of many notes
	for {
		next := int64(math.MaxInt64)
		for _, l := range lists {
			if len(l) > 0 {
				next = min(next, l[0].note)
			}
		}
		if next == math.MaxInt64 {
			return nil
		}
		if len(room) < len(lists) {
			room = make([]float64, len(lists)*256)
		}
		counts := room[:len(lists):len(lists)]
		clear(counts)
		for i, l := range lists {
			if len(l) > 0 && l[0].note == next {
				counts[i] = l[0].count
				lists[i] = l[1:]
			}
		}
		n := s.notes[next]
		if n == nil { // the file contradicts itself
			return errPostings
		}
		if s.allowed(next) && s.query.admits(n) {
			f := c.get(n)
			f.counts, f.text = counts, ranking.score(counts, n.length)
			room = room[len(lists):]
		}
	}
}

// setAllowed looks up what is required and what is excluded.
func (s *search) setAllowed(ctx context.Context) error {
	lookUp := func(u unit) (map[int64]bool, error) {
		list, err := s.tallies(ctx, u)
		have := make(map[int64]bool, len(list))
		for _, t := range list {
			have[t.note] = true
		}
		return have, err
	}
	var required, excluded []map[int64]bool
	for _, u := range s.request.required {
		have, err := lookUp(u)
		if err != nil {
			return err
		}
		required = append(required, have)
	}
	for _, u := range s.request.excluded {
		have, err := lookUp(u)
		if err != nil {
			return err
		}
		excluded = append(excluded, have)
	}
	s.allowed = func(note int64) bool {
		lacks := func(have map[int64]bool) bool { return !have[note] }
		has := func(have map[int64]bool) bool { return have[note] }
		return !slices.ContainsFunc(required, lacks) && !slices.ContainsFunc(excluded, has)
	}
	return nil
}

// tallies returns the notes that have a unit, in the order of their ids.
func (v *view) tallies(ctx context.Context, u unit) ([]tally, error) {
	var sums [fields][]tally
	for f := range fields {
		postings, err := v.phrase(ctx, u, f)
		if err != nil {
			return nil, err
		}
		sums[f] = make([]tally, 0, len(postings))
		for _, p := range postings {
			n := float64(p.count)
			if f == inHead {
				n *= headWeight
			}
			sums[f] = append(sums[f], tally{p.note, n})
		}
	}
	return addTallies(sums[inBody], sums[inHead]), nil
}

// addForms adds the notes that have another form of a word that was not quoted.
func (s *search) addForms(ctx context.Context, u unit, list []tally) ([]tally, error) {
	if len(u.tokens) != 1 || u.prefix || slices.ContainsFunc(s.request.required, u.equal) {
		return list, nil
	}
	for _, form := range forms(u.tokens[0]) {
		more, err := s.tallies(ctx, unit{tokens: []string{form}})
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].count *= otherForm
		}
		list = addTallies(list, more)
	}
	return list, nil
}

func addTallies(a, b []tally) []tally {
	if len(b) == 0 {
		return a
	}
	out := make([]tally, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].note < b[0].note:
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || b[0].note < a[0].note:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, tally{a[0].note, a[0].count + b[0].count})
			a, b = a[1:], b[1:]
		}
	}
	return out
}

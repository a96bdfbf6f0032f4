package index

import (
	"context"
	"database/sql"
	"errors"
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

// phrase returns where the tokens of a unit follow each other in a field.
func (v *view) phrase(ctx context.Context, u unit, f field) ([]posting, error) {
	var found []posting
	for i, token := range u.tokens {
		var list []posting
		var err error
		if u.prefix && i == len(u.tokens)-1 {
			list, err = v.beginning(ctx, token, f)
		} else {
			list, err = v.postings(ctx, token, f)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			found = list
		} else if found, err = follow(found, list, i); err != nil {
			return nil, err
		}
		if len(found) == 0 {
			break
		}
	}
	return found, nil
}

// follow returns those places of a that have one of b so many places after
// them.
func follow(a, b []posting, distance int) ([]posting, error) {
	var out []posting
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].note < b[0].note:
			a = a[1:]
			continue
		case b[0].note < a[0].note:
			b = b[1:]
			continue
		}
		first, err := decodePlaces(a[0].data)
		if err != nil {
			return nil, err
		}
		then, err := decodePlaces(b[0].data)
		if err != nil {
			return nil, err
		}
		kept := first[:0]
		for _, at := range first {
			for len(then) > 0 && then[0] < at+distance {
				then = then[1:]
			}
			if len(then) > 0 && then[0] == at+distance {
				kept = append(kept, at)
			}
		}
		if len(kept) > 0 {
			out = append(out, posting{a[0].note, len(kept), encodePlaces(kept)})
		}
		a, b = a[1:], b[1:]
	}
	return out, nil
}

// postings returns where a word is in a field.
func (v *view) postings(ctx context.Context, word string, f field) ([]posting, error) {
	var id int64
	err := v.tx.QueryRowContext(ctx, "SELECT id FROM words WHERE word = ?", word).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return v.rows(ctx, id, f)
}

func (v *view) rows(ctx context.Context, word int64, f field) ([]posting, error) {
	first := rowKey(word, f, 0)
	rows, err := v.tx.QueryContext(ctx, "SELECT key, data FROM postings WHERE key BETWEEN ? AND ? ORDER BY key",
		first, first|(1<<24-1))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []posting
	for rows.Next() {
		var key int64
		var data []byte
		if err := rows.Scan(&key, &data); err != nil {
			return nil, err
		}
		out = slices.Grow(out, chunkNotes/8)
		if out, err = appendPostings(out, key-first, data); err != nil {
			return nil, err
		}
	}
	return out, rows.Err()
}

// mostBeginnings bounds the words that one beginning stands for.
const mostBeginnings = 1000

// beginning returns where the words that begin so are in a field.
func (v *view) beginning(ctx context.Context, start string, f field) ([]posting, error) {
	ids, err := v.wordsFrom(ctx, start)
	if err != nil {
		return nil, err
	}
	places := make(map[int64][]int)
	for _, id := range ids {
		list, err := v.rows(ctx, id, f)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			at, err := decodePlaces(p.data)
			if err != nil {
				return nil, err
			}
			places[p.note] = append(places[p.note], at...)
		}
	}
	var out []posting
	for note, at := range places {
		slices.Sort(at)
		out = append(out, posting{note, len(at), encodePlaces(at)})
	}
	sortPostings(out)
	return out, nil
}

func (v *view) wordsFrom(ctx context.Context, start string) ([]int64, error) {
	rows, err := v.tx.QueryContext(ctx, "SELECT id FROM words WHERE word >= ? AND word < ? ORDER BY word LIMIT ?",
		start, start+"\U0010FFFF", mostBeginnings)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

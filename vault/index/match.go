package index

import (
	"context"
	"math"
	"slices"
	"strings"
)

// bm25 returns the FTS5 score of each match. The weights of the columns say how
// much a word in the head counts against one in the body.
const bm25 = "SELECT rowid, -bm25(words, 3, 1, 3, 1) FROM words WHERE words MATCH ?"

// setAllowed looks up the required and the excluded units.
func (s *search) setAllowed(ctx context.Context) error {
	lookUp := func(units []unit) (sets []map[int64]bool, err error) {
		for _, u := range units {
			list, err := s.having(ctx, u)
			if err != nil {
				return nil, err
			}
			set := make(map[int64]bool, len(list))
			for _, id := range list {
				set[id] = true
			}
			sets = append(sets, set)
		}
		return sets, nil
	}
	required, err := lookUp(s.request.required)
	if err != nil {
		return err
	}
	excluded, err := lookUp(s.request.excluded)
	if err != nil {
		return err
	}
	s.allowed = func(n *noteInfo) bool {
		lacks := func(set map[int64]bool) bool { return !set[n.id] }
		has := func(set map[int64]bool) bool { return set[n.id] }
		return s.query.admits(n) && !slices.ContainsFunc(required, lacks) && !slices.ContainsFunc(excluded, has)
	}
	return nil
}

// having returns the notes that have a unit.
func (v *view) having(ctx context.Context, u unit) ([]int64, error) {
	return ids(v.tx.QueryContext(ctx, "SELECT rowid FROM words WHERE words MATCH ?", u.fts5()))
}

// addMatches adds the notes that have at least one unit, with their text score:
// half is the share of the units that the note has, weighted by rarity; half is
// its BM25 score as a share of the highest possible one.
//
// BM25 alone would not do. For a word that more than half of the notes have it is
// nearly 0, and in a small vault most words are such.
func (s *search) addMatches(ctx context.Context, c *candidates) error {
	type match struct {
		unit   unit
		notes  []int64
		rarity float64
	}
	matches := make([]match, len(s.request.units))
	texts := make([]string, len(matches))
	rarities, best := 0.0, 0.0
	for i, u := range s.request.units {
		list, err := s.having(ctx, u)
		if err != nil {
			return err
		}
		all, n := float64(len(s.notes)), float64(len(list))
		matches[i] = match{u, list, math.Log(1 + (all-n+0.5)/(n+0.5))}
		rarities += matches[i].rarity
		// What FTS5's bm25 tends to for a text full of the unit.
		best += max(math.Log((all-n+0.5)/(n+0.5)), 1e-6) * 2.2
		texts[i] = u.fts5()
	}
	slices.SortStableFunc(matches, func(a, b match) int { return len(a.notes) - len(b.notes) })
	for _, m := range matches {
		s.rarest = append(s.rarest, m.unit)
	}
	for i, m := range matches {
		for _, id := range m.notes {
			n := s.notes[id]
			if n == nil { // the tables contradict each other
				return errDamaged
			}
			if s.allowed(n) {
				f := c.get(n)
				f.text += m.rarity / rarities / 2
				f.units |= 1 << i
			}
		}
	}
	rows, err := s.tx.QueryContext(ctx, bm25, strings.Join(texts, " OR "))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			return err
		}
		if f := c.byID[id]; f != nil {
			f.text = min(f.text+score/best/2, 1)
		}
	}
	return rows.Err()
}

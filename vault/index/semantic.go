package index

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// queryVector returns the vector of a query's text. A hybrid search waits at most
// Config.EmbedTimeout for it.
func (x *Index) queryVector(ctx context.Context, q *Query) ([]float32, error) {
	if q.Mode == Hybrid {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, x.cfg.EmbedTimeout)
		defer cancel()
	}
	got, err := x.ask(ctx, []string{strings.TrimSpace(q.Text)})
	if err != nil {
		return nil, err
	}
	return got[0], nil
}

const (
	// nearFloor is how near in meaning a hit without words and links must be, on a
	// scale from 0, the average of two passages, to 1, the same text.
	nearFloor = 0.2
	maxNear   = 50 // hits without words and links, in a hybrid search
)

// addNear sets the semantic scores of the candidates. It adds the nearest notes;
// in mode Semantic, all.
func (s *search) addNear(ctx context.Context, out *Results) error {
	cosines, usual, err := s.cosines(ctx)
	if err != nil {
		return err
	}
	if lacking := int(s.notes) - len(cosines); lacking > 0 {
		out.Warning = fmt.Sprintf("%d of %d notes have no embeddings yet and are not found by meaning; "+
			"sync makes them, or sequent vault rebuild if the model has changed", lacking, int(s.notes))
	}
	type near struct {
		id             int64
		cosine, scaled float64
	}
	var all []near
	for id, c := range cosines {
		if c > 0 && (s.allowed == nil || s.allowed[id]) {
			all = append(all, near{id, min(c, 1), max((c-usual)/max(1-usual, 1e-9), 0)})
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.id, b.id)) })
	for i, n := range all {
		if s.query.Mode == Semantic || i < maxNear && n.scaled >= nearFloor || s.found[n.id] != nil {
			f := s.get(n.id)
			f.semantic, f.near = n.cosine, min(n.scaled, 1)
		}
	}
	return nil
}

// cosines returns the cosine of the query and the nearest passage of each note, and the
// average cosine of two different passages, which is what a model gives to unrelated
// texts: 0.1 with some models, 0.7 with others. It follows from the sum of all vectors,
// whose square is the sum of the cosines of all pairs.
func (s *search) cosines(ctx context.Context) (best map[int64]float64, usual float64, err error) {
	best = make(map[int64]float64)
	sum := make([]float64, len(s.vector))
	count := 0.0
	err = each(ctx, s.tx, func(scan scanner) error {
		var id int64
		var data sql.RawBytes
		if err := scan(&id, &data); err != nil || len(data) != 4*len(sum) {
			return err // the model has changed under its name; vault rebuild embeds all notes again
		}
		cosine := 0.0
		for i, f := range s.vector {
			v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			cosine += float64(f * v)
			sum[i] += float64(v)
		}
		best[id] = max(best[id], cosine)
		count++
		return nil
	}, "SELECT p.note, v.vector FROM notes n JOIN passages p ON p.note = n.id JOIN vectors v ON v.key = p.key WHERE n.embedded = ?",
		s.index.cfg.Model)
	if count < 2 {
		return best, 0, err
	}
	square := 0.0
	for _, f := range sum {
		square += f * f
	}
	return best, max((square-count)/(count*(count-1)), 0), err
}

package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A vectorCache holds the vectors of all passages in memory.
type vectorCache struct {
	mu       sync.Mutex
	rev      int64
	vectors  map[int64][][]float32 // by note
	baseline float64
}

// vectorsAt returns the vectors of the notes, as of v or later, and the average
// cosine of two passages.
func (v *view) vectorsAt(ctx context.Context, model string) (map[int64][][]float32, float64, error) {
	c := &v.file.vectors
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.vectors != nil && c.rev >= v.rev {
		return c.vectors, c.baseline, nil
	}
	next := make(map[int64][][]float32, len(v.notes))
	for id, vectors := range c.vectors {
		if v.notes[id] != nil {
			next[id] = vectors
		}
	}
	rows, err := v.tx.QueryContext(ctx, `
		SELECT n.id, v.vector FROM notes n
		LEFT JOIN passages p ON p.note = n.id AND n.embedded = ? LEFT JOIN vectors v ON v.id = p.vector
		WHERE n.rev > ? ORDER BY n.id, p.seq`, model, c.rev)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	last := int64(0)
	for rows.Next() {
		var id int64
		var data []byte
		if err := rows.Scan(&id, &data); err != nil {
			return nil, 0, err
		}
		if id != last {
			delete(next, id)
			last = id
		}
		if data != nil {
			next[id] = append(next[id], unpackVector(data))
		}
	}
	if err := rows.Err(); err != nil {
		return nil, 0, err
	}
	c.vectors, c.rev, c.baseline = next, v.rev, baseline(next)
	return c.vectors, c.baseline, nil
}

// baseline returns the average cosine of two different passages, which is what a
// model gives to unrelated texts: 0.1 with some models, 0.7 with others.
//
// It is computed from the sum of all vectors, whose square is the sum of the
// cosines of all pairs.
func baseline(notes map[int64][][]float32) float64 {
	var sum []float64
	n := 0.0
	for _, vectors := range notes {
		for _, vector := range vectors {
			if sum == nil {
				sum = make([]float64, len(vector))
			}
			if len(vector) != len(sum) {
				continue
			}
			n++
			for i, f := range vector {
				sum[i] += float64(f)
			}
		}
	}
	if n < 2 {
		return 0
	}
	square := 0.0
	for _, f := range sum {
		square += f * f
	}
	return max((square-n)/(n*(n-1)), 0)
}

// A queryCache keeps the vectors of recent queries.
type queryCache struct {
	mu      sync.Mutex
	vectors map[string][]float32
}

const maxCachedQueries = 256

// queryVector returns the vector of a query's text. A hybrid search waits at most
// Config.EmbedTimeout for it.
func (x *Index) queryVector(ctx context.Context, q *Query) ([]float32, error) {
	text := strings.TrimSpace(q.Text)
	x.queries.mu.Lock()
	vector, ok := x.queries.vectors[text]
	x.queries.mu.Unlock()
	if ok {
		return vector, nil
	}
	if q.Mode == Hybrid {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, x.embedTimeout)
		defer cancel()
	}
	got, err := x.ask(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	x.queries.mu.Lock()
	defer x.queries.mu.Unlock()
	if x.queries.vectors == nil || len(x.queries.vectors) >= maxCachedQueries {
		x.queries.vectors = make(map[string][]float32)
	}
	x.queries.vectors[text] = got[0]
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
func (s *search) addNear(ctx context.Context, c *candidates) error {
	vectors, baseline, err := s.vectorsAt(ctx, s.model)
	if err != nil {
		return err
	}
	var all []*found
	lacking := 0
	for id, n := range s.notes {
		list := vectors[id]
		if len(list) == 0 || len(list[0]) != len(s.vector) {
			lacking++
			continue
		}
		best := 0.0
		for _, vector := range list {
			best = max(best, dot(s.vector, vector))
		}
		if best = min(best, 1); best > 0 && s.allowed(n) {
			near := 0.0
			if baseline < 1 {
				near = max((best-baseline)/(1-baseline), 0)
			}
			all = append(all, &found{note: n, semantic: best, near: near})
		}
	}
	if lacking > 0 {
		s.results.Warning = fmt.Sprintf("%d of %d notes have no embeddings yet and are not found by meaning; sync makes them", lacking, len(s.notes))
	}
	slices.SortFunc(all, func(a, b *found) int { return compareRank(a.semantic, b.semantic, a.note, b.note) })
	for i, n := range all {
		if s.query.Mode == Semantic || i < maxNear && n.near >= nearFloor || c.byID[n.note.id] != nil {
			f := c.get(n.note)
			f.semantic, f.near = n.semantic, n.near
		}
	}
	return nil
}

func dot(a, b []float32) float64 {
	sum := float32(0)
	for i, f := range a {
		sum += f * b[i]
	}
	return float64(sum)
}

package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A vectorCache keeps the vectors of all passages in memory.
type vectorCache struct {
	mu    sync.Mutex
	rev   int64
	notes map[int64][][]float32
}

// vectorsAt returns the vectors of the notes, as of v or later.
func (v *view) vectorsAt(ctx context.Context, model string) (map[int64][][]float32, error) {
	c := &v.file.vectors
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notes != nil && c.rev >= v.rev {
		return c.notes, nil
	}
	next := make(map[int64][][]float32, len(v.notes))
	for id, vectors := range c.notes {
		if v.notes[id] != nil {
			next[id] = vectors
		}
	}
	rows, err := v.tx.QueryContext(ctx, `
		SELECT n.id, v.vector FROM notes n
		LEFT JOIN passages p ON p.note = n.id AND n.embedded = ? LEFT JOIN vectors v ON v.id = p.vector
		WHERE n.rev > ? ORDER BY n.id, p.seq`, model, c.rev)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	last := int64(0)
	for rows.Next() {
		var id int64
		var data []byte
		if err := rows.Scan(&id, &data); err != nil {
			return nil, err
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
		return nil, err
	}
	c.notes, c.rev = next, v.rev
	return next, nil
}

// A queryCache keeps the vectors of the last queries.
type queryCache struct {
	mu      sync.Mutex
	vectors map[string][]float32
}

const queriesKept = 256

// queryVector returns the vector of a query's text. A hybrid search does not
// wait for it for ever.
func (x *Index) queryVector(ctx context.Context, q *Query) ([]float32, error) {
	text := strings.TrimSpace(q.Text)
	x.asked.mu.Lock()
	vector, ok := x.asked.vectors[text]
	x.asked.mu.Unlock()
	if ok {
		return vector, nil
	}
	if q.Mode == Hybrid {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, x.embedPatience)
		defer cancel()
	}
	got, err := x.ask(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	x.asked.mu.Lock()
	defer x.asked.mu.Unlock()
	if x.asked.vectors == nil || len(x.asked.vectors) >= queriesKept {
		x.asked.vectors = make(map[string][]float32)
	}
	x.asked.vectors[text] = got[0]
	return got[0], nil
}

// addNear adds the notes that are closest in meaning, at most so many, and
// gives those that are candidates already their semantic score.
func (s *search) addNear(ctx context.Context, c *candidates, most int) error {
	vectors, err := s.vectorsAt(ctx, s.model)
	if err != nil {
		return err
	}
	type near struct {
		note  *noteInfo
		score float64
	}
	var all []near
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
		if best > 0 && s.allowed(id) && s.query.admits(n) {
			all = append(all, near{n, min(best, 1)})
		}
	}
	if lacking > 0 {
		s.results.Warning = fmt.Sprintf("%d of %d notes have no embeddings yet and are not found by meaning; sync makes them", lacking, len(s.notes))
	}
	slices.SortFunc(all, func(a, b near) int { return compareRank(a.score, b.score, a.note, b.note) })
	for i, n := range all {
		if i < most || c.byID[n.note.id] != nil {
			c.get(n.note).semantic = n.score
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

package jsonlines

import (
	"cmp"
	"context"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/listing"
	"github.com/sequent-dev/sequent/store/ranking"
	"github.com/sequent-dev/sequent/words"
)

// List implements [sequent.Store]. It reads the headers of all sessions.
func (s *Store) List(ctx context.Context, q sequent.Query) (sequent.Page, error) {
	after, err := listing.After(q)
	if err != nil {
		return sequent.Page{}, err
	}
	type entry struct {
		at     listing.Cursor
		header sequent.Header
	}
	later := func(a, b listing.Cursor) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.Key, a.Key)) }
	var found []entry
	s.mu.RLock()
	err = s.usable(ctx)
	for _, v := range s.sessions {
		h := v.header
		at := listing.At(q, v.key, &h)
		if (q.AllOwners || h.Owner == q.Owner) && (q.Scope == "" || h.Scope == q.Scope) && h.Context.InProject(q.Project) &&
			!h.Updated.Before(q.Since) && !h.Created.Before(q.Begun) && v.begunBy(q.Request) && (q.Now.IsZero() || !h.Expired(q.Now)) &&
			(after == nil || later(*after, at) < 0) {
			found = append(found, entry{at, h})
		}
	}
	s.mu.RUnlock()
	if err != nil {
		return sequent.Page{}, err
	}
	slices.SortFunc(found, func(a, b entry) int { return later(a.at, b.at) })
	var page sequent.Page
	if limit := q.PageSize(); len(found) > limit {
		found = found[:limit]
		page.Next = found[limit-1].at.String()
	}
	for _, e := range found {
		page.Headers = append(page.Headers, e.header)
	}
	return page, nil
}

// begunBy reports whether r is the request of the first thought, or has no key.
func (s session) begunBy(r sequent.Request) bool {
	return r.Key == "" || slices.ContainsFunc(s.entries, func(e sequent.Entry) bool {
		return e.Thought.Seq == 1 && e.Thought.Request == r
	})
}

// Search implements [sequent.Store]. It reads all thoughts.
func (s *Store) Search(ctx context.Context, q sequent.SearchQuery) (sequent.Hits, error) {
	search, err := ranking.Parse(q)
	if err != nil {
		return sequent.Hits{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return sequent.Hits{}, err
	}
	search.Begin()
	var candidates []ranking.Candidate
	hits := make(map[int64]sequent.Hit) // by the id of the thought
	for k, v := range s.sessions {
		selected := (q.AllOwners || k.Owner == q.Owner) && (q.Session == "" || k.ID == q.Session) && v.header.Context.InProject(q.Project) &&
			(q.Now.IsZero() || !v.header.Expired(q.Now))
		for i, e := range v.entries {
			if e.Kind != sequent.KindThought {
				continue
			}
			t := e.Thought
			counts, length, ok := search.Matcher.Match(t.Text, t.Note)
			search.Corpus.Add(counts, length)
			if ok && selected {
				candidates = append(candidates, ranking.Candidate{ID: v.ids[i], Counts: slices.Clone(counts), Length: length})
				hits[v.ids[i]] = sequent.Hit{Key: k, Title: v.header.Title, Thought: t}
			}
		}
	}
	all := func(_ context.Context, at *words.Cursor) ([]ranking.Candidate, error) {
		at.Low = 1 // one block, of all thoughts up to at.Bound
		return slices.DeleteFunc(candidates, func(c ranking.Candidate) bool { return c.ID > at.Bound }), nil
	}
	best, next, err := search.Rank(ctx, s.recorded, all)
	if err != nil {
		return sequent.Hits{}, err
	}
	page := sequent.Hits{Next: next}
	for _, c := range best {
		hit := hits[c.ID]
		hit.Score = c.Score
		page.Hits = append(page.Hits, hit)
	}
	return page, nil
}

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
			(q.Elsewhere == "" || !h.Context.InProject(q.Elsewhere)) &&
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
	best, next, hits, err := s.rank(ctx, &search)
	if err == nil && len(best) == 0 && search.Relax() {
		best, next, hits, err = s.rank(ctx, &search)
	}
	if err != nil {
		return sequent.Hits{}, err
	}
	unknown, err := search.Unknown(ctx, best, func(_ context.Context, q words.Query, n int) ([]ranking.Candidate, error) {
		one := search
		one.Asked = q
		one.Begin()
		found, _ := s.match(&one)
		slices.SortFunc(found, func(a, b ranking.Candidate) int { return cmp.Compare(b.ID, a.ID) })
		return found[:min(n, len(found))], nil
	})
	if err != nil {
		return sequent.Hits{}, err
	}
	page := sequent.Hits{Next: next, Unknown: unknown, Partial: search.Asked.IsPartial() && len(best) > 0}
	for _, c := range best {
		hit := hits[c.ID]
		hit.Score = c.Score
		page.Hits = append(page.Hits, hit)
	}
	return page, nil
}

// rank returns the candidates of a page, the cursor of the next one, and the hits by
// the ids of their thoughts.
func (s *Store) rank(ctx context.Context, search *ranking.Search) ([]ranking.Candidate, string, map[int64]sequent.Hit, error) {
	search.Begin()
	candidates, hits := s.match(search)
	all := func(_ context.Context, at *words.Cursor) ([]ranking.Candidate, error) {
		at.Low = 1 // one block, of all thoughts up to the newest of the first page
		newest := at.Bound
		if search.Asked.IsPartial() {
			newest = at.Newest
		}
		return slices.DeleteFunc(candidates, func(c ranking.Candidate) bool { return c.ID > newest }), nil
	}
	best, next, err := search.Rank(ctx, s.recorded, all)
	return best, next, hits, err
}

// match returns the thoughts that match and that the query selects, and adds all
// thoughts to the corpus.
func (s *Store) match(search *ranking.Search) (candidates []ranking.Candidate, hits map[int64]sequent.Hit) {
	q := search.Query
	hits = make(map[int64]sequent.Hit)
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
	return candidates, hits
}

package sequent

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/sequent-dev/sequent/words"
)

// Search implements [Store]. It keeps no index: it reads every thought of the
// store, at about 3 µs each, and ranks all that match.
func (m *MemoryStore) Search(ctx context.Context, q SearchQuery) (Hits, error) {
	asked, err := words.Parse(q.Text)
	if err != nil {
		return Hits{}, invalidSearch("query", err)
	}
	scope := "one:" + q.Owner
	if q.AllOwners {
		scope = "all"
	}
	digest := words.Digest(asked, scope, string(q.Session), q.Project)
	var after *memHit
	var corpus words.Corpus
	if q.Cursor != "" {
		c, err := words.ParseCursor(q.Cursor, asked, digest)
		if err != nil {
			return Hits{}, invalidSearch("cursor", err)
		}
		corpus = c.Corpus
		after = &memHit{key: Key{c.Owner, ID(c.Name)}, score: c.Score, at: c.Bound, seq: int(c.ID)}
	}
	found, fresh, err := m.scan(ctx, q, asked)
	if err != nil {
		return Hits{}, err
	}
	if after == nil {
		corpus = fresh
	}
	for i := range found {
		found[i].score = corpus.Score(found[i].counts, found[i].length)
	}
	if after != nil {
		found = slices.DeleteFunc(found, func(h *memHit) bool { return after.compare(h) >= 0 })
	}
	slices.SortFunc(found, (*memHit).compare)
	limit := q.PageSize()
	var out Hits
	if len(found) > limit {
		found = found[:limit]
		last := found[limit-1]
		out.Next = words.Cursor{
			Query: digest, Corpus: corpus, Score: last.score,
			Bound: last.at, ID: int64(last.seq), Owner: last.key.Owner, Name: string(last.key.ID),
		}.String()
	}
	for _, h := range found {
		out.Hits = append(out.Hits, Hit{Key: h.key, Title: h.title, Thought: h.log.thought(h.seq - 1), Score: h.score})
	}
	return out, nil
}

// A memHit is a thought that matches a query.
type memHit struct {
	key    Key
	title  string
	log    pages
	counts []int // of each wanted term
	length int   // in tokens
	score  float64
	at     int64 // when it was accepted; the newest comes first among equals
	seq    int
}

// compare puts the better of two hits first. It is a total order.
func (h *memHit) compare(o *memHit) int {
	return cmp.Or(
		cmp.Compare(o.score, h.score),
		cmp.Compare(o.at, h.at),
		cmp.Compare(h.key.Owner, o.key.Owner),
		cmp.Compare(h.key.ID, o.key.ID),
		cmp.Compare(o.seq, h.seq),
	)
}

// scan returns the matching thoughts that q selects, and the statistics of the
// whole store.
func (m *MemoryStore) scan(ctx context.Context, q SearchQuery, asked words.Query) ([]*memHit, words.Corpus, error) {
	var found []*memHit
	corpus := words.NewCorpus(asked)
	matcher := words.NewMatcher(asked)
	for _, s := range m.snapshot() { // a log only grows, so it can be read without the lock
		if err := ctx.Err(); err != nil {
			return nil, corpus, canceled(err)
		}
		h := &s.header
		wanted := (q.AllOwners || h.Owner == q.Owner) &&
			(q.Session == "" || h.ID == q.Session) && h.Context.InProject(q.Project) &&
			(q.Now.IsZero() || !h.Expired(q.Now))
		for i := range s.header.Len {
			r := s.log.at(i)
			note := ""
			if r.extra != nil {
				note = r.extra.note
			}
			counts, length, ok := matcher.Match(r.text, note)
			corpus.Add(counts, length)
			if ok && wanted {
				found = append(found, &memHit{
					key: h.Key, title: h.Title, log: s.log,
					counts: slices.Clone(counts), length: length, at: r.at, seq: i + 1,
				})
			}
		}
	}
	return found, corpus, nil
}

func (m *MemoryStore) snapshot() []memSession {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := make([]memSession, 0, len(m.sessions))
	for _, s := range m.sessions {
		all = append(all, *s)
	}
	return all
}

func invalidSearch(field string, err error) error {
	e := &Error{Code: CodeInvalidQuery, Field: field, Msg: "the search is not valid", Err: err}
	if w, ok := errors.AsType[*words.Error](err); ok {
		e.Msg, e.Fix, e.Err = w.Msg, w.Fix, nil
	}
	return e
}

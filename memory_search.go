package sequent

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/sequent-dev/sequent/words"
)

// Search implements [Store]. It keeps no index: it reads every thought of the
// store, at about 3 µs each, and ranks all that match. If no thought has all words,
// it reads them once more, and for each word that is not found.
func (m *MemoryStore) Search(ctx context.Context, q SearchQuery) (Hits, error) {
	asked, err := words.Parse(q.Text)
	if err != nil {
		return Hits{}, invalidSearch("query", err)
	}
	asked = asked.Content()
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
		if corpus.Partial {
			asked, _ = asked.Partial()
		}
		after = &memHit{key: Key{c.Owner, ID(c.Name)}, score: c.Score, at: c.Bound, seq: int(c.ID)}
	}
	found, fresh, err := m.scan(ctx, q, asked)
	if err == nil && len(found) == 0 && after == nil {
		if partial, ok := asked.Partial(); ok {
			asked = partial
			found, fresh, err = m.scan(ctx, q, asked)
		}
	}
	if err != nil {
		return Hits{}, err
	}
	out := Hits{Partial: asked.IsPartial() && len(found) > 0}
	if after == nil {
		corpus = fresh
		if len(found) == 0 || asked.IsPartial() {
			if out.Unknown, err = m.unknown(ctx, q, asked, found); err != nil {
				return Hits{}, err
			}
		}
	}
	for i := range found {
		found[i].score = corpus.Score(found[i].counts, found[i].length)
	}
	if after != nil {
		found = slices.DeleteFunc(found, func(h *memHit) bool { return after.compare(h) >= 0 })
	}
	slices.SortFunc(found, (*memHit).compare)
	limit := q.PageSize()
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

// unknown returns the words of asked that no thought has that q selects. The hits are
// all that match. At most five words are returned, as by other stores.
func (m *MemoryStore) unknown(ctx context.Context, q SearchQuery, asked words.Query, hits []*memHit) ([]UnknownWord, error) {
	var unknown []UnknownWord
	for i, t := range asked.Wanted() {
		if words.Unspaced(t.Tokens[0]) || len(unknown) == 5 ||
			slices.ContainsFunc(hits, func(h *memHit) bool { return h.counts[i] > 0 }) {
			continue
		}
		found, _, err := m.scan(ctx, q, t.Query())
		if err != nil {
			return nil, err
		}
		if len(found) > 0 { // all thoughts with the word have an excluded one
			continue
		}
		word := UnknownWord{Word: t.String()}
		if near, ok := words.Near(t); ok {
			if found, _, err = m.scan(ctx, q, near); err != nil {
				return nil, err
			}
			slices.SortFunc(found, (*memHit).compare) // newest first
			var counts [][]int
			for _, h := range found[:min(len(found), 200)] {
				counts = append(counts, h.counts)
			}
			word.Nearest = words.Nearest(t, near, counts)
		}
		unknown = append(unknown, word)
	}
	return unknown, nil
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

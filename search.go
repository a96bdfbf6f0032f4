package sequent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/sequent-dev/sequent/textsearch"
)

// A SearchQuery asks for thoughts by their words.
//
// Text is what a person types: words of the thought's text or note, "quoted phrases", prefix*
// and -excluded words, in any case and with or without diacritics; see package textsearch.
// Thoughts with more of the words come first.
type SearchQuery struct {
	Owner     string
	AllOwners bool      // ignore Owner
	Session   ID        // only this session; empty means all
	Project   string    // only sessions of this project and those without one; empty means all
	Text      string    // the query; at least one word that is not excluded
	Distinct  bool      // only the best hit of each session
	Limit     int       // maximum number of hits on the page; see PageSize
	Cursor    string    // from Hits.Next
	Now       time.Time // sessions expired by then are left out; set by the engine

	// Candidates limits how many thoughts a store with an index reads and ranks; see MaxCandidates. A search for
	// many words reads the newest ones that have any of them.
	Candidates int
}

// MaxCandidates returns how many thoughts are ranked: Candidates, or [textsearch.MaxCandidates] if that is not
// positive or larger.
func (q SearchQuery) MaxCandidates() int {
	return min(cmp.Or(max(q.Candidates, 0), textsearch.MaxCandidates), textsearch.MaxCandidates)
}

// PageSize returns the maximum number of hits on a page: Limit, or 20 if that is
// not positive, but at most 1000.
func (q SearchQuery) PageSize() int {
	return min(cmp.Or(max(q.Limit, 0), 20), 1000)
}

// Excerpt returns at most the given number of characters of a text, on one line
// and around the first word that q asks for.
func (q SearchQuery) Excerpt(text string, characters int) string {
	asked, _ := textsearch.Parse(q.Text) // with none, the excerpt is how the text begins
	piece, _ := textsearch.Excerpt(text, asked, characters)
	return piece
}

// Hits is a page of search results, best first: by the number of different words of the query
// that a thought has, then by BM25 among the thoughts that have any.
type Hits struct {
	Hits []Hit
	Next string // cursor of the next page; empty at the end

	// Partial is true if no thought that the query selects has all words, and Hits
	// have some of them.
	Partial bool
}

// Notice says in one line that no thought has all words. It is empty if one has.
func (h Hits) Notice() string {
	if !h.Partial {
		return ""
	}
	return "No thought has all these words; those with most of them come first."
}

// A Hit is a thought that a search found.
type Hit struct {
	Key     Key
	Title   string // of the session
	Thought Thought
	Score   float64 // higher is better; comparable within one result only
	Partial bool    // the thought lacks some words of the query

	// These are set by [Engine.Search]. A store leaves them empty, unless it got the hit
	// from the engine of a server.
	State    State    // of the session
	Standing Standing // of the thought
	Instead  *Thought // the thought that holds instead, if this one is superseded
	Fault    *Fault   // of the session, which is not what was recorded; nil if it is intact
}

// Holding returns the thought that holds: that of the hit, or the one that holds instead.
func (h *Hit) Holding() *Thought {
	if h.Instead != nil {
		return h.Instead
	}
	return &h.Thought
}

// Parse parses the query, and the cursor for the page that follows another one.
func (q *SearchQuery) Parse() (asked textsearch.Query, at textsearch.Cursor, err error) {
	field := "query"
	asked, err = textsearch.Parse(q.Text)
	if err == nil && q.Cursor != "" {
		field = "cursor"
		at, err = textsearch.ParseCursor(q.Cursor, asked, q.narrowing()...)
	}
	if wrong, ok := errors.AsType[*textsearch.Error](err); ok {
		err = &Error{Code: CodeInvalidQuery, Field: field, Msg: wrong.Msg, Fix: wrong.Fix}
	}
	return asked, at, err
}

// narrowing tells the searches apart that a cursor belongs to.
func (q *SearchQuery) narrowing() []string {
	return []string{fmt.Sprint(q.AllOwners, q.Distinct), q.Owner, string(q.Session), q.Project}
}

// Page returns the page at a cursor of what was found. Hit returns the hit of a match, or
// false if it is not there any more.
func (q *SearchQuery) Page(asked textsearch.Query, at textsearch.Cursor, found *textsearch.Ranking, hit func(id int64) (Hit, bool, error)) (Hits, error) {
	out := Hits{Partial: found.Partial()}
	best, more := found.Best(at.Offset, q.PageSize())
	for _, m := range best {
		h, ok, err := hit(m.ID)
		if err != nil {
			return Hits{}, err
		}
		if ok {
			h.Score, h.Partial = m.Score, !m.All
			out.Hits = append(out.Hits, h)
		}
	}
	if at.Offset += len(best); more {
		out.Next = at.String(asked, q.narrowing()...)
	}
	return out, nil
}

// SearchStore does what [Searcher] says with any store. It reads every session that q selects,
// at about 3 µs a thought in memory.
func SearchStore(ctx context.Context, s Store, q SearchQuery) (Hits, error) {
	if searcher, ok := As[Searcher](s); ok {
		return searcher.Search(ctx, q)
	}
	asked, at, err := q.Parse()
	if err != nil {
		return Hits{}, err
	}
	ranking := asked.Rank()
	var found []Hit // by id
	newest, group := int64(1), int64(0)
	list := Query{Owner: q.Owner, AllOwners: q.AllOwners, Project: q.Project, Now: q.Now}
	for h, err := range headers(ctx, s, list) {
		if err != nil {
			return Hits{}, err
		}
		if q.Session != "" && h.ID != q.Session {
			continue
		}
		_, log, err := s.Load(ctx, h.Key, Position{})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return Hits{}, err
		}
		if q.Distinct {
			group++
		}
		for _, e := range slices.Backward(log) {
			t := &e.Thought
			recorded := t.At.UnixMicro()
			if e.Kind != KindThought || at.Newest != 0 && recorded > at.Newest { // since the first page
				continue
			}
			newest = max(newest, recorded)
			if ranking.Add(group, int64(len(found)), t.Text, t.Note) {
				found = append(found, Hit{Key: h.Key, Title: h.Title, Thought: *t})
			}
		}
	}
	at.Newest = newest
	return q.Page(asked, at, ranking, func(id int64) (Hit, bool, error) { return found[id], true, nil })
}

// appraise sets the standings of hits. A page has a thought that holds once: in the
// place of the first hit that is the thought or was superseded by it.
func (c *core) appraise(ctx context.Context, hits []Hit) (held []Hit, err error) {
	type holds struct {
		key Key
		seq int
	}
	seen := make(map[holds]bool)
	standings := make(map[Key][]Standing)
	for _, h := range hits {
		if h.State == "" { // otherwise it was appraised where the session is
			s, err := c.session(ctx, h.Key)
			if errors.Is(err, ErrNotFound) { // deleted since it was found
				continue
			}
			if err != nil {
				return nil, err
			}
			if standings[h.Key] == nil {
				standings[h.Key] = s.Standings()
			}
			if h.Thought.Seq > len(standings[h.Key]) {
				continue
			}
			h.State, h.Standing, h.Fault = s.State(), standings[h.Key][h.Thought.Seq-1], s.Fault()
			if h.Standing.State == Superseded {
				t, _ := s.At(h.Standing.By)
				h.Instead = &t
			}
		}
		if at := (holds{h.Key, h.Holding().Seq}); !seen[at] {
			seen[at] = true
			held = append(held, h)
		}
	}
	return held, nil
}

// As returns s as a store that can do what T says, such as a [Searcher]: s itself, or one that
// it wraps and returns from a method Unwrap() Store.
func As[T any](s Store) (T, bool) {
	t, ok := s.(T)
	if w, wraps := s.(interface{ Unwrap() Store }); wraps && !ok {
		return As[T](w.Unwrap())
	}
	return t, ok
}

// headers yields the headers that q selects, in pages of q.Limit or 500. It ends after an error.
func headers(ctx context.Context, s Store, q Query) iter.Seq2[Header, error] {
	return func(yield func(Header, error) bool) {
		q.Limit = cmp.Or(q.Limit, 500)
		for {
			page, err := s.List(ctx, q)
			if err != nil {
				yield(Header{}, err)
				return
			}
			for _, h := range page.Headers {
				if !yield(h, nil) {
					return
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return
			}
		}
	}
}

// SweepStore does what [Sweeper] says with any store.
func SweepStore(ctx context.Context, s Store, q Query, limit int) (n int, err error) {
	if sweeper, ok := As[Sweeper](s); ok {
		return sweeper.Sweep(ctx, q, limit)
	}
	for h, err := range headers(ctx, s, q) {
		if err != nil || n == limit {
			return n, err
		}
		now, _, err := s.Load(ctx, h.Key, h.Position())
		if err == nil && q.selects(&now) {
			if err = s.Delete(ctx, h.Key, now.Epoch); err == nil {
				n++
			}
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return n, err
		}
	}
	return n, nil
}

// UsageOf does what [UsageStore] says with any store.
func UsageOf(ctx context.Context, s Store, q Query) ([]Usage, error) {
	if counts, ok := As[UsageStore](s); ok {
		return counts.Usage(ctx, q)
	}
	owners := make(map[string]Usage)
	for h, err := range headers(ctx, s, q) {
		if err != nil {
			return nil, err
		}
		u := owners[h.Owner]
		u.Owner, u.Sessions, u.Thoughts, u.Bytes = h.Owner, u.Sessions+1, u.Thoughts+h.Len, u.Bytes+h.Bytes
		if h.Updated.After(u.Updated) {
			u.Updated = h.Updated
		}
		owners[h.Owner] = u
	}
	return slices.SortedFunc(maps.Values(owners), func(a, b Usage) int { return cmp.Compare(a.Owner, b.Owner) }), nil
}

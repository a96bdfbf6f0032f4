package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/words"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Bounds of a search.
const (
	defaultHits = 20
	maxHits     = 1000

	// blockSize is how many thoughts are ranked against each other. If more
	// match, the newest so many are ranked first, then the next, and so on:
	// reading and ranking a thought costs about 10 µs, however common the words.
	blockSize = 2000

	// sample is how many thoughts with a word are counted, newest first, to
	// tell how common the word is; beyond that it is estimated.
	sample = 20_000
)

// What a search reads of the store. The condition is true for the thoughts
// that the query is about.
const (
	inQuery = `(:all OR s.owner = :owner) AND (:session = '' OR s.id = :session)
		AND (:now = 0 OR s.expires IS NULL OR s.expires > :now)`
	selectTail = `
		SELECT t.id, t.text, t.note, ` + inQuery + `
		FROM thoughts t CROSS JOIN tool_sessions s ON s.key = t.session
		WHERE t.id >= :low AND t.id <= :high ORDER BY t.id DESC`
	selectAmong = `
		SELECT t.id, t.text, t.note
		FROM json_each(:ids) j CROSS JOIN thoughts t ON t.id = j.value CROSS JOIN tool_sessions s ON s.key = t.session
		WHERE ` + inQuery
	selectScope = `
		SELECT count(*), ifnull(max(s.key), 0), ifnull(max(s.len), 0) FROM tool_sessions s
		WHERE s.id = :session AND `
	selectOfSession = `
		SELECT id FROM thoughts WHERE session = ? AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?`
	selectHit = `
		SELECT t.session, t.seq, s.owner, s.id, s.title
		FROM thoughts t CROSS JOIN tool_sessions s ON s.key = t.session WHERE t.id = ?`
	selectNewest = `SELECT ifnull(max(id), 0) FROM thoughts`
)

// Search implements [sequent.Store]. What the index does not hold yet is read
// from the store; without an index, everything is.
func (s *Store) Search(ctx context.Context, q sequent.SearchQuery) (sequent.Hits, error) {
	asked, err := words.Parse(q.Text)
	if err != nil {
		return sequent.Hits{}, badSearch("query", err)
	}
	owner := "one:" + q.Owner
	if q.AllOwners {
		owner = "all"
	}
	sr := search{
		store: s, query: q, asked: asked, blockSize: blockSize,
		digest: words.Digest(asked, owner, string(q.Session)),
	}
	if q.Cursor != "" {
		c, err := words.ParseCursor(q.Cursor, asked, sr.digest)
		if err != nil {
			return sequent.Hits{}, badSearch("cursor", err)
		}
		sr.from = &c
	}
	if s.index != nil {
		sr.blockSize = s.index.blockSize
	}
	hits, err := s.indexedSearch(ctx, sr)
	if errors.As(err, new(indexError)) {
		hits, err = sr.run(ctx, nil)
	}
	if err != nil && ctx.Err() != nil { // SQLite only says that it was interrupted
		err = ctx.Err()
	}
	return hits, s.wrap(err)
}

// indexedSearch searches with the index; an indexError says that this was not
// possible.
func (s *Store) indexedSearch(ctx context.Context, sr search) (sequent.Hits, error) {
	if s.index == nil {
		return sequent.Hits{}, indexError{errNoIndex}
	}
	file, err := s.index.acquire(ctx, forReading)
	if err != nil {
		s.index.hurry() // it may be for the indexer to repair
		return sequent.Hits{}, indexError{err}
	}
	defer file.release()
	hits, err := sr.run(ctx, file)
	if e, ok := errors.AsType[indexError](err); ok && ctx.Err() == nil {
		if isDamage(e) {
			file.damaged.Store(true)
		}
		s.index.hurry()
	}
	return hits, err
}

func badSearch(field string, err error) error {
	e := &sequent.Error{Code: sequent.CodeInvalidQuery, Field: field, Msg: "the search cannot be understood", Err: err}
	if w, ok := errors.AsType[*words.Error](err); ok {
		e.Msg, e.Fix, e.Err = w.Msg, w.Fix, nil
	}
	return e
}

// An indexError is a failure of the index, not of the store.
type indexError struct{ error }

func (e indexError) Unwrap() error { return e.error }

// A search is one page of a result in the making.
type search struct {
	store  *Store
	query  sequent.SearchQuery
	asked  words.Query
	digest uint64
	from   *words.Cursor // nil on the first page

	blockSize int

	matcher *words.Matcher
	main    *sql.Tx // the store as it is now
	words   *sql.Tx // the index as it was a moment before; nil if there is none
	mark    int64   // thoughts up to this id are in the index
	docs    int64   // thoughts in the index
	scope   string  // narrows what is looked up in the index
	session int64   // the only one that is searched, if it is a small one
	corpus  words.Corpus
}

// A candidate is a thought that matches.
type candidate struct {
	id     int64
	counts []int // of each wanted term
	length int   // in tokens
	score  float64
}

// compare puts the better of two candidates first; of equals, the newer.
func (c *candidate) compare(o *candidate) int {
	return cmp.Or(cmp.Compare(o.score, c.score), cmp.Compare(o.id, c.id))
}

// run makes the page with the help of file, which may be nil. The index is
// looked at first: what is missing there is then in the store's snapshot.
func (sr search) run(ctx context.Context, file *indexFile) (sequent.Hits, error) {
	sr.matcher = words.NewMatcher(sr.asked)
	sr.corpus = words.NewCorpus(sr.asked)
	if file != nil {
		tx, err := file.readers.BeginTx(ctx, nil)
		if err != nil {
			return sequent.Hits{}, indexError{err}
		}
		defer tx.Rollback() //nolint:errcheck // it only reads
		st, err := file.state(ctx, tx)
		if err != nil {
			return sequent.Hits{}, indexError{err}
		}
		sr.words, sr.mark, sr.docs = tx, st.mark, st.docs
		sr.corpus.Docs, sr.corpus.Tokens = st.docs, st.tokens
	}
	tx, err := sr.store.readers.BeginTx(ctx, nil)
	if err != nil {
		return sequent.Hits{}, err
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	sr.main = tx
	if none, err := sr.setScope(ctx); err != nil || none {
		return sequent.Hits{}, err
	}
	return sr.page(ctx)
}

// setScope narrows the search to the tokens of the query's session or owner,
// and reports whether there is no such session.
func (sr *search) setScope(ctx context.Context) (none bool, err error) {
	switch {
	case sr.query.Session != "":
		var n, key int64
		var thoughts int
		which := "s.owner = :owner" // lets SQLite find it at once
		if sr.query.AllOwners {
			which = inQuery
		}
		err := sr.main.QueryRowContext(ctx, selectScope+which, sr.args()...).Scan(&n, &key, &thoughts)
		if n == 1 {
			sr.scope = " AND scope : " + sessionToken(key)
			if thoughts <= sr.blockSize {
				sr.session = key
			}
		}
		return n == 0, err
	case !sr.query.AllOwners && sr.query.Owner != "":
		sr.scope = " AND scope : " + ownerToken(sr.query.Owner)
	}
	return false, nil
}

func (sr *search) args(more ...any) []any {
	var now int64
	if !sr.query.Now.IsZero() {
		now = record.Micros(sr.query.Now)
	}
	return append([]any{
		sql.Named("all", sr.query.AllOwners), sql.Named("owner", sr.query.Owner),
		sql.Named("session", string(sr.query.Session)), sql.Named("now", now),
	}, more...)
}

// page ranks block after block until the page is full.
func (sr *search) page(ctx context.Context) (sequent.Hits, error) {
	at := words.Cursor{Query: sr.digest, Score: math.MaxFloat64, ID: math.MaxInt64}
	first := sr.from == nil
	if first {
		if err := sr.survey(ctx); err != nil {
			return sequent.Hits{}, err
		}
		if err := sr.main.QueryRowContext(ctx, selectNewest).Scan(&at.Bound); err != nil {
			return sequent.Hits{}, err
		}
		at.Bound = max(at.Bound, sr.mark)
	} else {
		at = *sr.from
		sr.corpus = at.Corpus
	}
	limit := min(cmp.Or(max(sr.query.Limit, 0), defaultHits), maxHits)
	var hits []candidate
	for at.Bound > 0 {
		found, err := sr.block(ctx, &at, first)
		if err != nil {
			return sequent.Hits{}, err
		}
		first = false
		for i := range found {
			found[i].score = sr.corpus.Score(found[i].counts, found[i].length)
		}
		after := candidate{id: at.ID, score: at.Score}
		found = slices.DeleteFunc(found, func(c candidate) bool { return after.compare(&c) >= 0 })
		slices.SortFunc(found, func(a, b candidate) int { return a.compare(&b) })
		if room := limit - len(hits); len(found) > room {
			hits = append(hits, found[:room]...)
			last := hits[limit-1]
			at.Score, at.ID = last.score, last.id
			break
		}
		hits = append(hits, found...)
		at.Bound, at.Low, at.Score, at.ID = at.Low-1, 0, math.MaxFloat64, math.MaxInt64
		if len(hits) == limit {
			break
		}
	}
	out, err := sr.load(ctx, hits)
	if err == nil && at.Bound > 0 {
		at.Corpus = sr.corpus
		out.Next = at.String()
	}
	return out, err
}

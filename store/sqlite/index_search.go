package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/words"
	"github.com/sequent-dev/sequent/store/internal/ranked"
	"github.com/sequent-dev/sequent/store/internal/record"
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
	asked, err := ranked.Parse(q)
	if err != nil {
		return sequent.Hits{}, err
	}
	sr := search{Search: asked, store: s, blockSize: ranked.BlockSize}
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
	defer file.Release()
	hits, err := sr.run(ctx, file)
	if e, ok := errors.AsType[indexError](err); ok && ctx.Err() == nil {
		if isDamage(e) {
			file.damaged.Store(true)
		}
		s.index.hurry()
	}
	return hits, err
}

// An indexError is a failure of the index, not of the store.
type indexError struct{ error }

func (e indexError) Unwrap() error { return e.error }

// A search is one page of a result in the making.
type search struct {
	ranked.Search
	store     *Store
	blockSize int

	main    *sql.Tx // the store as it is now
	words   *sql.Tx // the index as it was a moment before; nil if there is none
	mark    int64   // thoughts up to this id are in the index
	docs    int64   // thoughts in the index
	scope   string  // narrows what is looked up in the index
	session int64   // the only one that is searched, if it is a small one
}

// run makes the page with the help of file, which may be nil. The index is
// looked at first: what is missing there is then in the store's snapshot.
func (sr search) run(ctx context.Context, file *indexFile) (sequent.Hits, error) {
	sr.Begin()
	if file != nil {
		tx, err := file.Readers.BeginTx(ctx, nil)
		if err != nil {
			return sequent.Hits{}, indexError{err}
		}
		defer tx.Rollback() //nolint:errcheck // it only reads
		st, err := file.state(ctx, tx)
		if err != nil {
			return sequent.Hits{}, indexError{err}
		}
		sr.words, sr.mark, sr.docs = tx, st.mark, st.docs
		sr.Corpus.Docs, sr.Corpus.Tokens = st.docs, st.tokens
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
	case sr.Query.Session != "":
		var n, key int64
		var thoughts int
		which := "s.owner = :owner" // lets SQLite find it at once
		if sr.Query.AllOwners {
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
	case !sr.Query.AllOwners && sr.Query.Owner != "":
		sr.scope = " AND scope : " + ownerToken(sr.Query.Owner)
	}
	return false, nil
}

func (sr *search) args(more ...any) []any {
	var now int64
	if !sr.Query.Now.IsZero() {
		now = record.Micros(sr.Query.Now)
	}
	return append([]any{
		sql.Named("all", sr.Query.AllOwners), sql.Named("owner", sr.Query.Owner),
		sql.Named("session", string(sr.Query.Session)), sql.Named("now", now),
	}, more...)
}

// page ranks what the store has and loads the best of it.
func (sr *search) page(ctx context.Context) (sequent.Hits, error) {
	var newest int64
	first := sr.From == nil
	if first {
		if err := sr.survey(ctx); err != nil {
			return sequent.Hits{}, err
		}
		if err := sr.main.QueryRowContext(ctx, selectNewest).Scan(&newest); err != nil {
			return sequent.Hits{}, err
		}
		newest = max(newest, sr.mark)
	}
	best, next, err := sr.Rank(ctx, newest, func(ctx context.Context, at *words.Cursor) ([]ranked.Candidate, error) {
		census := first
		first = false
		return sr.block(ctx, at, census)
	})
	if err != nil {
		return sequent.Hits{}, err
	}
	out, err := sr.load(ctx, best)
	if err == nil {
		out.Next = next
	}
	return out, err
}

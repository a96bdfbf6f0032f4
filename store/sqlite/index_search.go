package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
	"github.com/sequent-dev/sequent/store/ranking"
	"github.com/sequent-dev/sequent/words"
)

// Statements of a search on the store.
const (
	// inQuery is true for thoughts of sessions that the query selects.
	inQuery = `(:all OR s.owner = :owner) AND (:session = '' OR s.id = :session)
		AND (:project = '' OR s.project IN ('', :project))
		AND (:now = 0 OR s.expires IS NULL OR s.expires > :now)`
	selectRange = `
		SELECT t.id, t.text, t.note, ` + inQuery + `
		FROM thoughts t CROSS JOIN tool_sessions s ON s.key = t.session
		WHERE t.id >= :low AND t.id <= :high ORDER BY t.id DESC`
	selectByID = `
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

// Search implements [sequent.Store]. It uses the index, and reads the thoughts that
// are not indexed yet from the store. Without an index it reads all.
func (s *Store) Search(ctx context.Context, q sequent.SearchQuery) (sequent.Hits, error) {
	asked, err := ranking.Parse(q)
	if err == nil {
		err = s.checkReplaced()
	}
	if err != nil {
		return sequent.Hits{}, err
	}
	sr := search{Search: asked, store: s, blockSize: ranking.BlockSize}
	if s.index != nil {
		sr.blockSize = s.index.blockSize
	}
	hits, err := s.indexedSearch(ctx, sr)
	if errors.As(err, new(indexError)) {
		hits, err = sr.run(ctx, nil)
	}
	if err != nil && ctx.Err() != nil { // SQLite's own error is "interrupted"
		err = ctx.Err()
	}
	return hits, s.wrap(err)
}

// indexedSearch searches with the index. It returns an indexError if the index
// cannot be used.
func (s *Store) indexedSearch(ctx context.Context, sr search) (sequent.Hits, error) {
	if s.index == nil {
		return sequent.Hits{}, indexError{errNoIndex}
	}
	file, err := s.index.acquire(ctx, forReading)
	if err != nil {
		s.index.schedule.Expedite() // the indexer may be able to repair it
		return sequent.Hits{}, indexError{err}
	}
	defer file.Release()
	hits, err := sr.run(ctx, file)
	if e, ok := errors.AsType[indexError](err); ok && ctx.Err() == nil {
		if isDamage(e) {
			file.damaged.Store(true)
		}
		s.index.schedule.Expedite()
	}
	return hits, err
}

// An indexError is a failure of the index, not of the store.
type indexError struct{ error }

func (e indexError) Unwrap() error { return e.error }

// A search computes one page of a result.
type search struct {
	ranking.Search
	store     *Store
	blockSize int

	main    *sql.Tx // snapshot of the store
	words   *sql.Tx // earlier snapshot of the index; nil if there is none
	mark    int64   // thoughts up to this id are in the index
	docs    int64   // number of thoughts in the index
	tokens  int64   // number of tokens in them
	newest  int64   // greatest id on the first page
	scope   string  // FTS5 condition for the session or owner
	session int64   // key of the session that is searched alone, if it is small
	lists   *lists  // what a partial search divides into blocks; nil until it does
}

// run computes the page, with the index in file unless it is nil. The snapshot of
// the index must be the earlier one: then the store has whatever the index lacks.
func (sr search) run(ctx context.Context, file *indexFile) (sequent.Hits, error) {
	var st indexState
	if file != nil {
		tx, err := file.Readers.BeginTx(ctx, nil)
		if err != nil {
			return sequent.Hits{}, indexError{err}
		}
		defer tx.Rollback() //nolint:errcheck // it only reads
		st, err = file.state(ctx, tx)
		if err != nil {
			return sequent.Hits{}, indexError{err}
		}
		sr.words, sr.mark, sr.docs, sr.tokens = tx, st.mark, st.docs, st.tokens
	}
	tx, err := sr.store.readers.BeginTx(ctx, nil)
	if err != nil {
		return sequent.Hits{}, err
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	sr.main = tx
	if file != nil {
		e, err := extentOf(ctx, tx, st)
		if err != nil {
			return sequent.Hits{}, err
		}
		if !e.fits(st) {
			return sequent.Hits{}, indexError{errDamaged}
		}
	}
	if none, err := sr.setScope(ctx); err != nil || none {
		return sequent.Hits{}, err
	}
	return sr.page(ctx)
}

// setScope restricts the search to the query's session or owner. It reports whether
// the session does not exist.
func (sr *search) setScope(ctx context.Context) (none bool, err error) {
	switch {
	case sr.Query.Session != "":
		var n, key int64
		var thoughts int
		which := "s.owner = :owner" // allows SQLite to use the index on owner and id
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
		sql.Named("project", sr.Query.Project),
	}, more...)
}

// page ranks the matching thoughts and loads those of the page.
func (sr *search) page(ctx context.Context) (sequent.Hits, error) {
	if sr.From == nil {
		if err := sr.main.QueryRowContext(ctx, selectNewest).Scan(&sr.newest); err != nil {
			return sequent.Hits{}, err
		}
		sr.newest = max(sr.newest, sr.mark)
	}
	best, next, err := sr.rank(ctx)
	if err == nil && len(best) == 0 && sr.Relax() {
		best, next, err = sr.rank(ctx)
	}
	if err != nil {
		return sequent.Hits{}, err
	}
	unknown, err := sr.Unknown(ctx, best, sr.find)
	if err != nil {
		return sequent.Hits{}, err
	}
	out, err := sr.load(ctx, best)
	if err == nil {
		out.Next, out.Unknown, out.Partial = next, unknown, sr.Asked.IsPartial() && len(best) > 0
	}
	return out, err
}

// rank returns the candidates of the page and the cursor of the next one.
func (sr *search) rank(ctx context.Context) ([]ranking.Candidate, string, error) {
	sr.Begin()
	sr.Corpus.Docs, sr.Corpus.Tokens = sr.docs, sr.tokens
	first := sr.From == nil
	if first {
		if err := sr.countTerms(ctx); err != nil {
			return nil, "", err
		}
	}
	return sr.Rank(ctx, sr.newest, func(ctx context.Context, at *words.Cursor) ([]ranking.Candidate, error) {
		count := first
		first = false
		if sr.Asked.IsPartial() {
			return sr.partialBlock(ctx, at, count)
		}
		return sr.block(ctx, at, count)
	})
}

// find is the [ranking.Find].
func (sr *search) find(ctx context.Context, q words.Query, n int) ([]ranking.Candidate, error) {
	const least = 50 // thoughts that are looked up at a time
	one := *sr
	one.Asked, one.blockSize = q, max(n, least)
	one.Begin()
	found, err := one.block(ctx, &words.Cursor{Bound: sr.newest}, false)
	return found[:min(n, len(found))], err
}

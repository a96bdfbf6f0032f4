package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/indexer"
	"github.com/sequent-dev/sequent/store/internal/record"
	"github.com/sequent-dev/sequent/store/ranking"
	"github.com/sequent-dev/sequent/words"
)

// Statements of a search.
const (
	// inQuery is true for thoughts of sessions that the query selects.
	inQuery = `($1 OR s.owner = $2) AND ($3 = '' OR s.id = $3) AND ($5 = '' OR s.project IN ('', $5))
		AND ($4::bigint = 0 OR s.expires IS NULL OR s.expires > $4)`

	// selectUnindexedText selects the thoughts after the mark of the index, and those
	// that are in the index without words because they have too many.
	selectUnindexedText = `
		SELECT t.id, t.text, t.note, ` + inQuery + `, TRUE
		FROM thoughts t JOIN tool_sessions s ON s.key = t.session
		WHERE (t.tx, t.id) > ($6::xid8, $7::bigint)
		UNION ALL
		SELECT t.id, t.text, t.note, ` + inQuery + `, FALSE
		FROM thought_words w JOIN thoughts t ON t.id = w.id JOIN tool_sessions s ON s.key = t.session
		WHERE w.words IS NULL
		ORDER BY 1 DESC`
	// selectIndexed selects thoughts that match according to the index.
	selectIndexed = `
		SELECT t.id, t.text, t.note
		FROM thought_words w JOIN thoughts t ON t.id = w.id JOIN tool_sessions s ON s.key = t.session
		WHERE w.words @@ $6::tsquery AND t.id BETWEEN $7 AND $8 AND ` + inQuery + `
		ORDER BY t.id DESC LIMIT $9`
	// selectByID selects thoughts that match according to the index.
	selectByID = `
		SELECT t.id, t.text, t.note
		FROM thoughts t JOIN tool_sessions s ON s.key = t.session
		WHERE t.id = ANY ($6) AND ` + inQuery + `
		ORDER BY t.id DESC`
	// selectCount counts the indexed thoughts with a term.
	selectCount = `
		SELECT count(*), coalesce(min(id), 0), (SELECT coalesce(max(id), 0) FROM thought_words)
		FROM (SELECT id FROM thought_words WHERE words @@ $1::tsquery ORDER BY id DESC LIMIT $2) w`
	// selectIDs returns the indexed thoughts with a term, newest first. Another
	// condition could make PostgreSQL use another index.
	selectIDs = `
		SELECT coalesce(array_agg(id ORDER BY id DESC), '{}')
		FROM thought_words WHERE words @@ $1::tsquery`
	selectIndex  = `SELECT tx, id, docs, tokens FROM index_state`
	selectNewest = `SELECT coalesce(max(id), 0) FROM thoughts`
	selectHits   = `
		SELECT ` + thoughtColumns + `, t.id, s.owner, s.id, s.title
		FROM thoughts t JOIN tool_sessions s ON s.key = t.session WHERE t.id = ANY ($1)`
)

// Search implements [sequent.Store]. It reads one snapshot of the database.
func (s *Store) Search(ctx context.Context, q sequent.SearchQuery) (hits sequent.Hits, err error) {
	asked, err := ranking.Parse(q)
	if err != nil {
		return sequent.Hits{}, err
	}
	err = s.read(ctx, func(ctx context.Context) error {
		return inTx(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
			sr := search{Search: asked, store: s, tx: tx}
			// The best plan depends on how common the words are: use the index of words,
			// or scan the newest thoughts. A generic plan cannot know that.
			// It also expects every inflection to be in some thoughts, and many of them do
			// not exist: to start parallel workers for that takes longer than the search.
			if _, err := tx.Exec(ctx, "SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL max_parallel_workers_per_gather = 0"); err != nil {
				return err
			}
			hits, err = sr.page(ctx)
			return err
		})
	})
	return hits, err
}

// A search computes one page of a result.
type search struct {
	ranking.Search
	store     *Store
	tx        pgx.Tx
	newest    int64               // greatest id on the first page
	unindexed []ranking.Candidate // matching thoughts without words in the index, newest first
	lists     [][]int64           // of a partial search: ids for each wanted term; nil until they are needed
}

// page ranks the matching thoughts and loads those of the page.
func (sr *search) page(ctx context.Context) (sequent.Hits, error) {
	if sr.From == nil {
		if err := sr.tx.QueryRow(ctx, selectNewest).Scan(&sr.newest); err != nil {
			return sequent.Hits{}, err
		}
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
	if sr.From == nil {
		if err := sr.countTerms(ctx); err != nil {
			return nil, "", err
		}
	}
	if err := sr.readUnindexed(ctx); err != nil {
		return nil, "", err
	}
	if sr.Asked.IsPartial() {
		return sr.Rank(ctx, sr.newest, sr.partialBlock)
	}
	return sr.Rank(ctx, sr.newest, sr.block)
}

// args returns the arguments of inQuery, followed by more.
func (sr *search) args(more ...any) []any {
	var now int64
	if !sr.Query.Now.IsZero() {
		now = record.Micros(sr.Query.Now)
	}
	return append([]any{sr.Query.AllOwners, pack(sr.Query.Owner), pack(string(sr.Query.Session)), now, pack(sr.Query.Project)}, more...)
}

// countTerms sets the corpus's counts of thoughts with each wanted term, for the
// thoughts in the index.
func (sr *search) countTerms(ctx context.Context) error {
	for i, t := range sr.Asked.Wanted() {
		query, ok := t.TSQuery()
		if !ok {
			continue
		}
		var n, oldest, newest int64
		if err := sr.tx.QueryRow(ctx, selectCount, query, ranking.Sample).Scan(&n, &oldest, &newest); err != nil {
			return err
		}
		sr.Corpus.Hits[i] = ranking.Estimate(n, oldest, newest)
	}
	return nil
}

// readUnindexed completes the corpus with the size of the index and the thoughts
// without words in the index, all of which it reads. It sets sr.unindexed.
func (sr *search) readUnindexed(ctx context.Context) error {
	var tx uint64
	var id int64
	if err := sr.tx.QueryRow(ctx, selectIndex).Scan(&tx, &id, &sr.Corpus.Docs, &sr.Corpus.Tokens); err != nil {
		return err
	}
	sr.unindexed = nil
	rows, err := sr.tx.Query(ctx, selectUnindexedText, sr.args(tx, id)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for read := 0; rows.Next(); read++ {
		if read == indexer.MaxUnindexed {
			sr.store.schedule.Expedite()
		}
		var id int64
		var text, note string
		var wanted, uncounted bool
		if err := rows.Scan(&id, &text, &note, &wanted, &uncounted); err != nil {
			return err
		}
		if err := unpackAll(&text, &note); err != nil {
			return err
		}
		counts, length, ok := sr.Matcher.Match(text, note)
		before := sr.Corpus
		sr.Corpus.Add(counts, length)
		if !uncounted {
			sr.Corpus.Docs, sr.Corpus.Tokens = before.Docs, before.Tokens
		}
		if ok && wanted {
			sr.unindexed = append(sr.unindexed, ranking.Candidate{ID: id, Counts: slices.Clone(counts), Length: length})
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range sr.Corpus.Hits { // an estimate may include deleted thoughts
		sr.Corpus.Hits[i] = max(min(sr.Corpus.Hits[i], sr.Corpus.Docs), 0)
	}
	return nil
}

// block is the [ranking.Block].
func (sr *search) block(ctx context.Context, at *words.Cursor) ([]ranking.Candidate, error) {
	limit := ranking.BlockSize + 1 // one more, to learn whether there are more
	low := max(at.Low, 1)
	if at.Low > 0 {
		limit = math.MaxInt
	}
	var found []ranking.Candidate
	for _, c := range sr.unindexed {
		if low <= c.ID && c.ID <= at.Bound && len(found) < limit {
			found = append(found, c)
		}
	}
	if query, ok := sr.Asked.TSQuery(); ok {
		indexed, err := sr.indexed(ctx, query, low, at.Bound, limit)
		if err != nil {
			return nil, err
		}
		found = append(found, indexed...)
	}
	slices.SortFunc(found, func(a, b ranking.Candidate) int { return cmp.Compare(b.ID, a.ID) })
	at.Low = low
	if len(found) >= limit { // only if at.Low was 0
		found = found[:limit-1]
		at.Low = found[limit-2].ID
	}
	return found, nil
}

// indexed looks thoughts between low and high up in the index, newest first, and
// returns at most limit that match.
func (sr *search) indexed(ctx context.Context, query string, low, high int64, limit int) (found []ranking.Candidate, err error) {
	for len(found) < limit && high >= low {
		n := min(limit-len(found), ranking.BlockSize+1)
		rows, err := sr.tx.Query(ctx, selectIndexed, sr.args(query, low, high, n)...)
		if err != nil {
			return nil, err
		}
		matching, read, err := sr.matching(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, matching...)
		if len(read) > 0 {
			high = read[len(read)-1]
		}
		if len(read) < n {
			break
		}
		high--
	}
	return found, nil
}

// matching returns the thoughts among rows that match, and the ids of all.
func (sr *search) matching(rows pgx.Rows) (found []ranking.Candidate, read []int64, err error) {
	defer rows.Close()
	for rows.Next() {
		var id int64
		var text, note string
		if err := rows.Scan(&id, &text, &note); err != nil {
			return nil, nil, err
		}
		if err := unpackAll(&text, &note); err != nil {
			return nil, nil, err
		}
		read = append(read, id)
		if counts, length, ok := sr.Matcher.Match(text, note); ok {
			found = append(found, ranking.Candidate{ID: id, Counts: slices.Clone(counts), Length: length})
		}
	}
	return found, read, rows.Err()
}

// load returns the candidates as hits.
func (sr *search) load(ctx context.Context, found []ranking.Candidate) (out sequent.Hits, err error) {
	if len(found) == 0 {
		return out, nil
	}
	ids := make([]int64, len(found))
	index := make(map[int64]int, len(found))
	for i, c := range found {
		ids[i], index[c.ID] = c.ID, i
	}
	rows, err := sr.tx.Query(ctx, selectHits, ids)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	out.Hits = make([]sequent.Hit, len(found))
	loaded := 0
	var id int64
	var owner, session, title string
	row := newThoughtRow(&id, &owner, &session, &title)
	for rows.Next() {
		e, err := row.scan(rows)
		if err == nil {
			err = unpackAll(&owner, &session, &title)
		}
		if err != nil {
			return sequent.Hits{}, err
		}
		i := index[id]
		out.Hits[i] = sequent.Hit{
			Key: sequent.Key{Owner: owner, ID: sequent.ID(session)}, Title: title, Thought: e.Thought, Score: found[i].Score,
		}
		loaded++
	}
	if err := rows.Err(); err != nil {
		return sequent.Hits{}, err
	}
	if loaded != len(found) {
		return sequent.Hits{}, fmt.Errorf("loaded %d of %d hits", loaded, len(found))
	}
	return out, nil
}

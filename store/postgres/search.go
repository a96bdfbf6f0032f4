package postgres

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
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
		FROM schema.thoughts t JOIN schema.tool_sessions s ON s.key = t.session
		WHERE (t.tx, t.id) > ($6::xid8, $7::bigint)
		UNION ALL
		SELECT t.id, t.text, t.note, ` + inQuery + `, FALSE
		FROM schema.thought_words w JOIN schema.thoughts t ON t.id = w.id JOIN schema.tool_sessions s ON s.key = t.session
		WHERE w.words IS NULL
		ORDER BY 1 DESC`
	// selectIndexed selects thoughts that match according to the index.
	selectIndexed = `
		SELECT t.id, t.text, t.note
		FROM schema.thought_words w JOIN schema.thoughts t ON t.id = w.id JOIN schema.tool_sessions s ON s.key = t.session
		WHERE w.words @@ $6::tsquery AND t.id BETWEEN $7 AND $8 AND ` + inQuery + `
		ORDER BY t.id DESC LIMIT $9`
	// selectByID selects thoughts that match according to the index.
	selectByID = `
		SELECT t.id, t.text, t.note
		FROM schema.thoughts t JOIN schema.tool_sessions s ON s.key = t.session
		WHERE t.id = ANY ($6) AND ` + inQuery + `
		ORDER BY t.id DESC`
	// selectCount counts the indexed thoughts with a term. Ids count from the first one,
	// which is large on a worker of Citus.
	selectCount = `
		SELECT count(*), coalesce(min(id) - (SELECT min(id) FROM schema.thought_words) + 1, 0),
			(SELECT coalesce(max(id) - min(id) + 1, 0) FROM schema.thought_words)
		FROM (SELECT id FROM schema.thought_words WHERE words @@ $1::tsquery ORDER BY id DESC LIMIT $2) w`
	// selectIDs returns the indexed thoughts with a term, newest first. Another
	// condition could make PostgreSQL use another index.
	selectIDs = `
		SELECT coalesce(array_agg(id ORDER BY id DESC), '{}')
		FROM schema.thought_words WHERE words @@ $1::tsquery`
	selectIndex  = `SELECT tx, id, docs, tokens FROM schema.index_state`
	selectNewest = `SELECT coalesce(max(id), 0) FROM schema.thoughts`
	selectHits   = `
		SELECT ` + thoughtColumns + `, t.id, s.owner, s.id, s.title
		FROM schema.thoughts t JOIN schema.tool_sessions s ON s.key = t.session WHERE t.id = ANY ($1)`
)

// Search implements [sequent.Store]. It reads one snapshot of the database, or, if it
// searches several parts, several of each.
func (s *Store) Search(ctx context.Context, q sequent.SearchQuery) (hits sequent.Hits, err error) {
	asked, err := ranking.Parse(q)
	if err != nil {
		return sequent.Hits{}, err
	}
	parts := s.selected(q.Owner, q.AllOwners)
	err = s.read(ctx, func(ctx context.Context) error {
		sr := search{Search: asked, store: s}
		for _, p := range parts {
			sr.parts = append(sr.parts, &partSearch{part: p, search: &sr})
		}
		if len(parts) > 1 {
			hits, err = sr.page(ctx)
			return err
		}
		return s.inSnapshot(ctx, func(tx pgx.Tx) error {
			sr.tx = tx
			hits, err = sr.page(ctx)
			return err
		})
	})
	return hits, err
}

// inSnapshot calls do in a transaction that reads one snapshot.
func (s *Store) inSnapshot(ctx context.Context, do func(pgx.Tx) error) error {
	return inTx(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		// The best plan depends on how common the words are: use the index of words,
		// or scan the newest thoughts. A generic plan cannot know that.
		// It also expects every inflection to be in some thoughts, and many of them do
		// not exist: to start parallel workers for that takes longer than the search.
		if _, err := tx.Exec(ctx, "SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL max_parallel_workers_per_gather = 0"); err != nil {
			return err
		}
		return do(tx)
	})
}

// A search computes one page of a result. The ids of thoughts are those of [part.combine].
type search struct {
	ranking.Search
	store  *Store
	parts  []*partSearch
	tx     pgx.Tx // if there is one part
	newest int64  // greatest id on the first page
}

// each calls do for parts, each with a transaction.
func (sr *search) each(ctx context.Context, parts []*partSearch, do func(*partSearch) error) error {
	if sr.tx != nil && len(parts) == 1 {
		parts[0].tx = sr.tx
		return do(parts[0])
	}
	return concurrently(parts, maxConcurrent, func(ps *partSearch) error {
		return sr.store.inSnapshot(ctx, func(tx pgx.Tx) error {
			ps.tx = tx
			return do(ps)
		})
	})
}

// found returns what the last step has found in all parts, newest first.
func (sr *search) found() (all []ranking.Candidate) {
	for _, ps := range sr.parts {
		all = append(all, ps.found...)
	}
	sortNewest(all)
	return all
}

func sortNewest(all []ranking.Candidate) {
	slices.SortFunc(all, func(a, b ranking.Candidate) int { return cmp.Compare(b.ID, a.ID) })
}

// page ranks the matching thoughts and loads those of the page.
func (sr *search) page(ctx context.Context) (sequent.Hits, error) {
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
	if err := sr.begin(ctx); err != nil {
		return nil, "", err
	}
	if sr.Asked.IsPartial() {
		return sr.Rank(ctx, sr.newest, sr.partialBlock)
	}
	return sr.Rank(ctx, sr.newest, sr.block)
}

// begin reads the thoughts that are not indexed, and on the first page completes the
// corpus.
func (sr *search) begin(ctx context.Context) error {
	sr.Begin()
	if err := sr.each(ctx, sr.parts, func(ps *partSearch) error { return ps.begin(ctx) }); err != nil {
		return err
	}
	for _, ps := range sr.parts {
		sr.newest = max(sr.newest, ps.newest)
		sr.Corpus.Docs += ps.corpus.Docs
		sr.Corpus.Tokens += ps.corpus.Tokens
		for i, n := range ps.corpus.Hits {
			sr.Corpus.Hits[i] += n
		}
	}
	for i := range sr.Corpus.Hits { // an estimate may include deleted thoughts
		sr.Corpus.Hits[i] = max(min(sr.Corpus.Hits[i], sr.Corpus.Docs), 0)
	}
	return nil
}

// args returns the arguments of inQuery, followed by more.
func (sr *search) args(more ...any) []any {
	var now int64
	if !sr.Query.Now.IsZero() {
		now = record.Micros(sr.Query.Now)
	}
	return append([]any{sr.Query.AllOwners, pack(sr.Query.Owner), pack(string(sr.Query.Session)), now, pack(sr.Query.Project)}, more...)
}

// block is the [ranking.Block].
func (sr *search) block(ctx context.Context, at *words.Cursor) ([]ranking.Candidate, error) {
	low, limit := max(at.Low, 1), ranking.BlockSize+1 // one more, to learn whether there are more
	switch n := len(sr.parts); {
	case at.Low > 0:
		limit = math.MaxInt
	case n > 1: // about the share of a part, and some more
		limit = 2*limit/n + 50
	}
	if err := sr.each(ctx, sr.parts, func(ps *partSearch) error { return ps.block(ctx, low, at.Bound, limit) }); err != nil {
		return nil, err
	}
	found := sr.found()
	if at.Low > 0 {
		return found, nil
	}
	at.Low = low
	for _, ps := range sr.parts {
		if ps.cut { // older ones are in the next block
			at.Low = max(at.Low, ps.found[len(ps.found)-1].ID)
		}
	}
	if len(found) > ranking.BlockSize {
		at.Low = max(at.Low, found[ranking.BlockSize-1].ID)
	}
	return slices.DeleteFunc(found, func(c ranking.Candidate) bool { return c.ID < at.Low }), nil
}

// having returns the parts that have thoughts with these ids, and the keys of those.
func (sr *search) having(ids []int64) (parts []*partSearch, keys map[*part][]int64) {
	keys = make(map[*part][]int64, len(sr.parts))
	for _, id := range ids {
		p, key := sr.store.keyOf(id)
		keys[p] = append(keys[p], key)
	}
	for _, ps := range sr.parts {
		if len(keys[ps.part]) > 0 {
			parts = append(parts, ps)
		}
	}
	return parts, keys
}

// load returns the candidates as hits, without those that were deleted meanwhile.
func (sr *search) load(ctx context.Context, found []ranking.Candidate) (out sequent.Hits, err error) {
	if len(found) == 0 {
		return out, nil
	}
	ids := make([]int64, len(found))
	for i, c := range found {
		ids[i] = c.ID
	}
	var mu sync.Mutex
	loaded := make(map[int64]sequent.Hit, len(found))
	parts, keys := sr.having(ids)
	if err := sr.each(ctx, parts, func(ps *partSearch) error {
		return ps.load(ctx, keys[ps.part], func(id int64, h sequent.Hit) {
			mu.Lock()
			defer mu.Unlock()
			loaded[id] = h
		})
	}); err != nil {
		return out, err
	}
	for _, c := range found {
		if h, ok := loaded[c.ID]; ok {
			h.Score = c.Score
			out.Hits = append(out.Hits, h)
		}
	}
	return out, nil
}

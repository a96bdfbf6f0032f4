package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/words"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Bounds of a search, as in the other stores.
const (
	defaultHits = 20
	maxHits     = 1000
	blockSize   = 2000   // thoughts that are ranked against each other, the newest first
	sample      = 20_000 // thoughts with a word that are counted, the newest first; beyond, it is estimated
)

// What a search reads. The condition is true for the thoughts that the query is
// about; what the index does not hold is read too: thoughts beyond its mark, and
// those that did not fit into it.
const (
	inQuery = `($1 OR s.owner = $2) AND ($3 = '' OR s.id = $3) AND ($4::bigint = 0 OR s.expires IS NULL OR s.expires > $4)`

	selectUnlisted = `
		SELECT t.id, t.text, t.note, ` + inQuery + `, TRUE
		FROM thoughts t JOIN tool_sessions s ON s.key = t.session
		WHERE (t.tx, t.id) > ($5::xid8, $6::bigint)
		UNION ALL
		SELECT t.id, t.text, t.note, ` + inQuery + `, FALSE
		FROM thought_words w JOIN thoughts t ON t.id = w.id JOIN tool_sessions s ON s.key = t.session
		WHERE w.words IS NULL
		ORDER BY 1 DESC`
	selectListed = `
		SELECT t.id, t.text, t.note
		FROM thought_words w JOIN thoughts t ON t.id = w.id JOIN tool_sessions s ON s.key = t.session
		WHERE w.words @@ $5::tsquery AND t.id BETWEEN $6 AND $7 AND ` + inQuery + `
		ORDER BY t.id DESC LIMIT $8`
	selectCommon = `
		SELECT count(*), coalesce(min(id), 0), (SELECT coalesce(max(id), 0) FROM thought_words)
		FROM (SELECT id FROM thought_words WHERE words @@ $1::tsquery ORDER BY id DESC LIMIT $2) w`
	selectIndex  = `SELECT tx, id, docs, tokens FROM index_state`
	selectNewest = `SELECT coalesce(max(id), 0) FROM thoughts`
	selectHits   = `
		SELECT ` + thoughtColumns + `, t.id, s.owner, s.id, s.title
		FROM thoughts t JOIN tool_sessions s ON s.key = t.session WHERE t.id = ANY ($1)`
)

// Search implements [sequent.Store]. It sees one state of the database.
func (s *Store) Search(ctx context.Context, q sequent.SearchQuery) (hits sequent.Hits, err error) {
	asked, err := words.Parse(q.Text)
	if err != nil {
		return sequent.Hits{}, badSearch("query", err)
	}
	owner := "one:" + q.Owner
	if q.AllOwners {
		owner = "all"
	}
	digest := words.Digest(asked, owner, string(q.Session))
	var from *words.Cursor
	if q.Cursor != "" {
		c, err := words.ParseCursor(q.Cursor, asked, digest)
		if err != nil {
			return sequent.Hits{}, badSearch("cursor", err)
		}
		from = &c
	}
	err = s.read(ctx, func(ctx context.Context) error {
		return s.inTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
			sr := search{
				store: s, tx: tx, query: q, asked: asked, digest: digest, from: from,
				matcher: words.NewMatcher(asked), corpus: words.NewCorpus(asked),
			}
			// Whether to go through the words or through the newest thoughts depends
			// on how common the words are, which a plan for any words cannot know.
			if _, err := tx.Exec(ctx, "SET LOCAL plan_cache_mode = force_custom_plan"); err != nil {
				return err
			}
			hits, err = sr.page(ctx)
			return err
		})
	})
	return hits, err
}

func badSearch(field string, err error) error {
	e := &sequent.Error{Code: sequent.CodeInvalidQuery, Field: field, Msg: "the search cannot be understood", Err: err}
	if w, ok := errors.AsType[*words.Error](err); ok {
		e.Msg, e.Fix, e.Err = w.Msg, w.Fix, nil
	}
	return e
}

// A search is one page of a result in the making.
type search struct {
	store  *Store
	tx     pgx.Tx
	query  sequent.SearchQuery
	asked  words.Query
	digest uint64
	from   *words.Cursor // nil on the first page

	matcher  *words.Matcher
	corpus   words.Corpus
	unlisted []candidate // that match, newest first: what the index does not hold
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

// page ranks block after block until the page is full.
func (sr *search) page(ctx context.Context) (sequent.Hits, error) {
	at := words.Cursor{Query: sr.digest, Score: math.MaxFloat64, ID: math.MaxInt64}
	if sr.from != nil {
		at = *sr.from
	} else if err := sr.tx.QueryRow(ctx, selectNewest).Scan(&at.Bound); err != nil {
		return sequent.Hits{}, err
	}
	if err := sr.survey(ctx); err != nil {
		return sequent.Hits{}, err
	}
	if sr.from != nil {
		sr.corpus = at.Corpus // as on the first page
	}
	limit := min(cmp.Or(max(sr.query.Limit, 0), defaultHits), maxHits)
	var hits []candidate
	for at.Bound > 0 {
		found, err := sr.block(ctx, &at)
		if err != nil {
			return sequent.Hits{}, err
		}
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

// scope are the arguments of inQuery.
func (sr *search) scope(more ...any) []any {
	var now int64
	if !sr.query.Now.IsZero() {
		now = record.Micros(sr.query.Now)
	}
	return append([]any{sr.query.AllOwners, pack(sr.query.Owner), pack(string(sr.query.Session)), now}, more...)
}

// survey reads what the index does not hold, and learns how common the wanted
// words are among all thoughts.
func (sr *search) survey(ctx context.Context) error {
	var tx uint64
	var id int64
	if err := sr.tx.QueryRow(ctx, selectIndex).Scan(&tx, &id, &sr.corpus.Docs, &sr.corpus.Tokens); err != nil {
		return err
	}
	if sr.from == nil {
		for i, t := range sr.asked.Wanted() {
			query, ok := t.TSQuery()
			if !ok {
				continue
			}
			var n, oldest, newest int64
			if err := sr.tx.QueryRow(ctx, selectCommon, query, sample).Scan(&n, &oldest, &newest); err != nil {
				return err
			}
			if n == sample { // the newest say how common it is among all
				n = max(n, int64(float64(n)*float64(newest)/float64(newest-oldest+1)))
			}
			sr.corpus.Hits[i] = n
		}
	}
	rows, err := sr.tx.Query(ctx, selectUnlisted, sr.scope(tx, id)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for read := 0; rows.Next(); read++ {
		if read == longRead {
			sr.store.indexer.hurry()
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
		counts, length, ok := sr.matcher.Match(text, note)
		before := sr.corpus
		sr.corpus.Add(counts, length)
		if !uncounted {
			sr.corpus.Docs, sr.corpus.Tokens = before.Docs, before.Tokens
		}
		if ok && wanted {
			sr.unlisted = append(sr.unlisted, candidate{id: id, counts: slices.Clone(counts), length: length})
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range sr.corpus.Hits { // deletions may have been counted
		sr.corpus.Hits[i] = max(min(sr.corpus.Hits[i], sr.corpus.Docs), 0)
	}
	return nil
}

// block returns the matching thoughts of the block that at is in: the newest up
// to at.Bound. It sets at.Low to the oldest that belongs to it, or finds it set
// and keeps to it.
func (sr *search) block(ctx context.Context, at *words.Cursor) ([]candidate, error) {
	most := blockSize + 1 // one more, to learn whether there are more
	low := max(at.Low, 1)
	if at.Low > 0 {
		most = math.MaxInt
	}
	var found []candidate
	for _, c := range sr.unlisted {
		if low <= c.id && c.id <= at.Bound && len(found) < most {
			found = append(found, c)
		}
	}
	if query, ok := sr.asked.TSQuery(); ok {
		listed, err := sr.listed(ctx, query, low, at.Bound, most)
		if err != nil {
			return nil, err
		}
		found = append(found, listed...)
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Compare(b.id, a.id) })
	at.Low = low
	if len(found) >= most { // never so when Low was set
		found = found[:most-1]
		at.Low = found[most-2].id
	}
	return found, nil
}

// listed returns the newest matching thoughts between low and high that the
// index proposes, at most so many.
func (sr *search) listed(ctx context.Context, query string, low, high int64, most int) (found []candidate, err error) {
	for len(found) < most && high >= low {
		n := min(most-len(found), blockSize+1)
		rows, err := sr.tx.Query(ctx, selectListed, sr.scope(query, low, high, n)...)
		if err != nil {
			return nil, err
		}
		proposed := 0
		for rows.Next() {
			var text, note string
			if err := rows.Scan(&high, &text, &note); err != nil {
				rows.Close()
				return nil, err
			}
			if err := unpackAll(&text, &note); err != nil {
				rows.Close()
				return nil, err
			}
			proposed++
			if counts, length, ok := sr.matcher.Match(text, note); ok {
				found = append(found, candidate{id: high, counts: slices.Clone(counts), length: length})
			}
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return nil, err
		}
		if proposed < n {
			break
		}
		high--
	}
	return found, nil
}

// load returns the candidates as hits.
func (sr *search) load(ctx context.Context, found []candidate) (out sequent.Hits, err error) {
	if len(found) == 0 {
		return out, nil
	}
	ids := make([]int64, len(found))
	place := make(map[int64]int, len(found))
	for i, c := range found {
		ids[i], place[c.id] = c.id, i
	}
	rows, err := sr.tx.Query(ctx, selectHits, ids)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	out.Hits = make([]sequent.Hit, len(found))
	loaded := 0
	for rows.Next() {
		var id int64
		var owner, name, title string
		_, t, err := scanThought(rows, &id, &owner, &name, &title)
		if err == nil {
			err = unpackAll(&owner, &name, &title)
		}
		if err != nil {
			return sequent.Hits{}, err
		}
		i := place[id]
		out.Hits[i] = sequent.Hit{
			Key: sequent.Key{Owner: owner, ID: sequent.ID(name)}, Title: title, Thought: t, Score: found[i].score,
		}
		loaded++
	}
	if err := rows.Err(); err != nil {
		return sequent.Hits{}, err
	}
	if loaded != len(found) {
		return sequent.Hits{}, fmt.Errorf("%d of %d hits are there", loaded, len(found))
	}
	return out, nil
}

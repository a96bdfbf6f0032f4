package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/indexer"
	"github.com/sequent-dev/sequent/store/ranking"
	"github.com/sequent-dev/sequent/words"
)

// A partSearch finds thoughts of a part. A search of several parts has no snapshot of them:
// a transaction for each would need as many connections. So a thought may be indexed after
// it was read without the index, and one that was found may be deleted.
type partSearch struct {
	*part
	search    *search
	tx        pgx.Tx // while search.each calls a method
	matcher   *words.Matcher
	corpus    words.Corpus
	newest    int64
	unindexed []ranking.Candidate // matching thoughts without words in the index, newest first
	lists     [][]int64           // of a partial search: ids for each wanted term
	found     []ranking.Candidate // by the last step
	cut       bool                // found lacks older ones
}

// begin prepares a search for sr.Asked in the part.
func (ps *partSearch) begin(ctx context.Context) error {
	sr := ps.search
	ps.matcher, ps.corpus, ps.lists = words.NewMatcher(sr.Asked), words.NewCorpus(sr.Asked), nil
	if sr.From == nil {
		var newest int64
		if err := ps.tx.QueryRow(ctx, ps.sql(selectNewest)).Scan(&newest); err != nil {
			return err
		}
		ps.newest = ps.combine(newest)
		if err := ps.countTerms(ctx); err != nil {
			return err
		}
	}
	return ps.readUnindexed(ctx)
}

// countTerms sets the corpus's counts of thoughts with each wanted term, for the
// thoughts in the index.
func (ps *partSearch) countTerms(ctx context.Context) error {
	for i, t := range ps.search.Asked.Wanted() {
		query, ok := t.TSQuery()
		if !ok {
			continue
		}
		var n, oldest, newest int64
		if err := ps.tx.QueryRow(ctx, ps.sql(selectCount), query, ranking.Sample).Scan(&n, &oldest, &newest); err != nil {
			return err
		}
		ps.corpus.Hits[i] = ranking.Estimate(n, oldest, newest)
	}
	return nil
}

// readUnindexed completes the corpus with the size of the index and the thoughts
// without words in the index, all of which it reads. It sets ps.unindexed.
func (ps *partSearch) readUnindexed(ctx context.Context) error {
	var tx uint64
	var id int64
	if err := ps.tx.QueryRow(ctx, ps.sql(selectIndex)).Scan(&tx, &id, &ps.corpus.Docs, &ps.corpus.Tokens); err != nil {
		return err
	}
	ps.unindexed = nil
	rows, err := ps.tx.Query(ctx, ps.sql(selectUnindexedText), ps.search.args(tx, id)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for read := 0; rows.Next(); read++ {
		if read == indexer.MaxUnindexed {
			ps.search.store.needsIndex(ps.part)
			ps.search.store.schedule.Expedite()
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
		counts, length, ok := ps.matcher.Match(text, note)
		before := ps.corpus
		ps.corpus.Add(counts, length)
		if !uncounted {
			ps.corpus.Docs, ps.corpus.Tokens = before.Docs, before.Tokens
		}
		if ok && wanted {
			ps.unindexed = append(ps.unindexed, ranking.Candidate{ID: ps.combine(id), Counts: slices.Clone(counts), Length: length})
		}
	}
	return rows.Err()
}

// block sets ps.found to the matching thoughts between low and high, newest first, at most
// limit.
func (ps *partSearch) block(ctx context.Context, low, high int64, limit int) error {
	ps.found, ps.cut = nil, false
	for _, c := range ps.unindexed {
		if low <= c.ID && c.ID <= high && len(ps.found) < limit {
			ps.found = append(ps.found, c)
		}
	}
	if query, ok := ps.search.Asked.TSQuery(); ok {
		indexed, err := ps.indexed(ctx, query, ps.atLeast(low), ps.atMost(high), limit)
		if err != nil {
			return err
		}
		ps.found = append(ps.found, indexed...)
	}
	sortNewest(ps.found)
	if len(ps.found) >= limit {
		ps.found, ps.cut = ps.found[:limit], true
	}
	ps.found = slices.CompactFunc(ps.found, func(a, b ranking.Candidate) bool { return a.ID == b.ID })
	return nil
}

// indexed looks thoughts with ids in the part between low and high up in the index, newest
// first, and returns at most limit that match.
func (ps *partSearch) indexed(ctx context.Context, query string, low, high int64, limit int) (found []ranking.Candidate, err error) {
	for len(found) < limit && high >= low {
		n := min(limit-len(found), ranking.BlockSize+1)
		rows, err := ps.tx.Query(ctx, ps.sql(selectIndexed), ps.search.args(query, low, high, n)...)
		if err != nil {
			return nil, err
		}
		matching, oldest, read, err := ps.matching(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, matching...)
		if read < n {
			break
		}
		high = oldest - 1
	}
	return found, nil
}

// matching returns the thoughts among rows that match. The rows are n, the last of them has
// the id oldest in the part.
func (ps *partSearch) matching(rows pgx.Rows) (found []ranking.Candidate, oldest int64, n int, err error) {
	defer rows.Close()
	for ; rows.Next(); n++ {
		var text, note string
		if err := rows.Scan(&oldest, &text, &note); err != nil {
			return nil, 0, 0, err
		}
		if err := unpackAll(&text, &note); err != nil {
			return nil, 0, 0, err
		}
		if counts, length, ok := ps.matcher.Match(text, note); ok {
			found = append(found, ranking.Candidate{ID: ps.combine(oldest), Counts: slices.Clone(counts), Length: length})
		}
	}
	return found, oldest, n, rows.Err()
}

// load calls add with the thoughts that have these keys.
func (ps *partSearch) load(ctx context.Context, keys []int64, add func(id int64, h sequent.Hit)) error {
	rows, err := ps.tx.Query(ctx, ps.sql(selectHits), keys)
	if err != nil {
		return err
	}
	defer rows.Close()
	var key int64
	var owner, session, title string
	row := newThoughtRow(&key, &owner, &session, &title)
	for rows.Next() {
		e, err := row.scan(rows)
		if err == nil {
			err = unpackAll(&owner, &session, &title)
		}
		if err != nil {
			return err
		}
		add(ps.combine(key), sequent.Hit{Key: sequent.Key{Owner: owner, ID: sequent.ID(session)}, Title: title, Thought: e.Thought})
	}
	return rows.Err()
}

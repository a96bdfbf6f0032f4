package postgres

import (
	"context"

	"github.com/sequent-dev/sequent/store/ranking"
	"github.com/sequent-dev/sequent/words"
)

// useIndex makes the rest of the transaction find thoughts with the index of words alone.
// PostgreSQL expects each word that it does not know to be in 1 of 200 thoughts, so
// that it would rather read all of them than look up some hundred words.
func (ps *partSearch) useIndex(ctx context.Context) error {
	_, err := ps.tx.Exec(ctx, "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off")
	return err
}

// find is the [ranking.Find].
func (sr *search) find(ctx context.Context, q words.Query, n int) ([]ranking.Candidate, error) {
	one := *sr
	one.Asked, one.parts = q, nil
	for _, ps := range sr.parts {
		one.parts = append(one.parts, &partSearch{part: ps.part, search: &one})
	}
	if err := one.each(ctx, one.parts, func(ps *partSearch) error { return ps.find(ctx, n) }); err != nil {
		return nil, err
	}
	found := one.found()
	return found[:min(n, len(found))], nil
}

// find sets ps.found to the newest matching thoughts, n of them or more if there are as many.
func (ps *partSearch) find(ctx context.Context, n int) error {
	asked := ps.search.Asked
	ps.matcher, ps.corpus = words.NewMatcher(asked), words.NewCorpus(asked)
	if err := ps.useIndex(ctx); err != nil {
		return err
	}
	if err := ps.readUnindexed(ctx); err != nil {
		return err
	}
	ps.found = ps.unindexed
	query, ok := asked.TSQuery()
	if !ok {
		return nil
	}
	var keys []int64
	if err := ps.tx.QueryRow(ctx, ps.sql(selectIDs), query).Scan(&keys); err != nil {
		return err
	}
	some := 0
	for size := n; len(keys) > 0 && some < n; size *= 2 {
		size = min(size, len(keys))
		matching, err := ps.read(ctx, keys[:size])
		if err != nil {
			return err
		}
		ps.found, keys, some = append(ps.found, matching...), keys[size:], some+len(matching)
	}
	return nil
}

// partialBlock is the [ranking.Block] of a partial search.
func (sr *search) partialBlock(ctx context.Context, at *words.Cursor) ([]ranking.Candidate, error) {
	if sr.parts[0].lists == nil {
		if err := sr.each(ctx, sr.parts, func(ps *partSearch) error { return ps.readLists(ctx) }); err != nil {
			return nil, err
		}
	}
	lists := make([][]int64, len(sr.Asked.Wanted()))
	var unindexed []ranking.Candidate
	for _, ps := range sr.parts {
		for i, ids := range ps.lists {
			lists[i] = append(lists[i], ids...)
		}
		unindexed = append(unindexed, ps.unindexed...)
	}
	return sr.Divide(at, ranking.BlockSize, lists, unindexed, func(ids []int64) ([]ranking.Candidate, error) {
		for _, ps := range sr.parts {
			ps.found = nil
		}
		parts, keys := sr.having(ids)
		err := sr.each(ctx, parts, func(ps *partSearch) (err error) {
			ps.found, err = ps.read(ctx, keys[ps.part])
			return err
		})
		return sr.found(), err
	})
}

// readLists sets ps.lists, without the thoughts in ps.unindexed.
func (ps *partSearch) readLists(ctx context.Context) error {
	if err := ps.useIndex(ctx); err != nil {
		return err
	}
	read := make(map[int64]bool, len(ps.unindexed))
	for _, c := range ps.unindexed {
		read[c.ID] = true
	}
	terms := ps.search.Asked.Wanted()
	ps.lists = make([][]int64, len(terms))
	for i, t := range terms {
		query, ok := t.TSQuery()
		if !ok {
			continue
		}
		var keys []int64
		if err := ps.tx.QueryRow(ctx, ps.sql(selectIDs), query).Scan(&keys); err != nil {
			return err
		}
		for _, key := range keys {
			if id := ps.combine(key); !read[id] {
				ps.lists[i] = append(ps.lists[i], id)
			}
		}
	}
	return nil
}

// read returns the thoughts with these keys that match and that the query selects.
func (ps *partSearch) read(ctx context.Context, keys []int64) ([]ranking.Candidate, error) {
	rows, err := ps.tx.Query(ctx, ps.sql(selectByID), ps.search.args(keys)...)
	if err != nil {
		return nil, err
	}
	found, _, _, err := ps.matching(rows)
	return found, err
}

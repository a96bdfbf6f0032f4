package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/sequent-dev/sequent/store/ranking"
	"github.com/sequent-dev/sequent/words"
)

// useIndex makes the rest of the search find thoughts with the index of words alone.
// PostgreSQL expects each word that it does not know to be in 1 of 200 thoughts, so
// that it would rather read all of them than look up some hundred words.
func (sr *search) useIndex(ctx context.Context) error {
	_, err := sr.tx.Exec(ctx, "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off")
	return err
}

// find is the [ranking.Find].
func (sr *search) find(ctx context.Context, q words.Query, n int) ([]ranking.Candidate, error) {
	one := *sr
	one.Asked = q
	one.Begin()
	if err := one.useIndex(ctx); err != nil {
		return nil, err
	}
	if err := one.readUnindexed(ctx); err != nil {
		return nil, err
	}
	found := one.unindexed
	if query, ok := q.TSQuery(); ok {
		var ids []int64
		if err := one.tx.QueryRow(ctx, selectIDs, query).Scan(&ids); err != nil {
			return nil, err
		}
		some := 0
		for size := n; len(ids) > 0 && some < n; size *= 2 {
			size = min(size, len(ids))
			matching, err := one.read(ctx, ids[:size])
			if err != nil {
				return nil, err
			}
			found, ids, some = append(found, matching...), ids[size:], some+len(matching)
		}
	}
	slices.SortFunc(found, func(a, b ranking.Candidate) int { return cmp.Compare(b.ID, a.ID) })
	return found[:min(n, len(found))], nil
}

// partialBlock is the [ranking.Block] of a partial search.
func (sr *search) partialBlock(ctx context.Context, at *words.Cursor) ([]ranking.Candidate, error) {
	if sr.lists == nil {
		if err := sr.useIndex(ctx); err != nil {
			return nil, err
		}
		sr.lists = make([][]int64, len(sr.Asked.Wanted()))
		for i, t := range sr.Asked.Wanted() {
			query, ok := t.TSQuery()
			if !ok {
				continue
			}
			if err := sr.tx.QueryRow(ctx, selectIDs, query).Scan(&sr.lists[i]); err != nil {
				return nil, err
			}
		}
	}
	return sr.Divide(at, ranking.BlockSize, sr.lists, sr.unindexed, func(ids []int64) ([]ranking.Candidate, error) {
		return sr.read(ctx, ids)
	})
}

// read returns the thoughts with these ids that match and that the query selects.
func (sr *search) read(ctx context.Context, ids []int64) ([]ranking.Candidate, error) {
	rows, err := sr.tx.Query(ctx, selectByID, sr.args(ids)...)
	if err != nil {
		return nil, err
	}
	found, _, err := sr.matching(rows)
	return found, err
}

package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/indexer"
	"github.com/sequent-dev/sequent/store/ranking"
	"github.com/sequent-dev/sequent/words"
)

// countTerms sets the corpus's counts of thoughts with each wanted term, for the
// thoughts in the index.
func (sr *search) countTerms(ctx context.Context) error {
	if sr.words == nil {
		return nil
	}
	const count = `SELECT count(*), ifnull(min(rowid), 0) FROM
		(SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)`
	for i, t := range sr.Asked.Wanted() {
		var n, oldest int64
		if err := sr.words.QueryRowContext(ctx, count, t.FTS5(textColumns), ranking.Sample).Scan(&n, &oldest); err != nil {
			return indexError{err}
		}
		sr.Corpus.Hits[i] = min(ranking.Estimate(n, oldest, sr.mark), sr.docs)
	}
	return nil
}

// textColumns are the columns of the index with the words of a thought.
const textColumns = "text note"

// block is the [ranking.Block]. If count is set, on the first page, it adds the
// thoughts that are not in the index to the corpus.
func (sr *search) block(ctx context.Context, at *words.Cursor, count bool) ([]ranking.Candidate, error) {
	limit := sr.blockSize + 1 // one more, to learn whether there are more
	low := max(at.Low, 1)
	if at.Low > 0 {
		limit = math.MaxInt
	}
	var found []ranking.Candidate
	if at.Bound > sr.mark {
		var err error
		if found, err = sr.scan(ctx, max(low, sr.mark+1), at.Bound, limit, count); err != nil {
			return nil, err
		}
	}
	for high := min(at.Bound, sr.mark); len(found) < limit && high >= low; {
		ids, err := sr.lookUp(ctx, low, high, min(limit-len(found), ranking.BlockSize+1))
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			break
		}
		matching, err := sr.filter(ctx, ids)
		if err != nil {
			return nil, err
		}
		found = append(found, matching...)
		high = ids[len(ids)-1] - 1
	}
	at.Low = low
	if len(found) == limit { // only if at.Low was 0
		found = found[:limit-1]
		at.Low = found[limit-2].ID
	}
	return found, nil
}

// lists are the thoughts that a partial search may find.
type lists struct {
	unindexed []ranking.Candidate
	indexed   [][]int64 // for each wanted term
}

// partialBlock is the [ranking.Block] of a partial search.
func (sr *search) partialBlock(ctx context.Context, at *words.Cursor, count bool) ([]ranking.Candidate, error) {
	if sr.lists == nil {
		l, err := sr.readLists(ctx, at.Newest, count)
		if err != nil {
			return nil, err
		}
		sr.lists = l
	}
	return sr.Divide(at, sr.blockSize, sr.lists.indexed, sr.lists.unindexed, func(ids []int64) ([]ranking.Candidate, error) {
		return sr.filter(ctx, ids)
	})
}

// readLists reads the ids of all thoughts up to newest with a wanted term. The thoughts
// of a small session are read instead.
func (sr *search) readLists(ctx context.Context, newest int64, count bool) (l *lists, err error) {
	l = new(lists)
	if newest > sr.mark {
		if l.unindexed, err = sr.scan(ctx, sr.mark+1, newest, math.MaxInt, count); err != nil {
			return nil, err
		}
	}
	if sr.words == nil {
		return l, nil
	}
	if sr.session != 0 {
		ids, err := sr.lookUp(ctx, 1, min(newest, sr.mark), math.MaxInt)
		if err != nil {
			return nil, err
		}
		found, err := sr.filter(ctx, ids)
		l.unindexed = append(l.unindexed, found...)
		return l, err
	}
	for _, t := range sr.Asked.Wanted() {
		ids, err := sr.having(ctx, t, newest)
		if err != nil {
			return nil, indexError{err}
		}
		l.indexed = append(l.indexed, ids)
	}
	return l, nil
}

// having returns the ids of all thoughts in the index up to newest with a term. They
// come in one row, because a row for each costs more than to find them.
func (sr *search) having(ctx context.Context, t words.Term, newest int64) ([]int64, error) {
	var list string
	err := sr.words.QueryRowContext(ctx, "SELECT ifnull(group_concat(rowid), '') FROM words WHERE words MATCH ? AND rowid <= ?",
		t.FTS5(textColumns)+sr.scope, newest).Scan(&list)
	if err != nil || list == "" {
		return nil, err
	}
	ids := make([]int64, 0, strings.Count(list, ",")+1)
	for field := range strings.SplitSeq(list, ",") {
		id, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// scan reads all thoughts between low and high, newest first, and returns at most
// limit matching ones. If count is set, it adds all of them to the corpus.
func (sr *search) scan(ctx context.Context, low, high int64, limit int, count bool) ([]ranking.Candidate, error) {
	rows, err := sr.main.QueryContext(ctx, selectRange, sr.args(sql.Named("low", low), sql.Named("high", high))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []ranking.Candidate
	for read := 0; rows.Next(); read++ {
		if read == indexer.MaxUnindexed && sr.store.index != nil {
			sr.store.index.schedule.Expedite()
		}
		var id int64
		var text, note string
		var wanted bool
		if err := rows.Scan(&id, &text, &note, &wanted); err != nil {
			return nil, err
		}
		counts, length, ok := sr.Matcher.Match(text, note)
		if count {
			sr.Corpus.Add(counts, length)
		}
		if ok && wanted && len(found) < limit {
			found = append(found, ranking.Candidate{ID: id, Counts: slices.Clone(counts), Length: length})
		} else if len(found) == limit && !count {
			break
		}
	}
	return found, rows.Err()
}

// lookUp returns at most n thoughts between low and high that may match, newest
// first. It uses the index, except in a small session, whose thoughts it returns
// all: the index would also step over matching thoughts of other sessions.
func (sr *search) lookUp(ctx context.Context, low, high int64, n int) ([]int64, error) {
	if sr.session != 0 {
		return collectIDs(sr.main.QueryContext(ctx, selectOfSession, sr.session, low, high, n))
	}
	ids, err := collectIDs(sr.words.QueryContext(ctx,
		"SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
		sr.Asked.FTS5(textColumns)+sr.scope, low, high, n))
	if err != nil {
		return nil, indexError{err}
	}
	return ids, nil
}

// filter reads the thoughts with these ids and returns those that match, in the
// same order. The index may still contain deleted or expired thoughts.
func (sr *search) filter(ctx context.Context, ids []int64) ([]ranking.Candidate, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := sr.main.QueryContext(ctx, selectByID, sr.args(sql.Named("ids", string(list)))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []ranking.Candidate
	for rows.Next() {
		var id int64
		var text, note string
		if err := rows.Scan(&id, &text, &note); err != nil {
			return nil, err
		}
		if counts, length, ok := sr.Matcher.Match(text, note); ok {
			found = append(found, ranking.Candidate{ID: id, Counts: slices.Clone(counts), Length: length})
		}
	}
	return found, rows.Err()
}

// load returns the candidates as hits.
func (sr *search) load(ctx context.Context, found []ranking.Candidate) (sequent.Hits, error) {
	var out sequent.Hits
	thoughts := sr.store.loading.thoughts.on(ctx, sr.main)
	defer thoughts.plain.Close()
	defer thoughts.optional.Close()
	for _, c := range found {
		hit := sequent.Hit{Score: c.Score}
		var key int64
		var seq int
		if err := sr.main.QueryRowContext(ctx, selectHit, c.ID).Scan(&key, &seq, &hit.Key.Owner, &hit.Key.ID, &hit.Title); err != nil {
			return sequent.Hits{}, err
		}
		one, err := thoughts.read(ctx, key, seq-1, seq)
		if err != nil {
			return sequent.Hits{}, err
		}
		hit.Thought = one[0].Thought
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}

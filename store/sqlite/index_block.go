package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/words"
)

// survey tells the corpus how common the wanted words are in the index.
func (sr *search) survey(ctx context.Context) error {
	if sr.words == nil {
		return nil
	}
	const count = `SELECT count(*), ifnull(min(rowid), 0) FROM
		(SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)`
	for i, t := range sr.asked.Wanted() {
		var n, oldest int64
		if err := sr.words.QueryRowContext(ctx, count, t.FTS5(columns), sample).Scan(&n, &oldest); err != nil {
			return indexError{err}
		}
		if n == sample { // the newest say how common it is among all
			n = max(n, int64(float64(n)*float64(sr.mark)/float64(sr.mark-oldest+1)))
		}
		sr.corpus.Hits[i] = min(n, sr.docs)
	}
	return nil
}

// columns are those of the index that hold what people wrote.
const columns = "text note"

// block returns the matching thoughts of the block that at is in: the newest
// up to at.Bound. It sets at.Low to the oldest that belongs to it, or finds it
// set and keeps to it. On the first page it completes the corpus by what the
// index does not hold.
func (sr *search) block(ctx context.Context, at *words.Cursor, first bool) ([]candidate, error) {
	most := sr.blockSize + 1 // one more, to learn whether there are more
	low := max(at.Low, 1)
	if at.Low > 0 {
		most = math.MaxInt
	}
	var found []candidate
	if at.Bound > sr.mark {
		var err error
		if found, err = sr.tail(ctx, max(low, sr.mark+1), at.Bound, most, first); err != nil {
			return nil, err
		}
	}
	for high := min(at.Bound, sr.mark); len(found) < most && high >= low; {
		ids, err := sr.lookUp(ctx, low, high, min(most-len(found), blockSize+1))
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			break
		}
		some, err := sr.among(ctx, ids)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
		high = ids[len(ids)-1] - 1
	}
	at.Low = low
	if len(found) == most { // never so when Low was set
		found = found[:most-1]
		at.Low = found[most-2].id
	}
	return found, nil
}

// tail returns the newest matching thoughts between low and high, newest first,
// by reading all of them; beyond most only for the corpus, if it takes part.
func (sr *search) tail(ctx context.Context, low, high int64, most int, census bool) ([]candidate, error) {
	rows, err := sr.main.QueryContext(ctx, selectTail, sr.args(sql.Named("low", low), sql.Named("high", high))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []candidate
	for read := 0; rows.Next(); read++ {
		if read == longRead && sr.store.index != nil {
			sr.store.index.hurry()
		}
		var id int64
		var text, note string
		var wanted bool
		if err := rows.Scan(&id, &text, &note, &wanted); err != nil {
			return nil, err
		}
		counts, length, ok := sr.matcher.Match(text, note)
		if census {
			sr.corpus.Add(counts, length)
		}
		if ok && wanted && len(found) < most {
			found = append(found, candidate{id: id, counts: slices.Clone(counts), length: length})
		} else if len(found) == most && !census {
			break
		}
	}
	return found, rows.Err()
}

// lookUp returns at most n thoughts between low and high that match according
// to the index, newest first. Of a small session it returns all: reading them
// costs less than passing over what other sessions say with the same words.
func (sr *search) lookUp(ctx context.Context, low, high int64, n int) ([]int64, error) {
	if sr.session != 0 {
		return collectIDs(sr.main.QueryContext(ctx, selectOfSession, sr.session, low, high, n))
	}
	ids, err := collectIDs(sr.words.QueryContext(ctx,
		"SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
		sr.asked.FTS5(columns)+sr.scope, low, high, n))
	if err != nil {
		return nil, indexError{err}
	}
	return ids, nil
}

// among returns those of the thoughts that match, in the same order. It looks
// at the thoughts themselves: the index may hold what is deleted or expired.
func (sr *search) among(ctx context.Context, ids []int64) ([]candidate, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := sr.main.QueryContext(ctx, selectAmong, sr.args(sql.Named("ids", string(list)))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []candidate
	for rows.Next() {
		var id int64
		var text, note string
		if err := rows.Scan(&id, &text, &note); err != nil {
			return nil, err
		}
		if counts, length, ok := sr.matcher.Match(text, note); ok {
			found = append(found, candidate{id: id, counts: slices.Clone(counts), length: length})
		}
	}
	return found, rows.Err()
}

// load returns the candidates as hits.
func (sr *search) load(ctx context.Context, found []candidate) (sequent.Hits, error) {
	var out sequent.Hits
	thoughts := sr.main.StmtContext(ctx, sr.store.loading.thoughts)
	defer thoughts.Close()
	for _, c := range found {
		hit := sequent.Hit{Score: c.score}
		var key int64
		var seq int
		if err := sr.main.QueryRowContext(ctx, selectHit, c.id).Scan(&key, &seq, &hit.Key.Owner, &hit.Key.ID, &hit.Title); err != nil {
			return sequent.Hits{}, err
		}
		one, err := readThoughts(ctx, thoughts, key, &sequent.Header{Len: seq}, sequent.Position{Len: seq - 1})
		if err != nil {
			return sequent.Hits{}, err
		}
		hit.Thought = one[0]
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}

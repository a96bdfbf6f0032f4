package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/words"
	"github.com/sequent-dev/sequent/store/internal/ranked"
)

// survey tells the corpus how common the wanted words are in the index.
func (sr *search) survey(ctx context.Context) error {
	if sr.words == nil {
		return nil
	}
	const count = `SELECT count(*), ifnull(min(rowid), 0) FROM
		(SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)`
	for i, t := range sr.Asked.Wanted() {
		var n, oldest int64
		if err := sr.words.QueryRowContext(ctx, count, t.FTS5(columns), ranked.Sample).Scan(&n, &oldest); err != nil {
			return indexError{err}
		}
		sr.Corpus.Hits[i] = min(ranked.Estimate(n, oldest, sr.mark), sr.docs)
	}
	return nil
}

// columns are those of the index that hold what people wrote.
const columns = "text note"

// block is the [ranked.Block]. With census, on the first page, it completes the
// corpus by what the index does not hold.
func (sr *search) block(ctx context.Context, at *words.Cursor, census bool) ([]ranked.Candidate, error) {
	most := sr.blockSize + 1 // one more, to learn whether there are more
	low := max(at.Low, 1)
	if at.Low > 0 {
		most = math.MaxInt
	}
	var found []ranked.Candidate
	if at.Bound > sr.mark {
		var err error
		if found, err = sr.tail(ctx, max(low, sr.mark+1), at.Bound, most, census); err != nil {
			return nil, err
		}
	}
	for high := min(at.Bound, sr.mark); len(found) < most && high >= low; {
		ids, err := sr.lookUp(ctx, low, high, min(most-len(found), ranked.BlockSize+1))
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
		at.Low = found[most-2].ID
	}
	return found, nil
}

// tail returns the newest matching thoughts between low and high, newest first,
// by reading all of them; beyond most only for the corpus, if it takes part.
func (sr *search) tail(ctx context.Context, low, high int64, most int, census bool) ([]ranked.Candidate, error) {
	rows, err := sr.main.QueryContext(ctx, selectTail, sr.args(sql.Named("low", low), sql.Named("high", high))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []ranked.Candidate
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
		counts, length, ok := sr.Matcher.Match(text, note)
		if census {
			sr.Corpus.Add(counts, length)
		}
		if ok && wanted && len(found) < most {
			found = append(found, ranked.Candidate{ID: id, Counts: slices.Clone(counts), Length: length})
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
		sr.Asked.FTS5(columns)+sr.scope, low, high, n))
	if err != nil {
		return nil, indexError{err}
	}
	return ids, nil
}

// among returns those of the thoughts that match, in the same order. It looks
// at the thoughts themselves: the index may hold what is deleted or expired.
func (sr *search) among(ctx context.Context, ids []int64) ([]ranked.Candidate, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := sr.main.QueryContext(ctx, selectAmong, sr.args(sql.Named("ids", string(list)))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []ranked.Candidate
	for rows.Next() {
		var id int64
		var text, note string
		if err := rows.Scan(&id, &text, &note); err != nil {
			return nil, err
		}
		if counts, length, ok := sr.Matcher.Match(text, note); ok {
			found = append(found, ranked.Candidate{ID: id, Counts: slices.Clone(counts), Length: length})
		}
	}
	return found, rows.Err()
}

// load returns the candidates as hits.
func (sr *search) load(ctx context.Context, found []ranked.Candidate) (sequent.Hits, error) {
	var out sequent.Hits
	thoughts := sr.main.StmtContext(ctx, sr.store.loading.thoughts)
	defer thoughts.Close()
	for _, c := range found {
		hit := sequent.Hit{Score: c.Score}
		var key int64
		var seq int
		if err := sr.main.QueryRowContext(ctx, selectHit, c.ID).Scan(&key, &seq, &hit.Key.Owner, &hit.Key.ID, &hit.Title); err != nil {
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

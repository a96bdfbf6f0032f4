package index

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// phrase returns where the tokens of a unit follow each other in a field.
func (v *view) phrase(ctx context.Context, u unit, f field) ([]posting, error) {
	var found []posting
	for i, token := range u.tokens {
		var list []posting
		var err error
		if u.prefix && i == len(u.tokens)-1 {
			list, err = v.beginning(ctx, token, f)
		} else {
			list, err = v.postings(ctx, token, f)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			found = list
		} else if found, err = follow(found, list, i); err != nil {
			return nil, err
		}
		if len(found) == 0 {
			break
		}
	}
	return found, nil
}

// follow returns those places of a that have one of b so many places after
// them.
func follow(a, b []posting, distance int) ([]posting, error) {
	var out []posting
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].note < b[0].note:
			a = a[1:]
			continue
		case b[0].note < a[0].note:
			b = b[1:]
			continue
		}
		first, err := decodePlaces(a[0].data)
		if err != nil {
			return nil, err
		}
		then, err := decodePlaces(b[0].data)
		if err != nil {
			return nil, err
		}
		kept := first[:0]
		for _, at := range first {
			for len(then) > 0 && then[0] < at+distance {
				then = then[1:]
			}
			if len(then) > 0 && then[0] == at+distance {
				kept = append(kept, at)
			}
		}
		if len(kept) > 0 {
			out = append(out, posting{a[0].note, len(kept), encodePlaces(kept)})
		}
		a, b = a[1:], b[1:]
	}
	return out, nil
}

// postings returns where a word is in a field.
func (v *view) postings(ctx context.Context, word string, f field) ([]posting, error) {
	var id int64
	err := v.tx.QueryRowContext(ctx, "SELECT id FROM words WHERE word = ?", word).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return v.rows(ctx, id, f)
}

func (v *view) rows(ctx context.Context, word int64, f field) ([]posting, error) {
	first := rowKey(word, f, 0)
	rows, err := v.tx.QueryContext(ctx, "SELECT key, data FROM postings WHERE key BETWEEN ? AND ? ORDER BY key",
		first, first|(1<<24-1))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []posting
	for rows.Next() {
		var key int64
		var data []byte
		if err := rows.Scan(&key, &data); err != nil {
			return nil, err
		}
		out = slices.Grow(out, chunkNotes/8)
		if out, err = appendPostings(out, key-first, data); err != nil {
			return nil, err
		}
	}
	return out, rows.Err()
}

// mostBeginnings bounds the words that one beginning stands for.
const mostBeginnings = 1000

// beginning returns where the words that begin so are in a field.
func (v *view) beginning(ctx context.Context, start string, f field) ([]posting, error) {
	ids, err := v.wordsFrom(ctx, start)
	if err != nil {
		return nil, err
	}
	places := make(map[int64][]int)
	for _, id := range ids {
		list, err := v.rows(ctx, id, f)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			at, err := decodePlaces(p.data)
			if err != nil {
				return nil, err
			}
			places[p.note] = append(places[p.note], at...)
		}
	}
	var out []posting
	for note, at := range places {
		slices.Sort(at)
		out = append(out, posting{note, len(at), encodePlaces(at)})
	}
	sortPostings(out)
	return out, nil
}

func (v *view) wordsFrom(ctx context.Context, start string) ([]int64, error) {
	rows, err := v.tx.QueryContext(ctx, "SELECT id FROM words WHERE word >= ? AND word < ? ORDER BY word LIMIT ?",
		start, start+"\U0010FFFF", mostBeginnings)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

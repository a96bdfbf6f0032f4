package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const (
	headerColumns = `key, owner, id, epoch, version, len, branches, state, title, scope, dialect,
			conclusion, labels, created, updated, expires, entries, head, bytes, context`

	selectHeader = `SELECT ` + headerColumns + ` FROM tool_sessions WHERE owner = ? AND id = ?`

	// Each column that is read costs as much as a fifth of finding the row, so those
	// that most thoughts lack are read by a second statement, for the thoughts that
	// have them; see [record.Plain]. The column plain saves looking at each of them.
	optional = `(note <> '' OR branch <> '' OR branch_from IS NOT NULL OR revises IS NOT NULL OR revision OR supersedes <> 0
			OR extend OR request_key <> '' OR request_digest <> '' OR labels <> '' OR masked <> '')`

	selectThoughts = `
		SELECT seq, number, total, after, at, place, more, CASE WHEN plain THEN FALSE ELSE ` + optional + ` END, text, salt, hash
		FROM thoughts WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq`

	selectOptional = `
		SELECT seq, note, branch, branch_from, revises, revision, extend, request_key, request_digest, labels, supersedes, masked
		FROM thoughts WHERE session = ? AND seq > ? AND seq <= ? AND NOT plain AND ` + optional + ` ORDER BY seq`

	selectEntries = `
		SELECT place, kind, at, salt, hash, body, masked
		FROM entries WHERE session = ? AND place > ? AND place <= ? ORDER BY place`
)

// Load implements [sequent.Store].
//
// It reads the header and then the entries up to its Len, without a transaction:
// a log only grows, and SQLite never reuses the key of a deleted session. A
// deletion between the two reads is noticed by the missing thoughts.
func (s *Store) Load(ctx context.Context, k sequent.Key, have sequent.Position, limit int) (sequent.Header, []sequent.Entry, error) {
	if err := s.checkReplaced(); err != nil {
		return sequent.Header{}, nil, err
	}
	for {
		key, h, err := scanHeader(s.loading.header.QueryRowContext(ctx, k.Owner, k.ID))
		if errors.Is(err, sql.ErrNoRows) {
			return sequent.Header{}, nil, record.NotFound(k.ID)
		}
		if err != nil {
			return sequent.Header{}, nil, s.wrap(err)
		}
		tail, err := readLog(ctx, s.loading.thoughts, s.loading.entries, key, &h, have, limit)
		if errors.Is(err, errIncomplete) {
			again, _, missing := scanHeader(s.loading.header.QueryRowContext(ctx, k.Owner, k.ID))
			if missing != nil || again != key {
				continue // deleted meanwhile, and perhaps begun again
			}
		}
		if err != nil && !errors.Is(err, errIncomplete) {
			return sequent.Header{}, nil, s.wrap(err)
		}
		return h, tail, s.wrap(err)
	}
}

// errIncomplete means that a session has fewer thoughts than its header says.
var errIncomplete = &sequent.Error{
	Code: sequent.CodeCorrupt,
	Msg:  "thoughts of the session are missing from the store",
	Fix:  "run `sequent verify`",
}

// readLog returns the entries of h beyond have, or all if they do not continue have; of
// either the first ones, with at most limit thoughts, if limit is positive. If thoughts
// are missing, it returns all others with errIncomplete.
func readLog(ctx context.Context, thoughts thoughtReader, entries *sql.Stmt, key int64, h *sequent.Header, have sequent.Position, limit int) ([]sequent.Entry, error) {
	if have.Epoch != h.Epoch {
		have = sequent.Position{}
	}
	first, last := max(have.Len, 0), h.Len
	if limit > 0 {
		last = min(last, first+limit)
	}
	log, err := thoughts.readHalves(ctx, key, first, last)
	if err != nil && !errors.Is(err, errIncomplete) {
		return nil, err
	}
	if err != nil && limit > 0 { // those that exist are among all of them
		return readLog(ctx, thoughts, entries, key, h, sequent.Position{}, 0)
	}
	lastPlace := h.Entries
	if last < h.Len {
		lastPlace = log[len(log)-1].Place
	}
	if lastPlace > have.Entries {
		others, entriesErr := readEntries(ctx, entries, key, have.Entries, lastPlace)
		if entriesErr != nil {
			return nil, entriesErr
		}
		log = record.Merge(log, others)
	}
	if have != (sequent.Position{}) && !h.Continues(have, log) {
		return readLog(ctx, thoughts, entries, key, h, sequent.Position{}, limit)
	}
	return log, err
}

// readEntries returns the entries after first up to last that are not thoughts.
func readEntries(ctx context.Context, stmt *sql.Stmt, key int64, first, last int) (log []sequent.Entry, err error) {
	rows, err := stmt.QueryContext(ctx, key, first, last)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var salt, hash sql.RawBytes
	var body, masked string
	var at int64
	for rows.Next() {
		var e sequent.Entry
		if err := rows.Scan(&e.Place, &e.Kind, &at, &salt, &hash, &body, &masked); err != nil {
			return nil, err
		}
		e.At = record.Time(at)
		e.Body, err = record.ParseBody(body)
		if err := errors.Join(err, record.ParseProof(&e, salt, hash, masked)); err != nil {
			return nil, damaged("an entry of the log", err)
		}
		log = append(log, e)
	}
	return log, rows.Err()
}

// A thoughtReader has the statements that read thoughts.
type thoughtReader struct {
	plain, optional *sql.Stmt
	single          bool // the statements are on one connection
}

// on returns the statements for use in a transaction.
func (r thoughtReader) on(ctx context.Context, tx *sql.Tx) thoughtReader {
	return thoughtReader{tx.StmtContext(ctx, r.plain), tx.StmtContext(ctx, r.optional), true}
}

// readHalves is read with two connections for a long log.
func (r thoughtReader) readHalves(ctx context.Context, key int64, first, last int) (log []sequent.Entry, err error) {
	const long = 1000
	if r.single || last-first < long {
		return r.read(ctx, key, first, last)
	}
	middle := first + (last-first)/2
	log = make([]sequent.Entry, last-first)
	var tail []sequent.Entry
	var tailErr error
	var wg sync.WaitGroup
	wg.Go(func() { tail, tailErr = r.readInto(ctx, log[middle-first:][:0], key, middle, last) })
	head, err := r.readInto(ctx, log[:0:middle-first], key, first, middle)
	wg.Wait()
	switch {
	case err != nil:
		return head, err
	case tailErr != nil && !errors.Is(tailErr, errIncomplete):
		return nil, tailErr
	}
	return log[:len(head)+len(tail)], tailErr
}

// read returns the thoughts after first up to last. If some are missing, it returns the
// others with errIncomplete.
func (r thoughtReader) read(ctx context.Context, key int64, first, last int) (log []sequent.Entry, err error) {
	if first >= last {
		return nil, nil
	}
	return r.readInto(ctx, make([]sequent.Entry, 0, last-first), key, first, last)
}

// readInto appends the thoughts that read returns to log, which is empty and has room
// for them.
func (r thoughtReader) readInto(ctx context.Context, log []sequent.Entry, key int64, first, last int) (_ []sequent.Entry, err error) {
	rows, err := r.plain.QueryContext(ctx, key, first, last)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := newThoughtRow()
	from, to, n := 0, 0, 0 // range of the thoughts that are not plain, and how many there are
	for rows.Next() {
		log = append(log, sequent.Entry{Kind: sequent.KindThought})
		plain, err := row.scan(rows, &log[len(log)-1])
		if err != nil {
			return nil, err
		}
		if !plain {
			if n == 0 {
				from = len(log) - 1
			}
			to, n = len(log), n+1
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if n > 0 {
		read, err := r.readOptional(ctx, key, log[from:to])
		if err != nil {
			return nil, err
		}
		if read != n { // the session was deleted
			return nil, errIncomplete
		}
	}
	if len(log) != last-first {
		return log, errIncomplete
	}
	return log, nil
}

// readOptional reads the optional columns of the thoughts that have them, and returns
// how many have. The thoughts are in order.
func (r thoughtReader) readOptional(ctx context.Context, key int64, log []sequent.Entry) (n int, err error) {
	rows, err := r.optional.QueryContext(ctx, key, log[0].Thought.Seq-1, log[len(log)-1].Thought.Seq)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var from, revises sql.NullInt64
	var labels, masked string
	var t sequent.Thought
	for rows.Next() {
		if err := rows.Scan(&t.Seq, &t.Note, &t.Branch, &from, &revises, &t.Revision, &t.Extend,
			&t.Request.Key, &t.Request.Digest, &labels, &t.Supersedes, &masked); err != nil {
			return 0, err
		}
		for len(log) > 0 && log[0].Thought.Seq < t.Seq {
			log = log[1:]
		}
		if len(log) == 0 || log[0].Thought.Seq != t.Seq {
			return 0, errIncomplete
		}
		n++
		e := &log[0].Thought
		e.Note, e.Branch, e.Revision, e.Extend, e.Request, e.Supersedes = t.Note, t.Branch, t.Revision, t.Extend, t.Request, t.Supersedes
		e.From, e.Revises = unpackRef(from), unpackRef(revises)
		if e.Labels, err = unpackLabels(labels); err != nil {
			return 0, err
		}
		if err := record.ParseMasked(&log[0], masked); err != nil {
			return 0, damaged("the masked texts of a thought", err)
		}
	}
	return n, rows.Err()
}

// scanHeader scans the headerColumns of a row.
func scanHeader(row interface{ Scan(...any) error }) (key int64, h sequent.Header, err error) {
	var labels, from string
	var created, updated int64
	var expires sql.NullInt64
	var head []byte
	if err := row.Scan(&key, &h.Owner, &h.ID, &h.Epoch, &h.Version, &h.Len, &h.Branches, &h.State, &h.Title, &h.Scope,
		&h.Dialect, &h.Conclusion, &labels, &created, &updated, &expires, &h.Entries, &head, &h.Bytes, &from); err != nil {
		return 0, sequent.Header{}, err
	}
	h.Created, h.Updated = record.Time(created), record.Time(updated)
	if expires.Valid {
		h.Expires = record.Time(expires.Int64)
	}
	if err := record.ParseHash(&h.Head, head); err != nil {
		return 0, sequent.Header{}, damaged("the hash of a session", err)
	}
	if h.Context, err = record.ParseContext(from); err != nil {
		return 0, sequent.Header{}, damaged("the context of a session", err)
	}
	h.Labels, err = unpackLabels(labels)
	return key, h, err
}

// packExpiry returns t in microseconds as an int64, or nil if t is zero.
func packExpiry(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return record.Micros(t)
}

// packRef returns the number of r as an int64, or nil if it has none.
func packRef(r sequent.Ref) any {
	if n, ok := r.Number(); ok {
		return int64(n)
	}
	return nil
}

func unpackRef(n sql.NullInt64) sequent.Ref {
	if !n.Valid {
		return sequent.Ref{}
	}
	return sequent.To(int(n.Int64))
}

func unpackLabels(s string) (map[string]string, error) {
	labels, err := record.ParseLabels(s)
	if err != nil {
		return nil, damaged("a set of labels", err)
	}
	return labels, nil
}

func damaged(what string, err error) error {
	return &sequent.Error{
		Code: sequent.CodeCorrupt, Msg: what + " in the store is damaged",
		Fix: "run `sequent doctor`", Err: err,
	}
}

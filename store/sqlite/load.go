package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const (
	headerColumns = `key, owner, id, epoch, version, len, branches, state, title, scope, dialect,
			conclusion, labels, created, updated, expires`

	selectHeader = `SELECT ` + headerColumns + ` FROM tool_sessions WHERE owner = ? AND id = ?`

	selectThoughts = `
		SELECT seq, number, total, text, note, branch, branch_from, revises, revision, more, extend,
			request_key, request_digest, labels, after, supersedes, at
		FROM thoughts WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq`

	selectPosition = `SELECT epoch, version, len FROM tool_sessions WHERE owner = ? AND id = ?`
)

// Load implements [sequent.Store].
//
// It reads the header and then the thoughts up to its Len, without a transaction:
// a log only grows, and SQLite never reuses the key of a deleted session. A
// deletion between the two reads is noticed by the missing thoughts.
func (s *Store) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Thought, error) {
	for {
		key, h, err := scanHeader(s.loading.header.QueryRowContext(ctx, k.Owner, k.ID))
		if errors.Is(err, sql.ErrNoRows) {
			return sequent.Header{}, nil, record.NotFound(k.ID)
		}
		if err != nil {
			return sequent.Header{}, nil, s.wrap(err)
		}
		tail, err := readThoughts(ctx, s.loading.thoughts, key, &h, have)
		if errors.Is(err, errIncomplete) {
			again, _, missing := scanHeader(s.loading.header.QueryRowContext(ctx, k.Owner, k.ID))
			if missing != nil || again != key {
				continue // deleted meanwhile, and perhaps begun again
			}
		}
		if err != nil {
			return sequent.Header{}, nil, s.wrap(err)
		}
		return h, tail, nil
	}
}

// errIncomplete means that a session has fewer thoughts than its header says.
var errIncomplete = &sequent.Error{
	Code: sequent.CodeCorrupt,
	Msg:  "thoughts of the session are missing from the store",
	Fix:  "run `sequent doctor`",
}

// readThoughts returns the thoughts of h after have.
func readThoughts(ctx context.Context, stmt *sql.Stmt, key int64, h *sequent.Header, have sequent.Position) (log []sequent.Thought, err error) {
	first := 0
	if have.Epoch == h.Epoch {
		first = max(have.Len, 0)
	}
	if first >= h.Len {
		return nil, nil
	}
	rows, err := stmt.QueryContext(ctx, key, first, h.Len)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	log = make([]sequent.Thought, 0, h.Len-first)
	var from, revises sql.NullInt64
	var labels string
	var at int64
	for rows.Next() {
		log = append(log, sequent.Thought{})
		t := &log[len(log)-1]
		if err := rows.Scan(&t.Seq, &t.Number, &t.Total, &t.Text, &t.Note, &t.Branch, &from, &revises,
			&t.Revision, &t.More, &t.Extend, &t.Request.Key, &t.Request.Digest, &labels,
			&t.After, &t.Supersedes, &at); err != nil {
			return nil, err
		}
		t.From, t.Revises, t.At = unpackRef(from), unpackRef(revises), record.Time(at)
		if t.Labels, err = unpackLabels(labels); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(log) != h.Len-first {
		return nil, errIncomplete
	}
	return log, nil
}

// scanHeader scans the headerColumns of a row.
func scanHeader(row interface{ Scan(...any) error }) (key int64, h sequent.Header, err error) {
	var labels string
	var created, updated int64
	var expires sql.NullInt64
	if err := row.Scan(&key, &h.Owner, &h.ID, &h.Epoch, &h.Version, &h.Len, &h.Branches, &h.State, &h.Title, &h.Scope,
		&h.Dialect, &h.Conclusion, &labels, &created, &updated, &expires); err != nil {
		return 0, sequent.Header{}, err
	}
	h.Created, h.Updated = record.Time(created), record.Time(updated)
	if expires.Valid {
		h.Expires = record.Time(expires.Int64)
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
		return nil, &sequent.Error{
			Code: sequent.CodeCorrupt, Msg: "labels in the store are damaged",
			Fix: "run `sequent doctor`", Err: err,
		}
	}
	return labels, nil
}

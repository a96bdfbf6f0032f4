package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const (
	headerColumns = `key, owner, id, epoch, version, len, state, title, scope, dialect,
		conclusion, labels, created, updated, expires`

	selectHeader = `SELECT ` + headerColumns + ` FROM tool_sessions WHERE owner = $1 AND id = $2`

	thoughtColumns = `t.session, t.seq, t.number, t.total, t.text, t.note, t.branch, t.branch_from, t.revises,
		t.revision, t.more, t.extend, t.request_key, t.request_digest, t.labels, t.after, t.supersedes, t.at`

	// Those beyond a position, which is one of an epoch.
	selectTail = `
		SELECT ` + thoughtColumns + `
		FROM tool_sessions s JOIN thoughts t ON t.session = s.key
		WHERE s.owner = $1 AND s.id = $2 AND t.seq > CASE WHEN s.epoch = $3 THEN $4::bigint ELSE 0 END
		ORDER BY t.seq`
)

// Load implements [sequent.Store].
//
// It asks for the header and for the thoughts in one round trip. They may be of
// different moments: a log only grows, so more thoughts are cut off, and the key
// of a deleted session is never used again, so others are noticed.
func (s *Store) Load(ctx context.Context, k sequent.Key, have sequent.Position) (h sequent.Header, log []sequent.Thought, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		for range 20 {
			h, log, err = load(ctx, s.pool, k, have, false)
			if !errors.Is(err, errMoved) {
				return err
			}
		}
		return corrupt("thoughts of the session are missing from the store", nil)
	})
	if err != nil {
		return sequent.Header{}, nil, err
	}
	return h, log, nil
}

// errMoved says that a session was deleted between two looks.
var errMoved = errors.New("the session was deleted meanwhile")

type sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// load returns the session and the thoughts beyond have. With lock, nobody else
// can change it before the end of the transaction.
func load(ctx context.Context, db sender, k sequent.Key, have sequent.Position, lock bool) (h sequent.Header, log []sequent.Thought, err error) {
	owner, id := pack(k.Owner), pack(string(k.ID))
	header := selectHeader
	if lock {
		header += " FOR UPDATE"
	}
	b := new(pgx.Batch)
	b.Queue(header, owner, id)
	b.Queue(selectTail, owner, id, have.Epoch, max(have.Len, 0))
	results := db.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	key, h, err := scanHeader(results.QueryRow())
	if isNoRows(err) {
		return sequent.Header{}, nil, record.NotFound(k.ID)
	}
	if err != nil {
		return sequent.Header{}, nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return sequent.Header{}, nil, err
	}
	defer rows.Close()
	first := 0
	if have.Epoch == h.Epoch {
		first = max(have.Len, 0)
	}
	for rows.Next() {
		if len(log) == 0 && h.Len > first {
			log = make([]sequent.Thought, 0, h.Len-first)
		}
		session, t, err := scanThought(rows)
		if err != nil {
			return sequent.Header{}, nil, err
		}
		if session != key {
			return sequent.Header{}, nil, errMoved
		}
		if t.Seq <= h.Len {
			log = append(log, t)
		}
	}
	if err := rows.Err(); err != nil {
		return sequent.Header{}, nil, err
	}
	if len(log) != max(h.Len-first, 0) {
		return sequent.Header{}, nil, errMoved
	}
	return h, log, nil
}

// scanHeader reads the headerColumns of one row.
func scanHeader(row pgx.Row) (key int64, h sequent.Header, err error) {
	var id, state, labels string
	var created, updated int64
	var expires *int64
	if err := row.Scan(&key, &h.Owner, &id, &h.Epoch, &h.Version, &h.Len, &state, &h.Title, &h.Scope,
		&h.Dialect, &h.Conclusion, &labels, &created, &updated, &expires); err != nil {
		return 0, sequent.Header{}, err
	}
	if err := unpackAll(&h.Owner, &id, &state, &h.Title, &h.Scope, &h.Dialect, &h.Conclusion, &labels); err != nil {
		return 0, sequent.Header{}, err
	}
	h.ID, h.State = sequent.ID(id), sequent.State(state)
	h.Created, h.Updated = record.Time(created), record.Time(updated)
	if expires != nil {
		h.Expires = record.Time(*expires)
	}
	h.Labels, err = unpackLabels(labels)
	return key, h, err
}

// scanThought reads the thoughtColumns of one row.
func scanThought(row pgx.Row, more ...any) (session int64, t sequent.Thought, err error) {
	var from, revises *int64
	var labels string
	var at int64
	if err := row.Scan(append([]any{
		&session, &t.Seq, &t.Number, &t.Total, &t.Text, &t.Note, &t.Branch, &from, &revises,
		&t.Revision, &t.More, &t.Extend, &t.Request.Key, &t.Request.Digest, &labels, &t.After, &t.Supersedes, &at,
	}, more...)...); err != nil {
		return 0, sequent.Thought{}, err
	}
	if err := unpackAll(&t.Text, &t.Note, &t.Branch, &t.Request.Key, &t.Request.Digest, &labels); err != nil {
		return 0, sequent.Thought{}, err
	}
	t.From, t.Revises, t.At = unpackRef(from), unpackRef(revises), record.Time(at)
	t.Labels, err = unpackLabels(labels)
	return session, t, err
}

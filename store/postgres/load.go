package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const (
	headerColumns = `key, owner, id, epoch, version, len, branches, state, title, scope, dialect,
		conclusion, labels, created, updated, expires`

	selectHeader = `SELECT ` + headerColumns + ` FROM tool_sessions WHERE owner = $1 AND id = $2`

	thoughtColumns = `t.session, t.seq, t.number, t.total, t.text, t.note, t.branch, t.branch_from, t.revises,
		t.revision, t.more, t.extend, t.request_key, t.request_digest, t.labels, t.after, t.supersedes, t.at`

	// selectTail selects the thoughts after a position, or all if the session has
	// another epoch.
	selectTail = `
		SELECT ` + thoughtColumns + `
		FROM tool_sessions s JOIN thoughts t ON t.session = s.key
		WHERE s.owner = $1 AND s.id = $2 AND t.seq > CASE WHEN s.epoch = $3 THEN $4::bigint ELSE 0 END
		ORDER BY t.seq`
)

// Load implements [sequent.Store].
//
// It reads the header and the thoughts in one round trip, but not in one snapshot.
// A log only grows, so thoughts beyond the header's Len are dropped. The key of a
// deleted session is never reused, so thoughts of a session that was begun again
// are noticed, and Load reads again.
func (s *Store) Load(ctx context.Context, k sequent.Key, have sequent.Position) (h sequent.Header, log []sequent.Thought, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		const maxAttempts = 20
		for range maxAttempts {
			h, log, err = load(ctx, s.pool, k, have, false)
			if !errors.Is(err, errDeleted) {
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

// errDeleted means that a session was deleted between reading its header and its
// thoughts.
var errDeleted = errors.New("the session was deleted meanwhile")

type sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// load returns the session and its thoughts after have. With lock, it locks the
// session until the end of the transaction.
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
			return sequent.Header{}, nil, errDeleted
		}
		if t.Seq <= h.Len {
			log = append(log, t)
		}
	}
	if err := rows.Err(); err != nil {
		return sequent.Header{}, nil, err
	}
	if len(log) != max(h.Len-first, 0) {
		return sequent.Header{}, nil, errDeleted
	}
	return h, log, nil
}

// scanHeader scans the headerColumns of a row.
func scanHeader(row pgx.Row) (key int64, h sequent.Header, err error) {
	var id, state, labels string
	var created, updated int64
	var expires *int64
	if err := row.Scan(&key, &h.Owner, &id, &h.Epoch, &h.Version, &h.Len, &h.Branches, &state, &h.Title, &h.Scope,
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

// scanThought scans the thoughtColumns of a row, and after them the columns for
// more.
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

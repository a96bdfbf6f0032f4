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
		conclusion, labels, created, updated, expires, entries, head, bytes, context`

	selectHeader = `SELECT ` + headerColumns + ` FROM tool_sessions WHERE owner = $1 AND id = $2`

	thoughtColumns = `t.session, t.seq, t.number, t.total, t.text, t.note, t.branch, t.branch_from, t.revises,
		t.revision, t.more, t.extend, t.request_key, t.request_digest, t.labels, t.after, t.supersedes, t.at,
		t.place, t.salt, t.hash, t.masked`

	// selectTail selects the thoughts after a position, or all if the session has
	// another epoch.
	selectTail = `
		SELECT ` + thoughtColumns + `
		FROM tool_sessions s JOIN thoughts t ON t.session = s.key
		WHERE s.owner = $1 AND s.id = $2 AND t.seq > CASE WHEN s.epoch = $3 THEN $4::bigint ELSE 0 END
		ORDER BY t.seq`

	// selectEntries does the same for entries that are not thoughts.
	selectEntries = `
		SELECT e.session, e.place, e.kind, e.at, e.salt, e.hash, e.body, e.masked
		FROM tool_sessions s JOIN entries e ON e.session = s.key
		WHERE s.owner = $1 AND s.id = $2 AND e.place > CASE WHEN s.epoch = $3 THEN $4::bigint ELSE 0 END
		ORDER BY e.place`
)

// Load implements [sequent.Store].
//
// It reads the header and the entries in one round trip, but not in one snapshot. A
// log only grows, so entries beyond what the header says are dropped. The key of a
// deleted session is never reused, so thoughts of a session that was begun again
// are noticed, and Load reads again.
func (s *Store) Load(ctx context.Context, k sequent.Key, have sequent.Position) (h sequent.Header, log []sequent.Entry, err error) {
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
	if err != nil && sequent.CodeOf(err) != sequent.CodeCorrupt {
		return sequent.Header{}, nil, err
	}
	return h, log, err
}

// errDeleted means that a session was deleted between reading its header and its
// thoughts, or that thoughts are missing.
var errDeleted = errors.New("the session was deleted meanwhile")

type sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// load returns the session and its entries beyond have, or all if they do not continue
// have. With lock, it locks the session until the end of the transaction. With
// errDeleted, it returns the entries that it found.
func load(ctx context.Context, db sender, k sequent.Key, have sequent.Position, lock bool) (h sequent.Header, log []sequent.Entry, err error) {
	h, log, err = loadBeyond(ctx, db, k, have, lock)
	if err == nil && have != (sequent.Position{}) && !h.Continues(have, log) {
		h, log, err = loadBeyond(ctx, db, k, sequent.Position{}, lock)
	}
	return h, log, err
}

func loadBeyond(ctx context.Context, db sender, k sequent.Key, have sequent.Position, lock bool) (h sequent.Header, log []sequent.Entry, err error) {
	owner, id := pack(k.Owner), pack(string(k.ID))
	header := selectHeader
	if lock {
		header += " FOR UPDATE"
	}
	b := new(pgx.Batch)
	b.Queue(header, owner, id)
	b.Queue(selectTail, owner, id, have.Epoch, max(have.Len, 0))
	b.Queue(selectEntries, owner, id, have.Epoch, have.Entries)
	results := db.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	key, h, err := scanHeader(results.QueryRow())
	if isNoRows(err) {
		return sequent.Header{}, nil, record.NotFound(k.ID)
	}
	if err != nil {
		return sequent.Header{}, nil, err
	}
	first := 0
	if have.Epoch == h.Epoch {
		first = max(have.Len, 0)
	}
	thoughts, err := collect(results, key, max(h.Len-first, 0), func(rows pgx.Rows) (int64, sequent.Entry, bool, error) {
		session, e, err := scanThought(rows)
		return session, e, e.Thought.Seq <= h.Len, err
	})
	if err != nil {
		return sequent.Header{}, nil, err
	}
	others, err := collect(results, key, 0, func(rows pgx.Rows) (int64, sequent.Entry, bool, error) {
		session, e, err := scanEntry(rows)
		return session, e, e.Place <= h.Entries, err
	})
	if err != nil {
		return sequent.Header{}, nil, err
	}
	if len(thoughts) != max(h.Len-first, 0) {
		err = errDeleted
	}
	return h, record.Merge(thoughts, others), err
}

// collect scans the rows of the next result, of which about n are expected, and returns
// the entries that scan reports to belong to the session's state.
func collect(results pgx.BatchResults, key int64, n int, scan func(pgx.Rows) (session int64, e sequent.Entry, ok bool, err error)) (log []sequent.Entry, err error) {
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		session, e, ok, err := scan(rows)
		if err != nil {
			return nil, err
		}
		if session != key {
			return nil, errDeleted
		}
		if ok {
			if log == nil {
				log = make([]sequent.Entry, 0, n)
			}
			log = append(log, e)
		}
	}
	return log, rows.Err()
}

// scanHeader scans the headerColumns of a row.
func scanHeader(row pgx.Row) (key int64, h sequent.Header, err error) {
	var id, state, labels, from string
	var created, updated int64
	var expires *int64
	var head []byte
	if err := row.Scan(&key, &h.Owner, &id, &h.Epoch, &h.Version, &h.Len, &h.Branches, &state, &h.Title, &h.Scope,
		&h.Dialect, &h.Conclusion, &labels, &created, &updated, &expires, &h.Entries, &head, &h.Bytes, &from); err != nil {
		return 0, sequent.Header{}, err
	}
	if err := unpackAll(&h.Owner, &id, &state, &h.Title, &h.Scope, &h.Dialect, &h.Conclusion, &labels, &from); err != nil {
		return 0, sequent.Header{}, err
	}
	h.ID, h.State = sequent.ID(id), sequent.State(state)
	h.Created, h.Updated = record.Time(created), record.Time(updated)
	if expires != nil {
		h.Expires = record.Time(*expires)
	}
	if err := record.ParseHash(&h.Head, head); err != nil {
		return 0, sequent.Header{}, corrupt("the hash of a session in the store is damaged", err)
	}
	if h.Context, err = record.ParseContext(from); err != nil {
		return 0, sequent.Header{}, corrupt("the context of a session in the store is damaged", err)
	}
	h.Labels, err = unpackLabels(labels)
	return key, h, err
}

// scanEntry scans a row of selectEntries.
func scanEntry(row pgx.Row) (session int64, e sequent.Entry, err error) {
	var kind, body, masked string
	var salt, hash []byte
	var at int64
	if err := row.Scan(&session, &e.Place, &kind, &at, &salt, &hash, &body, &masked); err != nil {
		return 0, sequent.Entry{}, err
	}
	e.Kind, e.At = sequent.Kind(kind), record.Time(at)
	e.Body, err = record.ParseBody(body)
	if err := errors.Join(err, record.ParseProof(&e, salt, hash, masked)); err != nil {
		return 0, sequent.Entry{}, corrupt("an entry of the log in the store is damaged", err)
	}
	return session, e, nil
}

// scanThought scans the thoughtColumns of a row, and after them the columns for
// more.
func scanThought(row pgx.Row, more ...any) (session int64, e sequent.Entry, err error) {
	t := &e.Thought
	var from, revises *int64
	var labels, masked string
	var salt, hash []byte
	var at int64
	if err := row.Scan(append([]any{
		&session, &t.Seq, &t.Number, &t.Total, &t.Text, &t.Note, &t.Branch, &from, &revises,
		&t.Revision, &t.More, &t.Extend, &t.Request.Key, &t.Request.Digest, &labels, &t.After, &t.Supersedes, &at,
		&e.Place, &salt, &hash, &masked,
	}, more...)...); err != nil {
		return 0, sequent.Entry{}, err
	}
	if err := unpackAll(&t.Text, &t.Note, &t.Branch, &t.Request.Key, &t.Request.Digest, &labels); err != nil {
		return 0, sequent.Entry{}, err
	}
	if err := record.ParseProof(&e, salt, hash, masked); err != nil {
		return 0, sequent.Entry{}, corrupt("the proof of a thought in the store is damaged", err)
	}
	t.From, t.Revises, t.At = unpackRef(from), unpackRef(revises), record.Time(at)
	e.Kind, e.At = sequent.KindThought, t.At
	t.Labels, err = unpackLabels(labels)
	return session, e, err
}

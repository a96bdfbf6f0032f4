package postgres

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const (
	// fromSessions are the rows of sessions with the last thoughts of those that have
	// moved since; see migrations/0008_moves.sql. The other constants are what is theirs.
	fromSessions = `schema.tool_sessions s LEFT JOIN LATERAL (
			SELECT t.version, t.seq AS len, t.at AS updated, t.place AS entries, t.hash AS head, t.bytes
			FROM schema.thoughts t WHERE t.session = s.key ORDER BY t.seq DESC LIMIT 1
		) m ON m.version > s.version`
	nowVersion = `coalesce(m.version, s.version)`
	nowLen     = `coalesce(m.len, s.len)`
	nowUpdated = `coalesce(m.updated, s.updated)`
	nowEntries = `coalesce(m.entries, s.entries)`
	nowHead    = `coalesce(m.head, s.head)`
	nowBytes   = `coalesce(m.bytes, s.bytes)`

	headerColumns = `s.key, s.owner, s.id, s.epoch, ` + nowVersion + `, ` + nowLen + `, s.branches, s.state, s.title, s.scope, s.dialect,
		s.conclusion, s.labels, s.created, ` + nowUpdated + `, s.expires, ` + nowEntries + `, ` + nowHead + `, ` + nowBytes + `, s.context`

	selectHeader = `SELECT ` + headerColumns + ` FROM ` + fromSessions + ` WHERE s.owner = $1 AND s.id = $2`

	// thoughtColumns are the columns of a thoughtRow. Each column costs as much as a
	// tenth of the row, so those that most thoughts lack are one; see [record.Plain].
	thoughtColumns = `t.session, t.seq, t.number, t.total, t.text, t.more, t.after, t.at, t.place, t.salt, t.hash,
		CASE WHEN t.note <> '' OR t.branch <> '' OR t.branch_from IS NOT NULL OR t.revises IS NOT NULL OR t.revision
			OR t.supersedes <> 0 OR t.extend OR t.request_key <> '' OR t.request_digest <> '' OR t.labels <> '' OR t.masked <> ''
		THEN ARRAY[t.note, t.branch, t.request_key, t.request_digest, t.labels, t.masked, t.branch_from::text,
			t.revises::text, t.supersedes::text, t.revision::text, t.extend::text] END`

	// selectTail selects the thoughts after a position, or all if the session has
	// another epoch; of either at most a number.
	selectTail = `
		SELECT ` + thoughtColumns + `
		FROM schema.tool_sessions s JOIN schema.thoughts t ON t.session = s.key
		WHERE s.owner = $1 AND s.id = $2 AND t.seq > CASE WHEN s.epoch = $3 THEN $4::bigint ELSE 0 END
			AND t.seq <= CASE WHEN s.epoch = $3 THEN $4::bigint ELSE 0 END + $5::bigint
		ORDER BY t.seq`

	// selectEntries selects the entries that are not thoughts, up to the last of the
	// thoughts that selectTail returns.
	selectEntries = `
		SELECT e.session, e.place, e.kind, e.at, e.salt, e.hash, e.body, e.masked
		FROM schema.tool_sessions s JOIN schema.entries e ON e.session = s.key
		WHERE s.owner = $1 AND s.id = $2 AND e.place > CASE WHEN s.epoch = $3 THEN $4::bigint ELSE 0 END
			AND e.place <= coalesce((SELECT t.place FROM schema.thoughts t WHERE t.session = s.key
				AND t.seq = CASE WHEN s.epoch = $3 THEN $5::bigint ELSE 0 END + $6::bigint), e.place)
		ORDER BY e.place`
)

// Load implements [sequent.Store].
//
// It reads the header and the entries in one round trip, but not in one snapshot. A
// log only grows, so entries beyond what the header says are dropped. The key of a
// deleted session is never reused, so thoughts of a session that was begun again
// are noticed, and Load reads again.
func (s *Store) Load(ctx context.Context, k sequent.Key, have sequent.Position, limit int) (h sequent.Header, log []sequent.Entry, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		const maxAttempts = 20
		for range maxAttempts {
			h, log, err = s.part(k.Owner).load(ctx, s.pool, k, have, limit, false)
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
// have; of either the first ones, with at most limit thoughts, if limit is positive. With
// lock, it locks the session until the end of the transaction. With errDeleted, it
// returns all entries that it found.
func (p *part) load(ctx context.Context, db sender, k sequent.Key, have sequent.Position, limit int, lock bool) (h sequent.Header, log []sequent.Entry, err error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	h, log, err = p.loadBeyond(ctx, db, k, have, limit, lock)
	if err == nil && have != (sequent.Position{}) && !h.Continues(have, log) {
		h, log, err = p.loadBeyond(ctx, db, k, sequent.Position{}, limit, lock)
	}
	if errors.Is(err, errDeleted) && limit < math.MaxInt32 {
		return p.loadBeyond(ctx, db, k, sequent.Position{}, math.MaxInt32, lock)
	}
	return h, log, err
}

func (p *part) loadBeyond(ctx context.Context, db sender, k sequent.Key, have sequent.Position, limit int, lock bool) (h sequent.Header, log []sequent.Entry, err error) {
	owner, id := pack(k.Owner), pack(string(k.ID))
	b := new(pgx.Batch)
	if lock {
		b.Queue(p.sql(lockSession), owner, id, 0)
	}
	b.Queue(p.sql(selectHeader), owner, id)
	b.Queue(p.sql(selectTail), owner, id, have.Epoch, max(have.Len, 0), limit)
	b.Queue(p.sql(selectEntries), owner, id, have.Epoch, have.Entries, max(have.Len, 0), limit)
	results := db.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	if lock {
		if _, err := results.Exec(); err != nil {
			return sequent.Header{}, nil, err
		}
	}
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
	want := max(min(h.Len-first, limit), 0)
	row := newThoughtRow()
	thoughts, err := collect(results, key, want, func(rows pgx.Rows) (int64, sequent.Entry, bool, error) {
		e, err := row.scan(rows)
		return row.session, e, e.Thought.Seq <= h.Len, err
	})
	if err != nil {
		return sequent.Header{}, nil, err
	}
	lastPlace := h.Entries
	if first+want < h.Len && len(thoughts) > 0 {
		lastPlace = thoughts[len(thoughts)-1].Place
	}
	others, err := collect(results, key, 0, func(rows pgx.Rows) (int64, sequent.Entry, bool, error) {
		session, e, err := scanEntry(rows)
		return session, e, e.Place <= lastPlace, err
	})
	if err != nil {
		return sequent.Header{}, nil, err
	}
	if len(thoughts) != want {
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

package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// storeWrites makes a number of writes, each of another session, if their
// sessions are at their bases, and returns the numbers of those that were. Who
// waits is told in the same transaction, once for all.
const storeWrites = `
	WITH w AS (
		SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
			$8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::text[], $15::text[],
			$16::text[], $17::text[])
		WITH ORDINALITY AS w (owner, id, epoch, base_version, base_len, version, len, updated, period, created, expires,
			scope, state, title, dialect, conclusion, labels, n)
	), moved AS (
		UPDATE tool_sessions s
		SET version = w.version, len = w.len, updated = w.updated, period = w.period, created = w.created,
			expires = w.expires, scope = w.scope, state = w.state, title = w.title, dialect = w.dialect,
			conclusion = w.conclusion, labels = w.labels
		FROM w
		WHERE s.owner = w.owner AND s.id = w.id AND s.epoch = w.epoch AND s.version = w.base_version
			AND s.len = w.base_len AND w.base_version > 0
		RETURNING s.key, w.n
	), begun AS (
		INSERT INTO tool_sessions (owner, id, epoch, version, len, updated, period, created, expires, scope, state,
			title, dialect, conclusion, labels)
		SELECT owner, id, epoch, version, len, updated, period, created, expires, scope, state,
			title, dialect, conclusion, labels
		FROM w WHERE base_version = 0 ORDER BY n
		ON CONFLICT (owner, id) DO NOTHING
		RETURNING key, owner, id
	), stored AS (
		SELECT key, n FROM moved
		UNION ALL
		SELECT b.key, w.n FROM begun b JOIN w ON w.owner = b.owner AND w.id = b.id
	), added AS (
		INSERT INTO thoughts (session, seq, number, total, after, supersedes, at, branch_from, revises, more, revision,
			extend, text, note, branch, request_key, request_digest, labels)
		SELECT stored.key, t.seq, t.number, t.total, t.after, t.supersedes, t.at, t.branch_from, t.revises, t.more,
			t.revision, t.extend, t.text, t.note, t.branch, t.request_key, t.request_digest, t.labels
		FROM unnest($18::bigint[], $19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[],
			$24::bigint[], $25::bigint[], $26::bigint[], $27::boolean[], $28::boolean[], $29::boolean[], $30::text[],
			$31::text[], $32::text[], $33::text[], $34::text[], $35::text[])
		WITH ORDINALITY AS t (n, seq, number, total, after, supersedes, at, branch_from, revises, more, revision, extend,
			text, note, branch, request_key, request_digest, labels, place)
		JOIN stored ON stored.n = t.n
		ORDER BY t.place
	)
	SELECT coalesce(array_agg(n), '{}'),
		CASE WHEN count(*) > 0 THEN pg_notify($36, $37)::text END
	FROM stored`

type queryer interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// store makes writes of different sessions, and reports of each whether its
// session was at its base.
func (s *Store) store(ctx context.Context, db queryer, round []*sequent.Write) ([]bool, error) {
	args := append(sessionArgs(round), thoughtArgs(round)...)
	var done []int64
	var told *string
	if err := db.QueryRow(ctx, storeWrites, append(args, s.channel, notice(round))...).Scan(&done, &told); err != nil {
		return nil, err
	}
	stored := make([]bool, len(round))
	for _, n := range done {
		stored[n-1] = true
	}
	return stored, nil
}

// sessionArgs returns the columns of the headers.
func sessionArgs(round []*sequent.Write) []any {
	n := len(round)
	texts := make([][]string, 8) // owner, id, scope, state, title, dialect, conclusion, labels
	for i := range texts {
		texts[i] = make([]string, n)
	}
	numbers := make([][]int64, 8) // epoch, base version, base len, version, len, updated, period, created
	for i := range numbers {
		numbers[i] = make([]int64, n)
	}
	expires := make([]*int64, n)
	for i, w := range round {
		h, base := &w.Header, w.Base
		for j, s := range [...]string{
			h.Owner, string(h.ID), h.Scope, string(h.State), h.Title, h.Dialect, h.Conclusion, packLabels(h.Labels),
		} {
			texts[j][i] = pack(s)
		}
		updated := packTime(h.Updated)
		for j, v := range [...]int64{
			h.Epoch, int64(base.Version), int64(base.Len), int64(h.Version), int64(h.Len),
			updated, period(updated), packTime(h.Created),
		} {
			numbers[j][i] = v
		}
		expires[i] = packExpiry(h.Expires)
	}
	args := []any{texts[0], texts[1]}
	for _, column := range numbers {
		args = append(args, column)
	}
	args = append(args, expires)
	for _, column := range texts[2:] {
		args = append(args, column)
	}
	return args
}

// thoughtArgs returns the columns of the thoughts, with the number of the write
// that each belongs to.
func thoughtArgs(round []*sequent.Write) []any {
	total := 0
	for _, w := range round {
		total += len(w.Thoughts)
	}
	numbers := make([][]int64, 7) // write, seq, number, total, after, supersedes, at
	for i := range numbers {
		numbers[i] = make([]int64, 0, total)
	}
	refs := make([][]*int64, 2) // branch from, revises
	for i := range refs {
		refs[i] = make([]*int64, 0, total)
	}
	flags := make([][]bool, 3) // more, revision, extend
	for i := range flags {
		flags[i] = make([]bool, 0, total)
	}
	texts := make([][]string, 6) // text, note, branch, request key, request digest, labels
	for i := range texts {
		texts[i] = make([]string, 0, total)
	}
	for i, w := range round {
		for j := range w.Thoughts {
			t := &w.Thoughts[j]
			for c, v := range [...]int64{
				int64(i + 1), int64(t.Seq), int64(t.Number), int64(t.Total), int64(t.After), int64(t.Supersedes), packTime(t.At),
			} {
				numbers[c] = append(numbers[c], v)
			}
			for c, v := range [...]*int64{packRef(t.From), packRef(t.Revises)} {
				refs[c] = append(refs[c], v)
			}
			for c, v := range [...]bool{t.More, t.Revision, t.Extend} {
				flags[c] = append(flags[c], v)
			}
			for c, v := range [...]string{t.Text, t.Note, t.Branch, t.Request.Key, t.Request.Digest, packLabels(t.Labels)} {
				texts[c] = append(texts[c], pack(v))
			}
		}
	}
	var args []any
	for _, column := range numbers {
		args = append(args, column)
	}
	for _, column := range refs {
		args = append(args, column)
	}
	for _, column := range flags {
		args = append(args, column)
	}
	for _, column := range texts {
		args = append(args, column)
	}
	return args
}

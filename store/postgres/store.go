package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Columns of thoughts and their types. Most thoughts have only the plain ones, see
// [record.Plain].
var (
	plainColumns    = []string{"seq", "number", "total", "after", "at", "more", "text"}
	plainTypes      = []string{"bigint", "bigint", "bigint", "bigint", "bigint", "boolean", "text"}
	optionalColumns = []string{"supersedes", "branch_from", "revises", "revision", "extend", "note", "branch",
		"request_key", "request_digest", "labels"}
	optionalTypes = []string{"bigint", "bigint", "bigint", "boolean", "boolean", "text", "text", "text", "text", "text"}

	storePlain = storeStatement(plainColumns, plainTypes)
	storeAll   = storeStatement(slices.Concat(plainColumns, optionalColumns), slices.Concat(plainTypes, optionalTypes))
)

// storeStatement returns the statement that stores the writes of a round whose
// sessions are at their bases, sends one notification, and returns the numbers of
// the stored writes and the keys of their sessions.
func storeStatement(columns, types []string) string {
	const first = 22 // parameter of the first column
	arrays := []string{"$21::bigint[]"}
	for i, t := range types {
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", first+i, t))
	}
	names := strings.Join(columns, ", ")
	return fmt.Sprintf(storeText, names, "t."+strings.Join(columns, ", t."), strings.Join(arrays, ", "), names)
}

const storeText = `
	WITH w AS (
		SELECT * FROM unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
			$10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[], $16::text[], $17::text[],
			$18::text[], $19::text[], $20::text[])
		WITH ORDINALITY AS w (owner, id, epoch, base_version, base_len, version, len, updated, period, created, branches,
			expires, scope, state, title, dialect, conclusion, labels, n)
	), moved AS (
		UPDATE tool_sessions s
		SET version = w.version, len = w.len, updated = w.updated, period = w.period, created = w.created,
			branches = w.branches, expires = w.expires, scope = w.scope, state = w.state, title = w.title, dialect = w.dialect,
			conclusion = w.conclusion, labels = w.labels
		FROM w
		WHERE s.owner = w.owner AND s.id = w.id AND s.epoch = w.epoch AND s.version = w.base_version
			AND s.len = w.base_len AND w.base_version > 0
		RETURNING s.key, w.n
	), begun AS (
		INSERT INTO tool_sessions (owner, id, epoch, version, len, updated, period, created, branches, expires, scope, state,
			title, dialect, conclusion, labels)
		SELECT owner, id, epoch, version, len, updated, period, created, branches, expires, scope, state,
			title, dialect, conclusion, labels
		FROM w WHERE base_version = 0 ORDER BY n
		ON CONFLICT (owner, id) DO NOTHING
		RETURNING key, owner, id
	), stored AS (
		SELECT key, n FROM moved
		UNION ALL
		SELECT b.key, w.n FROM begun b JOIN w ON w.owner = b.owner AND w.id = b.id
	), added AS (
		INSERT INTO thoughts (session, %s)
		SELECT stored.key, %s
		FROM unnest(%s) WITH ORDINALITY AS t (n, %s, position)
		JOIN stored ON stored.n = t.n
		ORDER BY t.position
	)
	SELECT coalesce(array_agg(n), '{}'), coalesce(array_agg(key), '{}'),
		CASE WHEN count(*) > 0 THEN pg_notify($1, $2)::text END
	FROM stored`

type queryer interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// store stores the writes of a round whose sessions are at their bases. It returns
// the keys of these sessions, and 0 for the writes that were not stored.
func (s *Store) store(ctx context.Context, db queryer, round []*sequent.Write) ([]int64, error) {
	args := []any{s.channel, payload(round)}
	text := storePlain
	plain := allPlain(round)
	if keys, ok := s.cache.moves(round); ok && plain {
		text = storeMoves
		args = append(args, moveArgs(round, keys)...)
	} else {
		args = append(args, sessionArgs(round)...)
	}
	args = append(args, plainArgs(round)...)
	if !plain {
		text = storeAll
		args = append(args, optionalArgs(round)...)
	}
	var stored, storedKeys []int64
	var notified *string
	if err := db.QueryRow(ctx, text, args...).Scan(&stored, &storedKeys, &notified); err != nil {
		return nil, err
	}
	keys := make([]int64, len(round))
	for i, n := range stored {
		keys[n-1] = storedKeys[i]
	}
	return keys, nil
}

// sessionArgs returns the columns of the sessions.
func sessionArgs(round []*sequent.Write) []any {
	n := len(round)
	texts := make([][]string, 8) // owner, id, scope, state, title, dialect, conclusion, labels
	for i := range texts {
		texts[i] = make([]string, n)
	}
	numbers := make([][]int64, 9) // epoch, base version, base len, version, len, updated, period, created, branches
	for i := range numbers {
		numbers[i] = make([]int64, n)
	}
	expires := make([]*int64, n)
	for i, w := range round {
		h, base := &w.Header, w.Base
		for j, s := range [...]string{
			h.Owner, string(h.ID), h.Scope, string(h.State), h.Title, h.Dialect, h.Conclusion, record.Labels(h.Labels),
		} {
			texts[j][i] = pack(s)
		}
		updated := record.Micros(h.Updated)
		for j, v := range [...]int64{
			h.Epoch, int64(base.Version), int64(base.Len), int64(h.Version), int64(h.Len),
			updated, record.Period(updated), record.Micros(h.Created), int64(h.Branches),
		} {
			numbers[j][i] = v
		}
		expires[i] = packExpiry(h.Expires)
	}
	args := append(columns(texts[:2]), columns(numbers)...)
	return append(append(args, expires), columns(texts[2:])...)
}

// allPlain reports whether no thought needs optionalColumns.
func allPlain(round []*sequent.Write) bool {
	for _, w := range round {
		for i := range w.Thoughts {
			if !record.Plain(&w.Thoughts[i]) {
				return false
			}
		}
	}
	return true
}

// count returns the number of thoughts in the writes.
func count(round []*sequent.Write) (n int) {
	for _, w := range round {
		n += len(w.Thoughts)
	}
	return n
}

// plainArgs returns the number of each thought's write and the plainColumns.
func plainArgs(round []*sequent.Write) []any {
	n := count(round)
	numbers := make([][]int64, 6) // write, seq, number, total, after, at
	for i := range numbers {
		numbers[i] = make([]int64, 0, n)
	}
	more, texts := make([]bool, 0, n), make([]string, 0, n)
	for i, w := range round {
		for j := range w.Thoughts {
			t := &w.Thoughts[j]
			for c, v := range [...]int64{
				int64(i + 1), int64(t.Seq), int64(t.Number), int64(t.Total), int64(t.After), record.Micros(t.At),
			} {
				numbers[c] = append(numbers[c], v)
			}
			more, texts = append(more, t.More), append(texts, pack(t.Text))
		}
	}
	return append(columns(numbers), more, texts)
}

// optionalArgs returns the optionalColumns.
func optionalArgs(round []*sequent.Write) []any {
	n := count(round)
	supersedes := make([]int64, 0, n)
	refs := [][]*int64{make([]*int64, 0, n), make([]*int64, 0, n)} // branch from, revises
	flags := [][]bool{make([]bool, 0, n), make([]bool, 0, n)}      // revision, extend
	texts := make([][]string, 5)                                   // note, branch, request key, request digest, labels
	for i := range texts {
		texts[i] = make([]string, 0, n)
	}
	for _, w := range round {
		for j := range w.Thoughts {
			t := &w.Thoughts[j]
			supersedes = append(supersedes, int64(t.Supersedes))
			refs[0], refs[1] = append(refs[0], packRef(t.From)), append(refs[1], packRef(t.Revises))
			flags[0], flags[1] = append(flags[0], t.Revision), append(flags[1], t.Extend)
			for c, v := range [...]string{t.Note, t.Branch, t.Request.Key, t.Request.Digest, record.Labels(t.Labels)} {
				texts[c] = append(texts[c], pack(v))
			}
		}
	}
	args := append([]any{supersedes}, columns(refs)...)
	return append(append(args, columns(flags)...), columns(texts)...)
}

// columns converts slices to arguments.
func columns[T any](all [][]T) (args []any) {
	for _, column := range all {
		args = append(args, column)
	}
	return args
}

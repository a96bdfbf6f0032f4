package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Columns of thoughts and their types. Most thoughts have only the plain ones, see
// [record.Plain].
var (
	plainColumns = []string{"seq", "number", "total", "after", "at", "place", "more", "text", "salt", "hash", "version", "bytes"}
	plainTypes   = []string{"bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "boolean", "text", "bytea", "bytea",
		"bigint", "bigint"}
	optionalColumns = []string{"supersedes", "branch_from", "revises", "revision", "extend", "note", "branch",
		"request_key", "request_digest", "labels", "masked"}
	optionalTypes = []string{"bigint", "bigint", "bigint", "boolean", "boolean", "text", "text", "text", "text", "text", "text"}
	allColumns    = slices.Concat(plainColumns, optionalColumns)
	allTypes      = slices.Concat(plainTypes, optionalTypes)

	// Columns of other entries.
	entryColumns = []string{"place", "kind", "at", "salt", "hash", "body", "masked"}
	entryTypes   = []string{"bigint", "text", "bigint", "bytea", "bytea", "text", "text"}

	storePlain = storeText + addThoughts(firstAdded, plainColumns, plainTypes) + storeResult
	storeAll   = storeText + addThoughts(firstAdded, allColumns, allTypes) +
		addStatement("entries (session", "stored.key", firstAdded+1+len(allColumns), entryColumns, entryTypes) + storeResult

	movePlain = moveText + addThoughts(firstMoved, plainColumns, plainTypes) + storeResult
	moveAll   = moveText + addThoughts(firstMoved, allColumns, allTypes) + storeResult
)

// addThoughts returns the part of a statement that adds thoughts to the sessions of stored
// writes.
func addThoughts(parameter int, columns, types []string) string {
	return addStatement("thoughts (tx, session", currentTx+", stored.key", parameter, columns, types)
}

// addStatement returns the part of a statement that adds rows to the sessions of stored
// writes, to the beginning of an INSERT, with its values. The parameters are the number
// of each row's write and further columns.
func addStatement(into, values string, parameter int, columns, types []string) string {
	arrays := []string{fmt.Sprintf("$%d::bigint[]", parameter)}
	for i, t := range types {
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", parameter+1+i, t))
	}
	names := strings.Join(columns, ", ")
	table, _, _ := strings.Cut(into, " ")
	return fmt.Sprintf(`, add_%[1]s AS (
		INSERT INTO %[2]s, %[3]s)
		SELECT %[4]s, t.%[5]s
		FROM unnest(%[6]s) WITH ORDINALITY AS t (n, %[3]s, position)
		JOIN stored ON stored.n = t.n
		ORDER BY t.position
	)`, table, into, names, values, strings.Join(columns, ", t."), strings.Join(arrays, ", "))
}

// mayWrite is true unless the store was migrated to a format that this program must not
// write. If a statement stores nothing, checkWriter finds out whether that is why.
const mayWrite = `(SELECT oldest_writer FROM sequent_schema) <= 8`

// lockRound locks the sessions of the writes of a round, without waiting for those that
// are locked.
const lockRound = `
	SELECT FROM unnest($1::text[], $2::text[]) AS w (owner, id) JOIN tool_sessions s ON s.owner = w.owner AND s.id = w.id
	FOR NO KEY UPDATE OF s SKIP LOCKED`

// storeText stores the sessions of the writes of a round that are at their bases and that
// lockRound has locked before: a statement does not see what was committed between its
// beginning and the moment at which it has a lock. The transaction that has locked a row is
// its xmax. storeResult sends one notification, and returns the numbers of the stored
// writes and the keys and places of their sessions.
const storeText = `
	WITH w AS (
		SELECT * FROM unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
			$10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[], $16::text[], $17::text[],
			$18::text[], $19::text[], $20::text[], $21::text[], $22::bigint[], $23::bytea[], $24::bytea[], $25::bigint[])
		WITH ORDINALITY AS w (owner, id, epoch, base_version, base_len, version, len, updated, period, created, branches,
			expires, scope, state, title, dialect, conclusion, labels, context, entries, head, base_head, bytes, n)
	), free AS (
		SELECT s.ctid AS place, w.* FROM w JOIN ` + fromSessions + ` ON s.owner = w.owner AND s.id = w.id
		WHERE s.epoch = w.epoch AND ` + nowVersion + ` = w.base_version AND ` + nowLen + ` = w.base_len AND ` + nowHead + ` = w.base_head
			AND w.base_version > 0 AND s.xmax = pg_current_xact_id()::xid AND ` + mayWrite + `
	), moved AS (
		UPDATE tool_sessions s
		SET version = w.version, len = w.len, updated = w.updated, period = w.period, created = w.created,
			branches = w.branches, expires = w.expires, scope = w.scope, state = w.state, title = w.title, dialect = w.dialect,
			conclusion = w.conclusion, labels = w.labels, context = w.context, entries = w.entries, head = w.head, bytes = w.bytes
		FROM free w WHERE s.ctid = w.place
		RETURNING s.key, s.ctid AS place, w.n
	), begun AS (
		INSERT INTO tool_sessions (owner, id, epoch, version, len, updated, period, created, branches, expires, scope, state,
			title, dialect, conclusion, labels, context, entries, head, bytes)
		SELECT owner, id, epoch, version, len, updated, period, created, branches, expires, scope, state,
			title, dialect, conclusion, labels, context, entries, head, bytes
		FROM w WHERE base_version = 0 AND ` + mayWrite + ` ORDER BY n
		ON CONFLICT (owner, id) DO NOTHING
		RETURNING key, ctid AS place, owner, id
	), stored AS (
		SELECT key, place, n FROM moved
		UNION ALL
		SELECT b.key, b.place, w.n FROM begun b JOIN w ON w.owner = b.owner AND w.id = b.id
	)`

// firstAdded is the parameter after those of storeText.
const firstAdded = 26

const storeResult = `
	SELECT coalesce(array_agg(n), '{}'), coalesce(array_agg(key), '{}'), coalesce(array_agg(place::text), '{}'),
		CASE WHEN count(*) > 0 THEN pg_notify($1, $2)::text END
	FROM stored`

type queryer interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// store stores the writes of a round whose sessions are at their bases and not
// locked by others. It returns the rows of these sessions, and a zero located for each
// write that was not stored. Everything is one transaction.
func (s *Store) store(ctx context.Context, db sender, round []*sequent.Write) (rows []located, err error) {
	args := append(append(s.notification(round), sessionArgs(round)...), plainArgs(round, false)...)
	text := storePlain
	if !allPlain(round) {
		text = storeAll
		args = append(append(args, optionalArgs(round)...), entryArgs(round)...)
	}
	b := new(pgx.Batch)
	if owners, ids := existing(round); len(ids) > 0 {
		b.Queue(lockRound, owners, ids)
	}
	b.Queue(text, args...)
	results := db.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	if b.Len() > 1 {
		if _, err := results.Exec(); err != nil {
			return nil, err
		}
	}
	return scanStored(results.QueryRow(), len(round))
}

// notification returns the first arguments of a statement that stores writes.
func (s *Store) notification(round []*sequent.Write) []any {
	topics := make([]sequent.Topic, len(round))
	for i, w := range round {
		topics[i] = w.Header.Topic()
	}
	return []any{s.channel, s.payload(topics)}
}

// existing returns the owners and ids of the sessions of writes that do not begin them.
func existing(round []*sequent.Write) (owners, ids []string) {
	for _, w := range round {
		if w.Base.Version > 0 {
			owners, ids = append(owners, pack(w.Header.Owner)), append(ids, pack(string(w.Header.ID)))
		}
	}
	return owners, ids
}

// scanStored scans the row of storeResult for a round of n writes.
func scanStored(row pgx.Row, n int) ([]located, error) {
	var numbers, keys []int64
	var places []string
	var notified *string
	if err := row.Scan(&numbers, &keys, &places, &notified); err != nil {
		return nil, err
	}
	rows := make([]located, n)
	for i, n := range numbers {
		rows[n-1] = located{key: keys[i], place: places[i]}
	}
	return rows, nil
}

// sessionArgs returns the columns of the sessions.
func sessionArgs(round []*sequent.Write) []any {
	n := len(round)
	texts := make([][]string, 9) // owner, id, scope, state, title, dialect, conclusion, labels, context
	for i := range texts {
		texts[i] = make([]string, n)
	}
	numbers := make([][]int64, 11) // epoch, base version, base len, version, len, updated, period, created, branches, entries, bytes
	for i := range numbers {
		numbers[i] = make([]int64, n)
	}
	heads := [][][]byte{make([][]byte, n), make([][]byte, n)} // head, base head
	expires := make([]*int64, n)
	for i, w := range round {
		h, base := &w.Header, w.Base
		for j, s := range [...]string{
			h.Owner, string(h.ID), h.Scope, string(h.State), h.Title, h.Dialect, h.Conclusion, record.Labels(h.Labels), record.Context(&h.Context),
		} {
			texts[j][i] = pack(s)
		}
		updated := record.Micros(h.Updated)
		for j, v := range [...]int64{
			h.Epoch, int64(base.Version), int64(base.Len), int64(h.Version), int64(h.Len),
			updated, record.Period(updated), record.Micros(h.Created), int64(h.Branches), int64(h.Entries), h.Bytes,
		} {
			numbers[j][i] = v
		}
		heads[0][i], heads[1][i] = record.Hash(&w.Header.Head), record.Hash(&w.Base.Head)
		expires[i] = packExpiry(h.Expires)
	}
	const entries, bytes = 9, 10 // the columns that came later
	args := append(columns(texts[:2]), columns(numbers[:entries])...)
	args = append(append(args, expires), columns(texts[2:])...)
	return append(append(append(args, numbers[entries]), columns(heads)...), numbers[bytes])
}

// allPlain reports whether all entries are thoughts that do not need optionalColumns.
func allPlain(round []*sequent.Write) bool {
	for _, w := range round {
		for i := range w.Entries {
			if e := &w.Entries[i]; e.Kind != sequent.KindThought || !record.Plain(e) {
				return false
			}
		}
	}
	return true
}

// count returns the number of thoughts in the writes.
func count(round []*sequent.Write) (n int) {
	for _, w := range round {
		n += len(w.Entries) - record.Others(w.Entries)
	}
	return n
}

// thoughts yields the thoughts of the writes with the number of their write.
func thoughts(round []*sequent.Write) iter.Seq2[int64, *sequent.Entry] {
	return func(yield func(int64, *sequent.Entry) bool) {
		for i, w := range round {
			for j := range w.Entries {
				if e := &w.Entries[j]; e.Kind == sequent.KindThought && !yield(int64(i+1), e) {
					return
				}
			}
		}
	}
}

// plainArgs returns the number of each thought's write and the plainColumns. If the writes
// leave the rows of their sessions as they are, the last thought of each has the version
// and bytes.
func plainArgs(round []*sequent.Write, move bool) []any {
	n := count(round)
	numbers := make([][]int64, 7) // write, seq, number, total, after, at, place
	for i := range numbers {
		numbers[i] = make([]int64, 0, n)
	}
	more, texts := make([]bool, 0, n), make([]string, 0, n)
	proofs := [][][]byte{make([][]byte, 0, n), make([][]byte, 0, n)} // salt, hash
	moves := [][]int64{make([]int64, 0, n), make([]int64, 0, n)}     // version, bytes
	for write, e := range thoughts(round) {
		t := &e.Thought
		for c, v := range [...]int64{
			write, int64(t.Seq), int64(t.Number), int64(t.Total), int64(t.After), record.Micros(t.At), int64(e.Place),
		} {
			numbers[c] = append(numbers[c], v)
		}
		more, texts = append(more, t.More), append(texts, pack(t.Text))
		proofs[0], proofs[1] = append(proofs[0], record.Salt(&e.Salt)), append(proofs[1], record.Hash(&e.Hash))
		var version, bytes int64
		if h := &round[write-1].Header; move && t.Seq == h.Len {
			version, bytes = int64(h.Version), h.Bytes
		}
		moves[0], moves[1] = append(moves[0], version), append(moves[1], bytes)
	}
	return append(append(append(columns(numbers), more, texts), columns(proofs)...), columns(moves)...)
}

// optionalArgs returns the optionalColumns.
func optionalArgs(round []*sequent.Write) []any {
	n := count(round)
	supersedes := make([]int64, 0, n)
	refs := [][]*int64{make([]*int64, 0, n), make([]*int64, 0, n)} // branch from, revises
	flags := [][]bool{make([]bool, 0, n), make([]bool, 0, n)}      // revision, extend
	texts := make([][]string, 6)                                   // note, branch, request key, request digest, labels, masked
	for i := range texts {
		texts[i] = make([]string, 0, n)
	}
	for _, e := range thoughts(round) {
		t := &e.Thought
		supersedes = append(supersedes, int64(t.Supersedes))
		refs[0], refs[1] = append(refs[0], packRef(t.From)), append(refs[1], packRef(t.Revises))
		flags[0], flags[1] = append(flags[0], t.Revision), append(flags[1], t.Extend)
		for c, v := range [...]string{
			t.Note, t.Branch, t.Request.Key, t.Request.Digest, record.Labels(t.Labels), record.Masked(e.Masked),
		} {
			texts[c] = append(texts[c], pack(v))
		}
	}
	args := append([]any{supersedes}, columns(refs)...)
	return append(append(args, columns(flags)...), columns(texts)...)
}

// entryArgs returns the number of each other entry's write and the entryColumns.
func entryArgs(round []*sequent.Write) []any {
	var writes, places, times []int64
	var kinds, bodies, masked []string
	var salts, hashes [][]byte
	for i, w := range round {
		for j := range w.Entries {
			e := &w.Entries[j]
			if e.Kind == sequent.KindThought {
				continue
			}
			writes, places, times = append(writes, int64(i+1)), append(places, int64(e.Place)), append(times, record.Micros(e.At))
			kinds, bodies, masked = append(kinds, string(e.Kind)), append(bodies, record.Body(e.Body)), append(masked, record.Masked(e.Masked))
			salts, hashes = append(salts, record.Salt(&e.Salt)), append(hashes, record.Hash(&e.Hash))
		}
	}
	return []any{writes, places, kinds, times, salts, hashes, bodies, masked}
}

// columns converts slices to arguments.
func columns[T any](all [][]T) (args []any) {
	for _, column := range all {
		args = append(args, column)
	}
	return args
}

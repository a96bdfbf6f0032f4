package postgres

import (
	"context"
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

	insertPlain   = insertStatement("schema.thoughts (tx, session", currentTx+", stored.key", plainColumns, plainTypes)
	insertAll     = insertStatement("schema.thoughts (tx, session", currentTx+", stored.key", allColumns, allTypes)
	insertEntries = insertStatement("schema.entries (session", "stored.key", entryColumns, entryTypes)

	movePlain = moveStatement(plainColumns, plainTypes)
	moveAll   = moveStatement(allColumns, allTypes)
)

// moveStatement returns a statement that stores moves with thoughts of these columns.
func moveStatement(columns, types []string) string {
	return lockMoved(mayWrite) + `, add_thoughts AS (
		INSERT INTO schema.thoughts (tx, session, ` + strings.Join(columns, ", ") + `)` +
		selectRows(currentTx+", stored.key", firstMoved, columns, types) + `
	)` + movedColumns + ` FROM stored`
}

// insertStatement returns a statement that adds rows to sessions that the transaction has
// stored, to the beginning of an INSERT, with its values. The first parameters are the
// sessions: owner, id, version and head.
//
// The rows are a WITH query, because Citus 13 inserts nothing if the SELECT of an INSERT
// joins an array and a table, and does not say so.
func insertStatement(into, values string, columns, types []string) string {
	names := strings.Join(columns, ", ")
	return `
	WITH stored AS (
		SELECT s.key, w.n
		FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[]) WITH ORDINALITY AS w (owner, id, version, head, n)
		JOIN schema.tool_sessions s ON s.owner = w.owner AND s.id = w.id
		WHERE s.version = w.version AND s.head = w.head AND age(s.xmin) = 0
	), added AS MATERIALIZED (` + selectRows(values, 5, columns, types) + `
	)
	INSERT INTO ` + into + ", " + names + `) SELECT * FROM added`
}

// selectRows returns a query for the rows of stored writes, with their values. The
// parameters are the number of each row's write and further columns.
func selectRows(values string, parameter int, columns, types []string) string {
	return fmt.Sprintf(`
		SELECT %[1]s, t.%[2]s
		FROM unnest(%[3]s) WITH ORDINALITY AS t (n, %[4]s, position)
		JOIN stored ON stored.n = t.n
		ORDER BY t.position`, values, strings.Join(columns, ", t."), arrays(parameter, append([]string{"bigint"}, types...)), strings.Join(columns, ", "))
}

// arrays returns parameters that are arrays of these types, the first with a number.
func arrays(first int, types []string) string {
	all := make([]string, len(types))
	for i, t := range types {
		all[i] = fmt.Sprintf("$%d::%s[]", first+i, t)
	}
	return strings.Join(all, ", ")
}

// mayWrite is true unless the store was migrated to a format that this program must not
// write. If a statement stores nothing, checkWriter finds out whether that is why.
const mayWrite = `(SELECT oldest_writer FROM schema.sequent_schema) <= 11`

// lockRound locks the sessions of the writes of a round, without waiting for those that
// are locked, and returns whether ids of transactions are in order. It gives the transaction
// an id, which the statements after it recognise with age: a distributed database would
// replace pg_current_xact_id() in them by the id of its coordinator's transaction.
const lockRound = `
	WITH locked AS (
		SELECT FROM unnest($1::text[], $2::text[]) AS w (owner, id) JOIN schema.tool_sessions s ON s.owner = w.owner AND s.id = w.id
		WHERE ` + inOrder + `
		FOR NO KEY UPDATE OF s SKIP LOCKED
	)
	SELECT count(*), pg_current_xact_id()::text, ` + inOrder + ` FROM locked`

// writes are the rows of writes: the parameters are sessionArgs.
const writes = `unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
		$8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::text[],
		$16::text[], $17::text[], $18::text[], $19::text[], $20::bigint[], $21::bytea[], $22::bytea[], $23::bigint[])
	WITH ORDINALITY AS w (owner, id, epoch, base_version, base_len, version, len, updated, period, created, branches,
		expires, scope, state, title, dialect, conclusion, labels, context, entries, head, base_head, bytes, n)`

// updateSessions stores the sessions of writes that are at their bases and that lockRound
// has locked before: a statement does not see what was committed between its beginning and
// the moment at which it has a lock. The transaction that has locked a row is its xmax.
const updateSessions = `
	UPDATE schema.tool_sessions s
	SET version = w.version, len = w.len, updated = w.updated, period = w.period, created = w.created,
		branches = w.branches, expires = w.expires, scope = w.scope, state = w.state, title = w.title, dialect = w.dialect,
		conclusion = w.conclusion, labels = w.labels, context = w.context, entries = w.entries, head = w.head, bytes = w.bytes
	FROM (
		SELECT s.ctid AS place, w.* FROM ` + writes + ` JOIN ` + fromSessions + ` ON s.owner = w.owner AND s.id = w.id
		WHERE s.epoch = w.epoch AND ` + nowVersion + ` = w.base_version AND ` + nowLen + ` = w.base_len AND ` + nowHead + ` = w.base_head
			AND age(s.xmax) = 0 AND ` + mayWrite + `
	) w
	WHERE s.ctid = w.place
	RETURNING s.owner, s.id, s.key, s.ctid::text`

// insertSessions stores the sessions of writes that begin them.
const insertSessions = `
	INSERT INTO schema.tool_sessions (owner, id, epoch, version, len, updated, period, created, branches, expires, scope, state,
		title, dialect, conclusion, labels, context, entries, head, bytes)
	SELECT owner, id, epoch, version, len, updated, period, created, branches, expires, scope, state,
		title, dialect, conclusion, labels, context, entries, head, bytes
	FROM ` + writes + ` WHERE ` + mayWrite + ` AND ` + inOrder + ` ORDER BY n
	ON CONFLICT (owner, id) DO NOTHING
	RETURNING owner, id, key, ctid::text`

// notify sends several payloads. It is a statement of its own, because a distributed database
// runs a statement for tables where they are, and clients listen at the coordinator.
const notify = `SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload`

type queryer interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// store stores the writes of a round, all of one part, like a piece that is committed. It
// must be called in a transaction.
func (s *Store) store(ctx context.Context, db sender, round []*sequent.Write) ([]located, error) {
	p := &piece{part: s.part(round[0].Header.Owner), writes: round}
	b := new(pgx.Batch)
	p.queueStore(b)
	s.queueNotify(b, []*piece{p})
	if err := db.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	if !p.ordered {
		return nil, movedError{p.part}
	}
	return p.rows, nil
}

// queueStore adds the statements to a batch that store the writes whose sessions are at their
// bases and not locked by others. They set the rows of the piece.
func (p *piece) queueStore(b *pgx.Batch) {
	round := p.writes
	rows := make([]located, len(round))
	p.rows = rows
	indexes := make(map[[2]string]int, len(round)) // by packed owner and id
	var begun, changed []*sequent.Write
	for i, w := range round {
		indexes[[2]string{pack(w.Header.Owner), pack(string(w.Header.ID))}] = i
		if w.Base.Version == 0 {
			begun = append(begun, w)
		} else {
			changed = append(changed, w)
		}
	}
	scan := func(stored pgx.Rows) error {
		var name [2]string
		var at located
		_, err := pgx.ForEachRow(stored, []any{&name[0], &name[1], &at.key, &at.place}, func() error {
			i := indexes[name]
			at.version = round[i].Header.Version
			rows[i] = at
			return nil
		})
		return err
	}
	owners, ids := names(changed)
	b.Queue(p.part.sql(lockRound), owners, ids).QueryRow(func(row pgx.Row) error {
		return row.Scan(nil, nil, &p.ordered)
	})
	if len(changed) > 0 {
		b.Queue(p.part.sql(updateSessions), sessionArgs(changed)...).Query(scan)
	}
	if len(begun) > 0 {
		b.Queue(p.part.sql(insertSessions), sessionArgs(begun)...).Query(scan)
	}
	heads := headArgs(round)
	switch {
	case count(round) == 0:
	case allPlain(round):
		b.Queue(p.part.sql(insertPlain), slices.Concat(heads, plainArgs(round, false))...)
	default:
		b.Queue(p.part.sql(insertAll), slices.Concat(heads, plainArgs(round, false), optionalArgs(round))...)
	}
	if others(round) > 0 {
		b.Queue(p.part.sql(insertEntries), slices.Concat(heads, entryArgs(round))...)
	}
}

// queueNotify adds the statement to a batch that notifies other processes of the writes of
// pieces.
func (s *Store) queueNotify(b *pgx.Batch, pieces []*piece) {
	payloads := make([]string, len(pieces))
	for i, p := range pieces {
		payloads[i] = s.payload(p.part, topics(p.writes))
	}
	b.Queue(notify, s.channel, payloads)
}

func topics(round []*sequent.Write) []sequent.Topic {
	all := make([]sequent.Topic, len(round))
	for i, w := range round {
		all[i] = w.Header.Topic()
	}
	return all
}

// names returns the owners and ids of the sessions of writes.
func names(round []*sequent.Write) (owners, ids []string) {
	for _, w := range round {
		owners, ids = append(owners, pack(w.Header.Owner)), append(ids, pack(string(w.Header.ID)))
	}
	return owners, ids
}

// headArgs returns what insertStatement recognises the sessions of writes by.
func headArgs(round []*sequent.Write) []any {
	owners, ids := names(round)
	versions, heads := make([]int64, len(round)), make([][]byte, len(round))
	for i, w := range round {
		versions[i], heads[i] = int64(w.Header.Version), record.Hash(&w.Header.Head)
	}
	return []any{owners, ids, versions, heads}
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

// others returns the number of other entries in the writes.
func others(round []*sequent.Write) (n int) {
	for _, w := range round {
		n += record.Others(w.Entries)
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

package sqlite

import (
	"context"
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
	"github.com/sequent-dev/sequent/textsearch"
)

// Statements of commits. SQLite rewrites the entries of every index on a column that is set,
// changed or not, so that a commit that only adds to the log sets few of them.
var (
	moveSession   = updateSession(sqlstore.PositionColumns)
	changeSession = updateSession(sqlstore.PositionColumns + ", " + sqlstore.RestColumns)
	insertSession = insertInto("tool_sessions", "owner, id, "+sqlstore.PositionColumns+", "+sqlstore.RestColumns)
	insertEntry   = insertInto("tool_log", "session, "+sqlstore.EntryColumns)
)

func updateSession(columns string) string {
	return "UPDATE tool_sessions SET " + strings.ReplaceAll(columns, ",", " = ?,") + " = ? WHERE key = ? AND epoch = ? AND version = ? AND head = ?"
}

func insertInto(table, columns string) string {
	return "INSERT INTO " + table + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
}

// maxThought is below SQLite's limit of 10^9 bytes for a row.
const maxThought = 400 << 20

// Commit implements [sequent.Store]. It stores the batch in one transaction.
func (s *Store) Commit(ctx context.Context, batch []*sequent.Write) error {
	var changed []sequent.Topic
	err := s.transact(ctx, func(w *writer) error {
		for _, wr := range batch {
			stored, err := s.put(w, wr)
			if err != nil {
				return err
			}
			if stored {
				changed = append(changed, wr.Header.Topic())
				for i := range wr.Entries {
					w.waiting += 1 + (len(wr.Entries[i].Thought.Text)+len(wr.Entries[i].Thought.Note))/indexUnit
				}
			}
		}
		return w.index(ctx)
	})
	if err != nil {
		return s.wrap(err)
	}
	s.feed.Touched(changed...)
	return nil
}

// put stores one write, rebasing it at most once, and reports whether it did. If only this
// write is refused, nothing of it is stored and the reason is in wr.Err.
func (s *Store) put(w *writer, wr *sequent.Write) (bool, error) {
	ctx := context.Background()
	for rebased := false; ; {
		if wr.Err = sqlstore.CheckSize(wr, maxThought); wr.Err != nil {
			return false, nil
		}
		now, cached := w.cache[wr.Header.Key]
		if cached = cached && now.Header.Position() == wr.Base; !cached {
			var err error
			if now, err = s.db.Find(ctx, w.conn, wr.Header.Key, ""); err != nil && !errors.Is(err, sequent.ErrNotFound) {
				return false, err
			}
		}
		if now.Header.Position() == wr.Base {
			stored, err := s.store(w, now, wr)
			if stored || err != nil {
				return stored, err
			}
			delete(w.cache, wr.Header.Key) // another process has changed the session
			continue
		}
		var tail []sequent.Entry
		if now.Key != 0 {
			var err error
			if tail, err = s.db.Log(ctx, w.conn, now, wr.Base); err != nil {
				return false, err
			}
		}
		if rebased || wr.Rebase == nil {
			wr.Err = sequent.ErrConflict
			return false, nil
		}
		if rebased = true; !wr.Rebase(now.Header, tail) {
			return false, nil
		}
	}
}

// store stores a write if its session is still as it was, and reports whether it did.
func (s *Store) store(w *writer, was sqlstore.Row, wr *sequent.Write) (bool, error) {
	h := &wr.Header
	key, text, args := was.Key, changeSession, sqlstore.PositionValues(h)
	switch {
	case key == 0:
		text, args = insertSession, append([]any{h.Owner, string(h.ID)}, args...)
		args = append(args, sqlstore.RestValues(h)...)
	case sqlstore.OnlyMoved(&was.Header, h):
		text = moveSession
	default:
		args = append(args, sqlstore.RestValues(h)...)
	}
	if key != 0 {
		args = append(args, key, wr.Base.Epoch, int64(wr.Base.Version), wr.Base.Head[:])
	}
	res, err := w.exec(text, args...)
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); n == 0 || err != nil {
		return false, err
	}
	if key == 0 {
		if key, err = res.LastInsertId(); err != nil {
			return false, err
		}
	}
	if len(w.cache) >= maxCached {
		clear(w.cache)
	}
	w.cache[h.Key] = sqlstore.Row{Key: key, Header: *h}
	for i := range wr.Entries {
		if _, err := w.exec(insertEntry, append([]any{key}, sqlstore.EntryValues(&wr.Entries[i])...)...); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Thoughts are indexed in batches: indexAt thoughts, or fewer long ones, wait until the next commit
// indexes them. A search reads those that wait. Other processes index their own.
const (
	indexAt   = 64
	indexUnit = 8 << 10 // bytes of a text that count like a thought
)

// index indexes the thoughts that wait if they are many.
func (w *writer) index(ctx context.Context) error {
	if w.waiting < indexAt {
		return nil
	}
	rows, err := w.conn.QueryContext(ctx, `
		SELECT id, text, note FROM tool_log WHERE id > (SELECT indexed FROM tool_state) AND kind = 'thought' ORDER BY id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	last := int64(0)
	for rows.Next() {
		if last, err = w.scanWords(rows.Scan); err == nil {
			_, err = w.exec("INSERT INTO tool_words (rowid, words) VALUES (?, ?)", last, string(w.words))
		}
		if err != nil {
			return err
		}
	}
	w.waiting = 0
	if err := rows.Err(); err != nil || last == 0 {
		return err
	}
	_, err = w.exec("UPDATE tool_state SET indexed = ?", last)
	return err
}

// scanWords scans the id, text and note of a thought and returns the id. The words that the
// index has are in w.words.
func (w *writer) scanWords(scan func(...any) error) (id int64, err error) {
	var text, note string
	err = scan(&id, &text, &note)
	w.words = textsearch.AppendTokens(append(textsearch.AppendTokens(w.words[:0], text), ' '), note)
	return id, err
}

// sources implements [sqlstore.Database.Sources]: thoughts that wait are newer than the others.
func sources(q textsearch.Query, all bool, _ int64) []sqlstore.Source {
	return []sqlstore.Source{
		{From: "tool_log l", ID: "l.id", Where: "l.id > (SELECT indexed FROM tool_state) AND l.kind = 'thought'", Join: "CROSS JOIN"},
		{
			From: "tool_words w CROSS JOIN tool_log l ON l.id = w.rowid", ID: "w.rowid", Join: "CROSS JOIN",
			Where: "tool_words MATCH ? AND l.kind = 'thought'", Args: []any{q.FTS5(all)},
		},
	}
}

// hint implements [sqlstore.Database.Hint]: SQLite expects that an owner has few sessions, and
// would sort all of them.
func hint(q *sequent.Query) string {
	switch {
	case q.ByCreated, q.Scope != "", q.Request.Key != "":
		return ""
	case q.AllOwners:
		return " INDEXED BY tool_sessions_period"
	}
	return " INDEXED BY tool_sessions_updated"
}

// eraseWords implements [sqlstore.Database.Erase]: it removes the words of a session from the
// index.
func eraseWords(ctx context.Context, tx sqlstore.Tx, r sqlstore.Row) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT id, text, note FROM tool_log WHERE session = ? AND id <= (SELECT indexed FROM tool_state) AND kind = 'thought'`, r.Key)
	if err != nil {
		return err
	}
	defer rows.Close()
	var w writer
	for rows.Next() {
		id, err := w.scanWords(rows.Scan)
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO tool_words (tool_words, rowid, words) VALUES ('delete', ?, ?)", id, string(w.words))
		}
		if err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	// SQLite uses the ids of the newest entries again.
	_, err = tx.ExecContext(ctx, `
		UPDATE tool_state SET deleted = deleted + 1, indexed = min(indexed, (SELECT coalesce(max(id), 0) FROM tool_log WHERE session <> ?))`, r.Key)
	return err
}

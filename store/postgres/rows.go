package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
	"github.com/sequent-dev/sequent/textsearch"
)

// A tx is a [sqlstore.Tx] whose placeholders are $1, $2, ….
type tx struct{ sqlstore.Tx }

func (t tx) ExecContext(ctx context.Context, q string, args ...any) (sql.Result, error) {
	return t.Tx.ExecContext(ctx, numbered(q), packed(args)...)
}

func (t tx) QueryContext(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	return t.Tx.QueryContext(ctx, numbered(q), packed(args)...)
}

func (t tx) QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row {
	return t.Tx.QueryRowContext(ctx, numbered(q), packed(args)...)
}

func numbered(q string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(q, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		fmt.Fprintf(&b, "$%d", n)
		q = after
	}
}

// read calls do, again if the connection breaks.
func (s *Store) read(ctx context.Context, do func(sqlstore.Tx) error) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	return s.wrap(ctx, s.retry(ctx, func(ctx context.Context) error { return do(tx{s.db}) }))
}

// write calls do in a transaction, again if that fails before its end, and reports the sessions
// that it returns.
func (s *Store) write(ctx context.Context, do func(sqlstore.Tx) ([]sequent.Topic, error)) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	var topics []sequent.Topic
	tell := func(ctx context.Context, to sqlstore.Tx) error {
		_, err := to.ExecContext(ctx, notify, s.channel, s.payload(topics))
		return err
	}
	err := s.retry(ctx, func(ctx context.Context) error {
		t, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer t.Rollback() //nolint:errcheck // it has ended, or its connection is not used again
		if topics, err = do(tx{t}); err == nil && len(topics) > 0 {
			err = tell(ctx, t)
		}
		if err != nil {
			return err
		}
		if err := t.Commit(); err != nil && isLost(err) && !hadNoEffect(err) {
			return uncertain(err)
		} else if err != nil {
			return err
		}
		return nil
	})
	if s.distributed && len(topics) > 1 && err == nil {
		// Watchers may have heard of a transaction of several servers before they could see it.
		err = s.retry(ctx, func(ctx context.Context) error { return tell(ctx, s.db) })
	}
	s.feed.Touched(topics...)
	return s.wrap(ctx, err)
}

// copySession inserts the rows of a session for another owner, and so in another part.
func copySession(ctx context.Context, t sqlstore.Tx, r sqlstore.Row, to sequent.Header) error {
	part := partOf(to.Key)
	if _, err := t.ExecContext(ctx, "INSERT INTO tool_sessions (part, key, owner, id, "+join(sessionColumns, "")+") VALUES (?, ?, ?, ?"+
		strings.Repeat(", ?", len(sessionColumns))+")", append([]any{part, r.Key, to.Owner, string(to.ID)}, sessionValues(&to)...)...); err != nil {
		return err
	}
	columns := "id, session, " + join(entryColumns, "")
	_, err := t.ExecContext(ctx, "INSERT INTO tool_log (part, "+columns+") SELECT ?::bigint, "+columns+" FROM tool_log WHERE part = ? AND session = ?",
		part, partOf(r.Header.Key), r.Key)
	return err
}

// firstWindow is how many of the newest entries a search reads first. Each further window is
// four times as large: a word in most thoughts is found in the first one, and the index has
// few of a rare one in all.
const firstWindow = 8_000

// sources returns windows of the log.
func sources(q textsearch.Query, all bool, newest int64) (windows []sqlstore.Source) {
	where, args := "l.kind = 'thought'", []any(nil)
	if query, ok := q.TSQuery(all); ok {
		where, args = where+" AND (l.words @@ ?::tsquery OR l.words IS NULL)", []any{query}
	}
	for high, size := newest, int64(firstWindow); high > 0; high, size = high-size, 4*size {
		windows = append(windows, sqlstore.Source{
			From: "tool_log l", ID: "l.id", Where: where + " AND l.id > ? AND l.id <= ?",
			Args: append(args[:len(args):len(args)], max(high-size, 0), high),
		})
	}
	return windows
}

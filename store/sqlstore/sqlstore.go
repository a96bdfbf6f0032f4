// Package sqlstore has what stores in SQL databases have in common: the rows of sessions and
// their logs, reading, listing, searching, deleting and counting. A store embeds a [Store]
// of its [Database] and adds Commit, Watch and Close.
//
// The tables are tool_sessions, tool_log and tool_values; the schema of each database
// describes them. Statements have question marks as placeholders: a [Tx] of a database with
// other ones replaces them.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/textsearch"
)

// A Tx is a transaction.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Database tells databases apart.
type Database struct {
	// Read calls do, which only reads. It may call do again after a failure.
	Read func(ctx context.Context, do func(Tx) error) error

	// Write calls do in a transaction and commits it. If do returns topics, it reports these
	// sessions to watches. It may call do again after a failure.
	Write func(ctx context.Context, do func(Tx) ([]sequent.Topic, error)) error

	// Sources returns where candidates of a search are, up to the newest entry of the log that
	// counts: the newest source first.
	Sources func(q textsearch.Query, all bool, newest int64) []Source

	// Hint returns what a listing says after the name of tool_sessions, such as which index to
	// use. It is nil if there is nothing to say.
	Hint func(q *sequent.Query) string

	// Erase removes what the database has of a session besides its rows, such as an index of
	// words, in the transaction that deletes the rows. It is nil if there is nothing.
	Erase func(ctx context.Context, tx Tx, r Row) error

	// Part returns the value of the column part of a session's rows, which is part of their
	// keys. It is nil if the tables have no such column.
	Part func(k sequent.Key) int64

	// Copy inserts the rows of a session for another owner, if the tables have a column part. The
	// former rows are deleted afterwards.
	Copy func(ctx context.Context, tx Tx, r Row, to sequent.Header) error

	// Lock is what follows a SELECT that locks its row in a transaction that writes.
	Lock string

	// Decode converts texts of a database that cannot store all of them as they are, and
	// whose [Tx] converts those that it gets. It is nil otherwise.
	Decode func(string) string
}

// A Store implements what stores have in common.
type Store struct{ db *Database }

// New returns a store in a database.
func New(db *Database) Store { return Store{db} }

// A Row is a session and its key in the database.
type Row struct {
	Key    int64
	Header sequent.Header
}

// ErrClosed is the error of every call of a store after Close.
var ErrClosed = error(&sequent.Error{Code: sequent.CodeUnavailable, Msg: "the store is closed", Fix: "restart the program"})

// OtherFormat returns the error for a database that a program with another format wrote.
func OtherFormat(have, want int) error {
	return sequent.Errorf(sequent.CodeOtherFormat, "", "export its sessions with the program that wrote it (sequent export --all), then import them here",
		"the store was written by another version of sequent (format %d, this one has %d)", have, want)
}

// Incomplete returns the error for a database whose tables do not fit the statements, for a cause.
func Incomplete(cause error) *sequent.Error {
	return &sequent.Error{
		Code: sequent.CodeCorrupt, Msg: "tables of the store are missing, renamed or changed",
		Fix: "undo what changed them, or restore the store from a backup", Err: cause,
	}
}

// query returns what scan makes of the rows.
func query[T any](ctx context.Context, tx Tx, scan func(scan func(...any) error) (T, error), text string, args ...any) (list []T, err error) {
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for err == nil && rows.Next() {
		var v T
		v, err = scan(rows.Scan)
		list = append(list, v)
	}
	return list, errors.Join(err, rows.Err())
}

// Find returns a session. Lock is what follows in the statement if the row is to be locked.
func (d *Database) Find(ctx context.Context, tx Tx, k sequent.Key, lock string) (Row, error) {
	owner := "owner = ?"
	if d.Part != nil {
		owner = "owner || '' = ?" // not to be looked for in an index of owners
	}
	c := d.of(k, owner+" AND id = ?", k.Owner, string(k.ID))
	r, err := d.ScanHeader(tx.QueryRowContext(ctx, "SELECT "+HeaderColumns+" FROM tool_sessions s"+c.where()+lock, c.args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = sequent.NotFound(k.ID)
	}
	return r, err
}

// Log returns the entries that a reader at a position lacks, or all if they do not continue
// it.
func (d *Database) Log(ctx context.Context, tx Tx, r Row, have sequent.Position) ([]sequent.Entry, error) {
	h := &r.Header
	if have.Epoch != h.Epoch || have.Entries > h.Entries {
		have = sequent.Position{}
	}
	if have == h.Position() {
		return nil, nil
	}
	c := d.of(h.Key, "session = ?", r.Key)
	// Entries beyond the header's are those of a commit that the header does not show yet.
	c.and(true, "n > ?", have.Entries)
	c.and(true, "n <= ?", h.Entries)
	const most = 1 << 17 // that room is made for: a damaged header may say anything
	list := make([]sequent.Entry, 0, max(0, min(h.Entries-have.Entries, most)))
	_, err := query(ctx, tx, func(scan func(...any) error) (none struct{}, err error) {
		e, err := d.ScanEntry(scan)
		list = append(list, e)
		return none, err
	}, "SELECT "+EntryColumns+" FROM tool_log l"+c.where()+" ORDER BY n", c.args...)
	if err != nil || have.Entries == 0 || h.Continues(have, list) {
		return list, err
	}
	return d.Log(ctx, tx, r, sequent.Position{})
}

// Load implements [sequent.Store].
func (s *Store) Load(ctx context.Context, k sequent.Key, have sequent.Position) (h sequent.Header, log []sequent.Entry, err error) {
	err = s.db.Read(ctx, func(tx Tx) error {
		for was := (Row{}); ; {
			r, err := s.db.Find(ctx, tx, k, "")
			if err != nil {
				return err
			}
			h = r.Header
			log, err = s.db.Log(ctx, tx, r, have)
			whole := len(log) > 0 && log[len(log)-1].Place == h.Entries || len(log) == 0 && have == h.Position()
			// Otherwise the session may have been deleted meanwhile.
			if err != nil || whole || r.Key == was.Key && r.Header.Seal == was.Header.Seal {
				return err
			}
			was = r
		}
	})
	return h, log, err
}

// A condition is a WHERE clause and its arguments.
type condition struct {
	text string
	args []any
}

func (c *condition) and(on bool, text string, args ...any) {
	if !on {
		return
	}
	if c.text != "" {
		c.text += " AND "
	}
	c.text, c.args = c.text+"("+text+")", append(c.args, args...)
}

func (c *condition) where() string {
	if c.text == "" {
		return ""
	}
	return " WHERE " + c.text
}

// of selects rows of a session.
func (d *Database) of(k sequent.Key, text string, args ...any) (c condition) {
	if d.Part != nil {
		c.and(true, "part = ?", d.Part(k))
	}
	c.and(true, text, args...)
	return c
}

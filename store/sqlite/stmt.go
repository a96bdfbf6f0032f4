package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
)

// A statement is a prepared statement of the driver, used for appends: database/sql
// would cost as much as executing the statement does. It must not be used
// concurrently.
type statement struct {
	stmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
	args []driver.NamedValue
}

// newStatement prepares text on conn. The caller closes the statement before conn.
func newStatement(conn *sql.Conn, text string) (*statement, error) {
	s := new(statement)
	err := conn.Raw(func(c any) error {
		d, ok := c.(driver.ConnPrepareContext)
		if !ok {
			return errors.New("the driver cannot prepare statements")
		}
		stmt, err := d.PrepareContext(context.Background(), text)
		if err != nil {
			return err
		}
		s.stmt, ok = stmt.(interface {
			driver.Stmt
			driver.StmtExecContext
			driver.StmtQueryContext
		})
		if !ok {
			err = errors.Join(errors.New("the driver's statements accept no context"), stmt.Close())
		}
		return err
	})
	return s, err
}

// bind returns the arguments, each an int64, string, bool or nil, as named values.
func (s *statement) bind(args []any) []driver.NamedValue {
	s.args = s.args[:0]
	for i, v := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return s.args
}

// exec runs the statement and returns the number of rows changed.
func (s *statement) exec(args ...any) (int64, error) {
	result, err := s.stmt.ExecContext(context.Background(), s.bind(args))
	clear(s.args) // do not keep texts in memory
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// insert runs the statement, which inserts a row, and returns the row's id.
func (s *statement) insert(args ...any) (int64, error) {
	result, err := s.stmt.ExecContext(context.Background(), s.bind(args))
	clear(s.args)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// key runs a statement that returns at most one row with one integer. If there is
// no row, ok is false.
func (s *statement) key(args ...any) (key int64, ok bool, err error) {
	rows, err := s.stmt.QueryContext(context.Background(), s.bind(args))
	clear(s.args)
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var row [1]driver.Value
	switch err := rows.Next(row[:]); {
	case errors.Is(err, io.EOF):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	key, ok = row[0].(int64)
	if !ok {
		return 0, false, errors.New("the key of a row is not an integer")
	}
	if err := rows.Next(row[:]); !errors.Is(err, io.EOF) { // SQLite needs the step to the end
		return 0, false, errors.Join(err, errors.New("the statement returned two rows"))
	}
	return key, true, nil
}

func (s *statement) close() error { return s.stmt.Close() }

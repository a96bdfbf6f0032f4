package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
)

// A statement is one of the driver's own, for what every append does: the
// pool's locks, conversions and results cost as much as the statement. Its
// connection is the writer's alone.
type statement struct {
	stmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
	args []driver.NamedValue
}

// newStatement prepares text on a connection that the caller keeps.
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
			err = errors.Join(errors.New("the driver's statements take no context"), stmt.Close())
		}
		return err
	})
	return s, err
}

// bind sets the arguments: int64, string, bool or nil.
func (s *statement) bind(args []any) []driver.NamedValue {
	s.args = s.args[:0]
	for i, v := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return s.args
}

// exec runs the statement and returns how many rows it changed.
func (s *statement) exec(args ...any) (int64, error) {
	result, err := s.stmt.ExecContext(context.Background(), s.bind(args))
	clear(s.args) // texts are not kept
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// key runs a statement that returns at most one row, of one key; ok is false if
// there is none.
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
		return 0, false, errors.New("a key is not a number")
	}
	if err := rows.Next(row[:]); !errors.Is(err, io.EOF) { // to its end, which makes it take effect
		return 0, false, errors.Join(err, errors.New("there are two keys"))
	}
	return key, true, nil
}

func (s *statement) close() error { return s.stmt.Close() }

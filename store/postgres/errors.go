package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

func corrupt(msg string, err error) error {
	return &sequent.Error{Code: sequent.CodeCorrupt, Msg: msg, Fix: "restore the database from a backup", Err: err}
}

// writeError returns the error of a write that failed with err. After a connection
// error it is one that says the write may have been stored.
func writeError(err error) error {
	if err == nil || !isConnectionError(err) || hadNoEffect(err) {
		return err
	}
	return &sequent.Error{
		Code: sequent.CodeUnavailable, Uncertain: true,
		Msg: "the connection to the store was lost during a change, which may or may not have been stored",
		Fix: sequent.FixUncertain,
		Err: err,
	}
}

// wrap converts err like the function wrap, but every error of a closed store is
// record.ErrClosed.
func (s *Store) wrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-s.closed:
		return record.ErrClosed
	default:
	}
	return wrap(ctx, err)
}

// wrap converts an error of the driver to a *sequent.Error, whose message does not
// contain the server's address. ctx is the caller's: errors of its end and of our
// own timeouts look the same.
func wrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e
	}
	if ctx.Err() != nil {
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: errors.Join(ctx.Err(), err)}
	}
	out := &sequent.Error{Code: sequent.CodeInternal, Msg: "the store failed unexpectedly", Err: err}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		describe(out, e)
		return out
	}
	if isConnectionError(err) {
		describeUnreachable(out)
	}
	return out
}

// distinctLines is an error whose text repeats no line. The driver reports each
// attempt to connect, with and without TLS, on a line of its own.
type distinctLines struct{ error }

// Error returns each line once.
func (e distinctLines) Error() string {
	var lines []string
	for line := range strings.SplitSeq(e.error.Error(), "\n") {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the error.
func (e distinctLines) Unwrap() error { return e.error }

func describeUnreachable(e *sequent.Error) {
	e.Err = distinctLines{e.Err}
	e.Code = sequent.CodeUnavailable
	e.Msg = "the store's server is unreachable; nothing was changed"
	e.Fix = "try again in a moment; if it persists, check that the server is running and the address is right"
}

// describe sets the code, message and fix of e for an error of the server.
func describe(e *sequent.Error, from *pgconn.PgError) {
	class := from.Code
	if len(class) > 2 {
		class = class[:2]
	}
	switch {
	case class == "08" || class == "57" && from.Code != "57014" || from.Code == "25006" || isWorkerLost(from):
		describeUnreachable(e)
	case from.Code == "57014" || from.Code == "55P03" || class == "40": // timeout, lock, deadlock
		e.Code = sequent.CodeBusy
		e.Msg = "the store is too busy; nothing was stored"
		e.Fix = "try again; if it persists, look for locks that are held in the database"
	case from.Code == "53100":
		e.Code = sequent.CodeFull
		e.Msg = "the store's disk is full; nothing was stored"
		e.Fix = "free some space on the disk of the server and try again"
	case class == "53":
		e.Code = sequent.CodeBusy
		e.Msg = "the store's server is out of connections or memory; nothing was stored"
		e.Fix = "try again, or raise the server's limits"
	case class == "28" || class == "3D":
		e.Code = sequent.CodeUnavailable
		e.Msg = "the store's server refused the login"
		e.Fix = "check the user, the password and the database in the address"
	case from.Code == "42501":
		e.Code = sequent.CodeReadOnly
		e.Msg = "the database user may not write to the store; nothing was stored"
		e.Fix = "grant the user the privileges on the schema and its tables"
	case class == "XX" || class == "58":
		e.Code = sequent.CodeCorrupt
		e.Msg = "the store's server reports damaged data"
		e.Fix = "read the server's log"
	case class == "54" || from.Code == "22001":
		e.Code = sequent.CodeLimitExceeded
		e.Msg = "the text is too large for the store"
		e.Fix = "split it into several thoughts"
	}
}

// isTaken reports whether err means that there is a row with the same key already.
func isTaken(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "23505"
}

// isConnectionError reports whether err means that connecting failed or the
// connection broke.
func isConnectionError(err error) bool {
	if _, ok := errors.AsType[*pgconn.PgError](err); ok {
		return isShutdown(err) || isLost(err)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return pgconn.SafeToRetry(err) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}

// isShutdown reports whether the server replied that it is shutting down or
// starting up, that it does not accept the connection, or that it has ended a
// transaction that was idle. It has not executed the statement.
func isShutdown(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(e.Code, "57P") || e.Code == "25P03" || e.Code == "08001" || e.Code == "08004")
}

// isLost reports whether a pooler or coordinator replied that it has lost the connection to
// the server, which may have executed the statement.
func isLost(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(e.Code, "08") && !isShutdown(err) || isWorkerLost(e))
}

// isWorkerLost reports whether e is Citus's error for a worker that ended while it executed
// a statement: an internal error with the text of the connection's.
func isWorkerLost(e *pgconn.PgError) bool {
	return e.Code == "XX000" && (strings.Contains(e.Where, "while executing command on") ||
		strings.Contains(e.Message, "terminating connection") || strings.Contains(e.Message, "server closed the connection"))
}

// hadNoEffect reports whether err is a connection error after which the statement
// or transaction cannot have taken effect.
func hadNoEffect(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	_, rolledBack := errors.AsType[notCommitted](err)
	return rolledBack && isConnectionError(err) || isShutdown(err) || pgconn.SafeToRetry(err)
}

// isRetryable reports whether a transaction that failed may be repeated, because
// it had no effect and the error is temporary.
func isRetryable(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if ok && (e.Code == "40P01" || e.Code == "40001" || e.Code == "0A000") { // deadlock, serialization, planned while Citus moves the part
		return true
	}
	if _, moved := errors.AsType[movedError](err); moved {
		return true
	}
	return hadNoEffect(err)
}

package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

func refuse(msg, fix string) error {
	return &sequent.Error{Code: sequent.CodeUnavailable, Msg: msg, Fix: fix}
}

// uncertain returns the error of a change whose COMMIT may have been executed.
func uncertain(err error) error {
	return &sequent.Error{
		Code: sequent.CodeUnavailable, Uncertain: true,
		Msg: "the connection to the store was lost during a change, which may or may not have been stored",
		Fix: sequent.FixUncertain, Err: err,
	}
}

// wrap converts an error of the driver to a [sequent.Error], whose message does not have the
// server's address. ctx is the caller's: errors of its end and of our own time-outs look the
// same.
func (s *Store) wrap(ctx context.Context, err error) error {
	if err != nil && s.closed.Load() {
		return sqlstore.ErrClosed
	}
	return wrap(ctx, err)
}

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
	if had(err, "42P01", "42703", "42P07", "3F000") {
		return sqlstore.Incomplete(err)
	}
	out := &sequent.Error{Code: sequent.CodeInternal, Msg: "the store failed unexpectedly", Err: err}
	if isLost(err) {
		describe(out, "08")
	} else if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		describe(out, e.Code)
	}
	return out
}

// descriptions say what errors of the server mean, by the beginning of their codes; the first
// that fits counts.
var descriptions = []struct {
	prefixes string
	code     sequent.Code
	msg, fix string
}{
	{"25006", sequent.CodeReadOnly, "the store's server is a standby, or lets nobody write; nothing was stored",
		"use the address of the primary, or add target_session_attrs=read-write to an address with both servers"},
	{"57014 55P03 40", sequent.CodeBusy, "the store is too busy; nothing was stored",
		"try again; if it persists, look for locks that are held in the database"},
	{"53100", sequent.CodeFull, "the store's disk is full; nothing was stored", "free some space on the disk of the server and try again"},
	{"53", sequent.CodeBusy, "the store's server is out of connections or memory; nothing was stored", "try again, or raise the server's limits"},
	{"28 3D", sequent.CodeUnavailable, "the store's server refused the login", "check the user, the password and the database in the address"},
	{"42501", sequent.CodeReadOnly, "the database user may not read or write the store; nothing was stored",
		"grant the user the privileges on the schema and its tables"},
	{"58", sequent.CodeUnavailable, "the store's server cannot read or write its files; nothing was stored", "read the server's log, and check its disk"},
	{"XX", sequent.CodeCorrupt, "the store's server reports damaged data", "read the server's log"},
	{"54 22001", sequent.CodeLimitExceeded, "the text is too large for the store", "split it into several thoughts"},
	{"08 57", sequent.CodeUnavailable, "the store's server is unreachable; nothing was changed",
		"try again in a moment; if it persists, check that the server is running and the address is right"},
}

func describe(e *sequent.Error, code string) {
	for _, d := range descriptions {
		for prefix := range strings.FieldsSeq(d.prefixes) {
			if strings.HasPrefix(code, prefix) {
				e.Code, e.Msg, e.Fix = d.code, d.msg, d.fix
				return
			}
		}
	}
}

// isLost reports whether connecting failed, the connection broke, or the server is starting or
// stopping. What was sent may have been executed.
func isLost(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(e.Code, "57P") || strings.HasPrefix(e.Code, "08") || e.Code == "25P03" || isWorkerLost(e)
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	return connecting || network || pgconn.SafeToRetry(err) || errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}

// isWorkerLost reports whether e is Citus's error for a worker that ended while it executed a
// statement: an internal error with the text of the connection's.
func isWorkerLost(e *pgconn.PgError) bool {
	return e.Code == "XX000" && (strings.Contains(e.Where, "while executing command on") ||
		strings.Contains(e.Message, "terminating connection") || strings.Contains(e.Message, "server closed the connection") ||
		strings.Contains(e.Message, "could not commit transaction"))
}

// had reports whether err is the server's, with one of these codes.
func had(err error, codes ...string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, e.Code)
}

// isLocked reports whether a statement ended because it waited for a lock too long, or, on Citus,
// perhaps for that reason.
func (s *Store) isLocked(err error) bool {
	return had(err, "55P03") || s.distributed && had(err, "57014")
}

// isPassing reports whether a transaction that failed can be tried again at once: it was a
// deadlock, not serializable, or planned while Citus moved its shard.
func isPassing(err error) bool { return had(err, "40001", "40P01", "0A000") }

// hadNoEffect reports whether nothing of what was sent can have been executed.
func hadNoEffect(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok { // the server refused, or ended the transaction before its end
		return strings.HasPrefix(e.Code, "57P") || slices.Contains([]string{"08001", "08004", "25P03"}, e.Code)
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return connecting || pgconn.SafeToRetry(err) || errors.Is(err, driver.ErrBadConn)
}

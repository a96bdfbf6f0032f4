package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

func corrupt(msg string, err error) error {
	return &sequent.Error{Code: sequent.CodeCorrupt, Msg: msg, Fix: "restore the database from a backup", Err: err}
}

// unknown says that nobody knows whether a write was stored.
func unknown(err error) error {
	return &sequent.Error{
		Code: sequent.CodeUnavailable,
		Msg:  "the connection to the store was lost while a change was stored; it may be stored or not",
		Fix:  "read the session before you try again, or repeat the call with the same request key",
		Err:  err,
	}
}

// wrap gives an error of a closed store its name, and others their code.
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

// wrap is the one place where errors of the driver become errors of sequent.
// They say nothing of the server's address. Whether the caller gave up is seen
// from ctx: time-outs of our own look the same.
func wrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e
	}
	if ctx.Err() != nil {
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was given up", Err: errors.Join(ctx.Err(), err)}
	}
	out := &sequent.Error{Code: sequent.CodeInternal, Msg: "the store failed in an unexpected way", Err: err}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		describe(out, e)
		return out
	}
	if lost(err) {
		away(out)
	}
	return out
}

func away(e *sequent.Error) {
	e.Code = sequent.CodeUnavailable
	e.Msg = "the store's server cannot be reached; nothing was changed"
	e.Fix = "try again in a moment; if it goes on, check that the server runs and that the address is right"
}

// describe says what an error of the server means to a user.
func describe(e *sequent.Error, from *pgconn.PgError) {
	class := from.Code
	if len(class) > 2 {
		class = class[:2]
	}
	switch {
	case class == "08" || class == "57" && from.Code != "57014" || from.Code == "25006":
		away(e)
	case from.Code == "57014" || from.Code == "55P03" || class == "40": // time-out, lock, deadlock
		e.Code = sequent.CodeBusy
		e.Msg = "the store was too busy; nothing was stored"
		e.Fix = "try again; if it goes on, look for what holds locks in the database"
	case from.Code == "53100":
		e.Code = sequent.CodeFull
		e.Msg = "there is no space left for the store; nothing was stored"
		e.Fix = "free some space on the disk of the server and try again"
	case class == "53":
		e.Code = sequent.CodeBusy
		e.Msg = "the store's server has no room for another connection, or no memory; nothing was stored"
		e.Fix = "try again, or give the server more of it"
	case class == "28" || class == "3D":
		e.Code = sequent.CodeUnavailable
		e.Msg = "the store's server does not let this program in"
		e.Fix = "check the user, the password and the database in the address"
	case from.Code == "42501":
		e.Code = sequent.CodeReadOnly
		e.Msg = "this user may not write to the store; nothing was stored"
		e.Fix = "grant it the rights to the schema and its tables"
	case class == "XX" || class == "58":
		e.Code = sequent.CodeCorrupt
		e.Msg = "the store's server found its data damaged"
		e.Fix = "look at the server's log"
	case class == "54" || class == "22":
		e.Code = sequent.CodeLimitExceeded
		e.Msg = "a text is larger than the store can keep"
		e.Fix = "split it into several thoughts"
	}
}

// lost reports whether an error means that a connection could not be made, or
// broke.
func lost(err error) bool {
	if _, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused(err)
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

// refused reports whether the server said, in place of a result, that it goes
// away or is not ready: what it was asked for did not happen.
func refused(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(e.Code, "08") || strings.HasPrefix(e.Code, "57P"))
}

// harmless reports whether an error came before anything of a statement can
// have happened, so that it may be sent again.
func harmless(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	_, rolledBack := errors.AsType[undone](err)
	return rolledBack && lost(err) || refused(err) || pgconn.SafeToRetry(err)
}

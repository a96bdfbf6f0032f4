//go:build unix

package postgres

import (
	"errors"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A transaction that lockRound has found out of order must not be repeated once it was
// committed: another process may have adopted the part before its next statement, which then
// has stored the session. A transaction that is still open reports it.
func TestOutOfOrder(t *testing.T) {
	t.Parallel()
	address := server.Schema(t)
	s := openAt(t, address)
	defer s.Close()
	exec(t, address, "UPDATE index_state SET tx = '1000000000'")
	p := &piece{part: s.parts[0], writes: beginning([]string{"alice"})}
	if err := s.send(t.Context(), []*piece{p}, true); err != nil || p.ordered || p.rows[0].key != 0 {
		t.Errorf("a batch: %v, in order %t, stored %v; want neither an error nor a stored write", err, p.ordered, p.rows)
	}
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.store(t.Context(), tx, p.writes)
	if _, moved := errors.AsType[movedError](err); !moved {
		t.Errorf("a transaction: %v, want a movedError", err)
	}
	rollback(t.Context(), tx)
	// The store adopts the part and stores the write once.
	if err := s.Commit(t.Context(), p.writes); err != nil || p.writes[0].Err != nil {
		t.Errorf("Commit: %v, %v", err, p.writes[0].Err)
	}
	if page, err := s.List(t.Context(), sequent.Query{AllOwners: true}); err != nil || len(page.Headers) != 1 {
		t.Errorf("List: %d sessions, %v; want 1", len(page.Headers), err)
	}
}

//go:build unix

package postgres

import (
	"errors"
	"net/url"
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// A role that may only read reads, and is told what it lacks. One that may do nothing is, too. A
// table that is renamed under a running process is a store's error.
func TestRightsAndTables(t *testing.T) {
	t.Parallel()
	address := server.Schema(t)
	owner := openAt(t, address)
	defer owner.Close()
	if _, err := sequent.New(sequent.Config{Store: owner}).Ensure(t.Context(), "a", adding("one")); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	schema := u.Query().Get("search_path")
	reader := schema + "_reader"
	execute(t, address, "CREATE ROLE "+reader+" LOGIN", "GRANT USAGE ON SCHEMA "+schema+" TO "+reader)
	u.User = url.User(reader)
	s := openAt(t, u.String())
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})
	_, reading := e.Session(t.Context(), "a")
	execute(t, address, "GRANT SELECT ON ALL TABLES IN SCHEMA "+schema+" TO "+reader)
	if _, err := e.Session(t.Context(), "a"); err != nil {
		t.Errorf("Session = %v", err)
	}
	_, writing := e.Ensure(t.Context(), "a", adding("two"))
	for _, err := range []error{reading, writing, e.Delete(t.Context(), "a")} {
		if e, ok := errors.AsType[*sequent.Error](err); !ok || e.Code != sequent.CodeReadOnly || e.Fix == "" {
			t.Errorf("got %v (code %s), want code %s and a fix", err, sequent.CodeOf(err), sequent.CodeReadOnly)
		}
	}
	if !slices.ContainsFunc(Diagnose(t.Context(), u.String()), func(f diagnosis.Finding) bool { return f.Check == "rights" && f.Status == diagnosis.Fail }) {
		t.Errorf("the diagnosis lacks the rights: %+v", Diagnose(t.Context(), u.String()))
	}
	execute(t, address, "ALTER TABLE tool_log RENAME TO mine")
	e = sequent.New(sequent.Config{Store: owner})
	_, reading = e.Session(t.Context(), "a")
	_, writing = e.Ensure(t.Context(), "a", adding("two"))
	for _, err := range []error{reading, writing, owner.Check(t.Context())} {
		if e, ok := errors.AsType[*sequent.Error](err); !ok || e.Code != sequent.CodeCorrupt || e.Fix == "" {
			t.Errorf("without a table: %v (code %s), want code %s and a fix", err, sequent.CodeOf(err), sequent.CodeCorrupt)
		}
	}
}

//go:build unix

package postgres

import (
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

func TestDiagnose(t *testing.T) {
	t.Parallel()
	address := server.Schema(t)
	finds := func(check string, status diagnosis.Status) {
		t.Helper()
		for _, f := range Diagnose(t.Context(), address) {
			if f.Check == check && f.Status == status {
				return
			}
		}
		t.Errorf("the diagnosis does not find %s: %v; all: %+v", check, status, Diagnose(t.Context(), address))
	}
	finds("format", diagnosis.OK)
	s := openAt(t, address)
	defer s.Close()
	if _, err := sequent.New(sequent.Config{Store: s}).Ensure(t.Context(), "a", adding("a heron stands in the river")); err != nil {
		t.Fatal(err)
	}
	for _, check := range []string{"server", "durability", "connections", "tables", "format"} {
		finds(check, diagnosis.OK)
	}
	for _, f := range Diagnose(t.Context(), address) {
		if f.Status == diagnosis.Fail {
			t.Errorf("%s: %s", f.Check, f.Detail)
		}
	}
	execute(t, address, "UPDATE tool_log SET text = 'another'", "COMMENT ON TABLE tool_sessions IS 'sequent format 2'")
	finds("format", diagnosis.Fail)
	execute(t, address, "COMMENT ON TABLE tool_sessions IS 'sequent format 1'")
	findings := Diagnose(t.Context(), address)
	if !slices.ContainsFunc(findings, func(f diagnosis.Finding) bool { return f.Status == diagnosis.Fail }) {
		t.Errorf("the diagnosis does not find a thought that was altered: %+v", findings)
	}
	address = "postgres://nobody@127.0.0.1:1/x"
	finds("server", diagnosis.Fail)
}

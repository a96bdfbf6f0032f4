//go:build unix

package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	format := func(want int, code sequent.Code) {
		t.Helper()
		have, to, err := Format(t.Context(), Config{URL: url})
		if have != want || to != latest || sequent.CodeOf(err) != code {
			t.Errorf("Format = %d, %d, error %v; want %d and %q", have, to, err, want, code)
		}
	}
	format(0, "")
	s := openAt(t, url)
	defer s.Close()
	check := func(want sequent.Code) {
		t.Helper()
		if err := s.Check(t.Context()); sequent.CodeOf(err) != want {
			t.Errorf("Check = %v, want %q", err, want)
		}
	}
	check("")
	format(latest, "")
	exec(t, url, "UPDATE sequent_schema SET version = 99")
	check("") // it has only additions
	format(99, "")
	exec(t, url, "UPDATE sequent_schema SET oldest_writer = 99")
	check(sequent.CodeNewerSchema)
	format(99, sequent.CodeNewerSchema)
	exec(t, url, "DROP TABLE sequent_schema")
	check(sequent.CodeUnavailable)
	format(0, "")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	check(sequent.CodeUnavailable)
}

// TestDiagnose diagnoses a store, odd settings, and a user without privileges.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	find := func(address, check string, status diagnosis.Status) {
		t.Helper()
		all := Diagnose(t.Context(), address)
		for _, f := range all {
			if f.Check == check && f.Status == status && (status == diagnosis.OK) == (f.Fix == "") {
				return
			}
		}
		t.Errorf("no finding %q with status %q, and a fix unless ok: %+v", check, status, all)
	}
	find(url, "format", "ok")
	s := openAt(t, url)
	defer s.Close()
	for _, check := range []string{"server", "encoding", "connections", "time-outs", "server identity", "format", "tables", "search index"} {
		find(url, check, "ok")
	}
	find(url+"&statement_timeout=0", "time-outs", "warn")
	find(url+"&synchronous_commit=off", "durability", "warn")
	find(url+"&port=1", "server", "fail")
	find("postgres://%zz", "address", "fail")

	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var schema string
	if err := conn.QueryRow(t.Context(), "SELECT current_schema()").Scan(&schema); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA "+schema+
		" TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA "+schema+" TO reader"); err != nil {
		t.Fatal(err)
	}
	reader := url[:len("postgres://")] + "reader" + url[len("postgres://postgres"):]
	find(reader, "rights", "warn")
	find(reader, "tables", "fail")
}

// A server can keep its identity from a user. Then a store works, but a move is not
// noticed.
func TestDiagnoseIdentity(t *testing.T) {
	t.Parallel()
	own := newServer(t)
	url := own.Schema(t)
	exec(t, url, "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC", "CREATE ROLE stranger LOGIN",
		"GRANT ALL ON SCHEMA test1 TO stranger")
	s := travel(t, strings.Replace(url, "postgres@", "stranger@", 1))
	s.think(t, "one")
	s.has(t, "as a user who may not know the server", []string{"one"})
	for _, granted := range []bool{false, true} {
		if granted {
			exec(t, url, "GRANT EXECUTE ON FUNCTION pg_control_system() TO stranger")
		}
		want := map[bool]diagnosis.Status{false: diagnosis.Warn, true: diagnosis.OK}[granted]
		all := Diagnose(t.Context(), strings.Replace(url, "postgres@", "stranger@", 1))
		i := slices.IndexFunc(all, func(f diagnosis.Finding) bool { return f.Check == "server identity" })
		if i < 0 || all[i].Status != want || strings.Contains(all[i].Fix, "pg_control_system()") == granted {
			t.Errorf("granted %t: %+v, want a finding with status %s", granted, all, want)
		}
	}
}

// The index can be at a transaction that this server has not reached, because the tables
// were moved to it while connections went on. New thoughts are found nevertheless. If
// thoughts are missing from the index, the diagnosis says so.
func TestDiagnoseIndex(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	s := openAt(t, url)
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})
	record := func(id sequent.ID) {
		t.Helper()
		for i := range 5 {
			if _, err := e.Ensure(t.Context(), id, adding(fmt.Sprintf("heron %s %d", id, i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	status := func() (index, search diagnosis.Status) {
		t.Helper()
		for _, f := range Diagnose(t.Context(), url) {
			switch f.Check {
			case "search index":
				index = f.Status
			case "search":
				search = f.Status
			}
		}
		return index, search
	}
	record("a")
	if _, err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if index, search := status(); index != diagnosis.OK || search != diagnosis.OK {
		t.Errorf("an intact store: search index %s, search %s", index, search)
	}
	exec(t, url, "UPDATE index_state SET tx = (tx::text::bigint + 1000000)::text::xid8")
	record("b")
	for complete := false; !complete; {
		var err error
		if complete, err = s.updateIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if index, search := status(); index != diagnosis.OK || search != diagnosis.OK {
		t.Errorf("an index ahead of the server: search index %s, search %s", index, search)
	}
	exec(t, url, "DELETE FROM thought_words WHERE id > (SELECT max(id) - 5 FROM thoughts)")
	if index, search := status(); index != diagnosis.Fail || search != diagnosis.Fail {
		t.Errorf("an incomplete index: search index %s, search %s; want fail", index, search)
	}
}

// A statement cannot refer to the constant latest.
func TestMayWrite(t *testing.T) {
	if want := fmt.Sprint(" <= ", latest); !strings.HasSuffix(mayWrite, want) {
		t.Errorf("mayWrite is %q, want %q at the end", mayWrite, want)
	}
}

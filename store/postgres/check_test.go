//go:build unix

package postgres

import (
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
	for _, check := range []string{"server", "encoding", "connections", "time-outs", "format", "tables", "search index"} {
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

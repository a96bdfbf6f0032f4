//go:build unix

package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

// Each column that plain SQL changes is a fault of the session, cannot be changed, or has no
// effect on what is shown.
func TestColumns(t *testing.T) {
	t.Parallel()
	s := openAt(t, server.Schema(t))
	defer s.Close()
	k := storetest.Vivid(t, s)
	conn, err := s.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	exec := func(text string) error {
		_, err := conn.ExecContext(t.Context(), text)
		return err
	}
	load := func() string {
		shown := "gone"
		if r, err := s.database.Find(t.Context(), tx{conn}, k, ""); err == nil {
			log, err := s.database.Log(t.Context(), tx{conn}, r, sequent.Position{})
			if err != nil {
				t.Fatal(err)
			}
			if shown = fmt.Sprintf("%+v %+v", r.Header, log); sequent.Verify(r.Header, log).Fault != nil {
				shown = "a fault"
			}
		}
		return shown
	}
	before := load()
	if before == "a fault" {
		t.Fatal("the session has a fault")
	}
	hidden := make(map[string]bool) // columns whose changes are neither faults nor refused
	for _, rows := range []string{"tool_sessions", "tool_log WHERE n = 4", "tool_log WHERE kind = 'header'"} {
		table, where, _ := strings.Cut(rows, " ")
		var columns []string
		if err := conn.QueryRowContext(t.Context(), `
			SELECT string_agg(column_name || ' ' || data_type, ',') FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = $1`, table).Scan((*joined)(&columns)); err != nil {
			t.Fatal(err)
		}
		for _, column := range columns {
			name, kind, _ := strings.Cut(column, " ")
			for _, value := range map[string][]string{
				"bigint": {name + " + 1", "-1", "1::bigint << 40"}, "text": {name + " || 'x'", "replace(" + name + ", 'e', 'i') || ' '", "'{}'"},
				"bytea": {`'\x00'`, "''", name + " || '\\x00'"}, "boolean": {"NOT " + name}, "tsvector": {"NULL"},
			}[kind] {
				text := fmt.Sprintf("UPDATE %s SET %s = %s %s", table, name, value, where)
				if err := exec("BEGIN"); err != nil {
					t.Fatal(err)
				}
				if err := exec(text); err != nil {
					if !had(err, "23514", "23505") { // a check, or another entry has the place
						t.Errorf("%s: %v", text, err)
					}
				} else if after := load(); after != "a fault" && after != "gone" {
					hidden[table+"."+name] = true
					if after != before {
						t.Errorf("%s is no fault, and shows\n%s\ninstead of\n%s", text, after, before)
					}
				}
				if err := exec("ROLLBACK"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// The key is the log's only with all its rows. The order of ids and the words decide what a
	// search finds. The others mean nothing in the row of an entry that is no thought.
	want := []string{"after", "final", "id", "note", "number", "seq", "supersedes", "text", "total", "words"}
	for i := range want {
		want[i] = "tool_log." + want[i]
	}
	if got := slices.Sorted(maps.Keys(hidden)); !slices.Equal(got, want) {
		t.Errorf("changes of %q are no faults, want only %q", got, want)
	}
}

// joined scans values that commas join.
type joined []string

func (j *joined) Scan(v any) error {
	*j = strings.Split(v.(string), ",")
	return nil
}

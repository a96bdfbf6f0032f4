//go:build unix

package postgres

import (
	"fmt"
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
	flips := make(map[string]string)
	for _, rows := range []string{"tool_sessions", "tool_log WHERE n = 4", "tool_log WHERE kind = 'header'"} {
		table, where, _ := strings.Cut(rows, " ")
		var columns string
		if err := conn.QueryRowContext(t.Context(), `
			SELECT string_agg(column_name || ' ' || data_type, ',') FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = $1`, table).Scan(&columns); err != nil {
			t.Fatal(err)
		}
		for column := range strings.SplitSeq(columns, ",") {
			name, kind, _ := strings.Cut(column, " ")
			for _, value := range map[string][]string{
				"bigint": {name + " + 1", "-1", "1::bigint << 40"}, "text": {name + " || 'x'", "'{}'"},
				"bytea": {`'\x00'`, "''", name + " || '\\x00'"}, "boolean": {"NOT " + name}, "tsvector": {"NULL"},
			}[kind] {
				flips[fmt.Sprintf("UPDATE %s SET %s = %s %s", table, name, value, where)] = name
			}
		}
	}
	got := storetest.Flips(t, flips, func(text string) error {
		_, err := conn.ExecContext(t.Context(), text)
		return err
	}, func(err error) bool {
		return had(err, "23514", "23505") // a check, or another entry has the place
	}, func() (sequent.Header, []sequent.Entry, error) {
		r, err := s.database.Find(t.Context(), tx{conn}, k, "")
		if err != nil {
			return r.Header, nil, err
		}
		log, err := s.database.Log(t.Context(), tx{conn}, r, sequent.Position{})
		return r.Header, log, err
	})
	// The order of ids and the words decide what a search finds. The others mean nothing in the row
	// of an entry that is no thought.
	if unread := strings.Fields("after final id note number seq supersedes text total words"); !slices.Equal(got, unread) {
		t.Errorf("changes of %q are no faults, want only %q", got, unread)
	}
}

func TestPack(t *testing.T) {
	for _, s := range []string{"", "a", "\x00", "a\x00b", "\x01", "\x010", "\x01\x00", "\x011\x000", strings.Repeat("é", 1000)} {
		packed := pack(s)
		if strings.Contains(packed, "\x00") || unpack(packed) != s {
			t.Errorf("%q is packed as %q and unpacked as %q", s, packed, unpack(packed))
		}
	}
}

// Texts that PostgreSQL cannot hold are found with the statement that the schema shows.
func TestPackedInSQL(t *testing.T) {
	t.Parallel()
	s := openAt(t, server.Schema(t))
	defer s.Close()
	if _, err := sequent.New(sequent.Config{Store: s}).Ensure(t.Context(), "a", adding("a\x00b\x01c\x010")); err != nil {
		t.Fatal(err)
	}
	var text string
	if err := s.db.QueryRowContext(t.Context(), `SELECT replace(replace(text, E'\x010', '␀'), E'\x011', E'\x01') FROM tool_log`).Scan(&text); err != nil || text != "a␀b\x01c\x010" {
		t.Errorf("SQL reads %q, %v", text, err)
	}
}

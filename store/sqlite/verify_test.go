package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

// vivid is a store with the session of [storetest.Vivid].
func vivid(t *testing.T) (*Store, *sequent.Engine) {
	t.Helper()
	s := openAt(t, filepath.Join(t.TempDir(), "sessions.db"))
	t.Cleanup(func() { s.Close() })
	e := sequent.New(sequent.Config{Store: s, CacheBytes: -1}).Owned("ann")
	storetest.Vivid(t, s)
	if got, err := e.Session(t.Context(), "s"); err != nil || got.Fault() != nil {
		t.Fatalf("Session = %+v, %v", got, err)
	}
	return s, e
}

// Each column that plain SQL changes is a fault of the session, cannot be changed, or has no
// effect on what is shown.
func TestColumns(t *testing.T) {
	t.Parallel()
	s, _ := vivid(t)
	flips := make(map[string]string)
	for table, rows := range map[string]string{"tool_sessions": "", "tool_log": " WHERE n = (SELECT max(n) FROM tool_log)", "tool_log ": " WHERE kind = 'header'"} {
		columns, err := s.file.readers.QueryContext(t.Context(), "SELECT name, type FROM pragma_table_info(?)", strings.TrimSpace(table))
		if err != nil {
			t.Fatal(err)
		}
		for columns.Next() {
			var name, kind string
			if err := columns.Scan(&name, &kind); err != nil {
				t.Fatal(err)
			}
			for _, value := range map[string][]string{
				"INTEGER": {name + " + 1", "-1", "1 << 40"}, "TEXT": {name + " || 'x'", "'{}'"}, "BLOB": {"zeroblob(32)", "x''", "x'01'"},
			}[kind] {
				flips[fmt.Sprintf("UPDATE %s SET %s = %s%s", table, name, value, rows)] = name
			}
		}
		if err := columns.Err(); err != nil {
			t.Fatal(err)
		}
	}
	for path := range strings.FieldsSeq("title conclusion dialect labels.colour labels.other origin.client origin.commit origin.model") {
		flips[fmt.Sprintf("UPDATE tool_sessions SET header = json_set(header, '$.%s', 'x')", path)] = "header"
	}
	for path := range strings.FieldsSeq("branch from revises revision extend request.key request.digest labels.a masked.text") {
		flips[fmt.Sprintf("UPDATE tool_log SET rest = json_set(rest, '$.%s', 7) WHERE n = 3", path)] = "rest"
	}
	conn := s.writer.conn
	got := storetest.Flips(t, flips, func(text string) error {
		_, err := conn.ExecContext(t.Context(), text)
		return err
	}, func(err error) bool {
		return strings.Contains(err.Error(), "CHECK") || strings.Contains(err.Error(), "UNIQUE")
	}, func() (h sequent.Header, log []sequent.Entry, err error) {
		var k sequent.Key // the session may have another owner or id
		if err := conn.QueryRowContext(t.Context(), "SELECT owner, id FROM tool_sessions").Scan(&k.Owner, &k.ID); err != nil {
			return h, nil, err
		}
		r, err := s.db.Find(t.Context(), conn, k, "")
		if err == nil {
			log, err = s.db.Log(t.Context(), conn, r, sequent.Position{})
		}
		return r.Header, log, err
	})
	// The order of ids is what a search calls newest. The others have no meaning in the row of
	// an entry that is no thought.
	if unread := strings.Fields("after final id note number seq supersedes text total"); !slices.Equal(got, unread) {
		t.Errorf("changes of %q are no faults, want only %q", got, unread)
	}
}

func TestDamagedLog(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]sequent.Fault{
		"UPDATE tool_log SET text = 'other' WHERE seq = 2":                                              {Kind: sequent.FaultAltered, Place: 2, Seq: 2},
		"DELETE FROM tool_log WHERE seq = 2":                                                            {Kind: sequent.FaultMissing, Place: 2, Seq: 2},
		"DELETE FROM tool_log WHERE n > 3":                                                              {Kind: sequent.FaultCutOff, Place: 4},
		"UPDATE tool_log SET n = -n WHERE n IN (2, 3); UPDATE tool_log SET n = 5 + n WHERE n < 0":       {Kind: sequent.FaultAltered, Place: 2, Seq: 3},
		"UPDATE tool_sessions SET header = json_set(header, '$.conclusion', 'other')":                   {Kind: sequent.FaultHeader, Field: "conclusion"},
		"UPDATE tool_sessions SET head = zeroblob(32)":                                                  {Kind: sequent.FaultHeader, Field: "head"},
		"UPDATE tool_sessions SET entries = 3, len = 3, head = (SELECT hash FROM tool_log WHERE n = 3)": {Kind: sequent.FaultHeader, Field: "state"},
		"UPDATE tool_log SET salt = x'', hash = x'' WHERE n = 4":                                        {Kind: sequent.FaultAltered, Place: 4, Seq: 4},
		"UPDATE tool_log SET rest = json_set(rest, '$.body.conclusion', 'other') WHERE kind = 'header'": {Kind: sequent.FaultAltered, Place: 5},
		"UPDATE tool_log SET session = session + 1 WHERE n = 5":                                         {Kind: sequent.FaultCutOff, Place: 5},
		"UPDATE tool_sessions SET version = version + 1":                                                {Kind: sequent.FaultHeader},
	} {
		s, e := vivid(t)
		if _, err := s.writer.conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		got, err := e.Session(t.Context(), "s")
		if err != nil || got.Fault() == nil || *got.Fault() != want {
			t.Errorf("%s: Session = %+v, %v; want it with the fault %+v", text, got, err, want)
		}
		if _, err := e.Append(t.Context(), "s", sequent.Draft{Text: "more"}); sequent.CodeOf(err) != sequent.CodeCorrupt {
			t.Errorf("%s: Append = %v, want code %s", text, err, sequent.CodeCorrupt)
		}
	}
}

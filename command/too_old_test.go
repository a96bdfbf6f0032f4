package command

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// A server on stdio whose store was migrated to a format that it must not write says so
// in its replies, and stores nothing.
func TestTooOldServer(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	c, _ := startStdio(t, store)
	first := think(t, c, call{Thought: "one", NextThoughtNeeded: true})
	db, err := sql.Open("sqlite", store+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("BEGIN IMMEDIATE; UPDATE identity SET oldest_writer = 999; PRAGMA user_version = 999; COMMIT"); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		`{"sessionId":"` + first.SessionID + `","thought":"two","nextThoughtNeeded":true}`,
		`{"thought":"another","nextThoughtNeeded":true}`,
	} {
		res, err := c.CallTool(t.Context(), "sequentialthinking", []byte(args))
		if err != nil || !res.Failed || !strings.Contains(res.Text, "STORE_NEWER_SCHEMA") ||
			!strings.Contains(res.Text, "999") || !strings.Contains(res.Text, "update sequent") {
			t.Errorf("%s: failed %t, %v: %s", args, res.Failed, err, res.Text)
		}
	}
	back, err := c.CallTool(t.Context(), "recall_thinking", []byte(`{"sessionId":"`+first.SessionID+`"}`))
	if err != nil || back.Failed || !strings.Contains(back.Text, "one") || strings.Contains(back.Text, "two") {
		t.Errorf("recall: %v %s", err, back.Text)
	}
	var thoughts int
	if err := db.QueryRow("SELECT count(*) FROM thoughts").Scan(&thoughts); err != nil || thoughts != 1 {
		t.Errorf("%d thoughts are stored, %v; want 1", thoughts, err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

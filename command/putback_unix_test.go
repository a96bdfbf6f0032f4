//go:build unix

package command

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/mcpserver/client"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A server whose store is put back to an earlier state goes on with what the store has. The reply
// to the next thought, the log and doctor say which acknowledged thoughts are gone.
func TestStorePutBack(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.db")
	database := newPostgres(t).Schema(t)
	for _, s := range []struct {
		store     string
		keep, put func(t *testing.T)
	}{
		{file, func(t *testing.T) {
			if _, err := sqlite.Backup(t.Context(), sqlite.BackupConfig{From: file, To: file + ".bak", Force: true}); err != nil {
				t.Fatal(err)
			}
		}, func(t *testing.T) {
			if err := os.Rename(file+".bak", file); err != nil {
				t.Fatal(err)
			}
		}},
		{database, func(t *testing.T) {
			executeSQL(t, database, `DROP TABLE IF EXISTS s, l; CREATE TABLE s AS TABLE tool_sessions; CREATE TABLE l AS TABLE tool_log`)
		}, func(t *testing.T) {
			executeSQL(t, database, `BEGIN; DELETE FROM tool_sessions; DELETE FROM tool_log;
				INSERT INTO tool_sessions OVERRIDING SYSTEM VALUE SELECT * FROM s; INSERT INTO tool_log OVERRIDING SYSTEM VALUE SELECT * FROM l; COMMIT`)
		}},
	} {
		for _, dialect := range []string{"standard", "classic", "history"} {
			putBack(t, s.store, dialect, s.keep, s.put)
		}
	}
}

func executeSQL(t *testing.T, address, text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// putBack puts the store of a server back after the fourth thought of a session, whose latest two
// are gone then.
func putBack(t *testing.T, store, dialect string, keep, put func(*testing.T)) {
	t.Helper()
	var log strings.Builder
	cmd := exec.Command("sequent", "serve", "--store", store, "--dialect", dialect)
	cmd.Env = append(os.Environ(), "SEQUENT_STORAGE_PATH="+t.TempDir())
	cmd.Stderr = &log
	c, err := client.Connect(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	session := ""
	record := func(n int) string {
		t.Helper()
		args := map[string]any{"thought": fmt.Sprint("heron ", n), "thoughtNumber": n, "totalThoughts": 9, "nextThoughtNeeded": true}
		if session != "" {
			args["sessionId"] = session
		}
		body, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.CallTool(t.Context(), "sequentialthinking", body)
		if err != nil || res.Failed {
			t.Fatalf("%s, thought %d: %v %s", dialect, n, err, res.Text)
		}
		if m := regexp.MustCompile(`"sessionId": ?"([^"]+)"`).FindStringSubmatch(res.Text); m != nil && dialect != "classic" {
			session = m[1]
		}
		return strings.Join(append([]string{res.Text}, res.Beside...), "\n")
	}
	record(1)
	record(2)
	keep(t)
	record(3)
	record(4)
	put(t)
	const gone = "3-4"
	said := "these thoughts were acknowledged and are gone: " + gone
	if text := record(5); strings.Count(text, said) != 1 {
		t.Errorf("%s: the reply after the store was put back is %s", dialect, text)
	}
	if text := record(6); strings.Contains(text, "put back") {
		t.Errorf("%s: a later reply is %s", dialect, text)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "acknowledged thoughts are gone") || !strings.Contains(log.String(), "thoughts="+gone) {
		t.Errorf("%s: the log is %s", dialect, log.String())
	}
	out, err := exec.Command("sequent", "doctor", "--store", store).CombinedOutput()
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), said) {
		t.Errorf("%s: doctor: %v: %s", dialect, err, out)
	}
}

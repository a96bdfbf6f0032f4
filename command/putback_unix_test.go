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

// Servers whose store is put back to an earlier state go on with what the store has. The reply
// to the next thought, the log of its server and doctor say which acknowledged thoughts are gone, once.
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

// putBack puts the store of two servers back after the fourth thought of a session, whose latest two
// are gone then. A session of classic belongs to one server.
func putBack(t *testing.T, store, dialect string, keep, put func(*testing.T)) {
	t.Helper()
	servers, logs := make([]*client.Client, 2), make([]strings.Builder, 2)
	for i := range servers {
		cmd := exec.Command("sequent", "serve", "--store", store, "--dialect", dialect)
		cmd.Env = append(os.Environ(), "SEQUENT_STORAGE_PATH="+t.TempDir())
		cmd.Stderr = &logs[i]
		var err error
		if servers[i], err = client.Connect(t.Context(), cmd); err != nil {
			t.Fatal(err)
		}
	}
	session := ""
	record := func(server, n int) string {
		t.Helper()
		if dialect == "classic" {
			server = 0
		}
		args := map[string]any{"thought": fmt.Sprint("heron ", n), "thoughtNumber": n, "totalThoughts": 9, "nextThoughtNeeded": true}
		if session != "" {
			args["sessionId"] = session
		}
		body, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		res, err := servers[server].CallTool(t.Context(), "sequentialthinking", body)
		if err != nil || res.Failed {
			t.Fatalf("%s, thought %d: %v %s", dialect, n, err, res.Text)
		}
		if m := regexp.MustCompile(`"sessionId": ?"([^"]+)"`).FindStringSubmatch(res.Text); m != nil && dialect != "classic" {
			session = m[1]
		}
		return strings.Join(append([]string{res.Text}, res.Beside...), "\n")
	}
	record(0, 1)
	record(1, 2)
	keep(t)
	record(0, 3)
	record(1, 4)
	put(t)
	const gone = "3-4"
	said := "these thoughts were acknowledged and are gone: " + gone
	if text := record(1, 5); strings.Count(text, said) != 1 {
		t.Errorf("%s: the reply after the store was put back is %s", dialect, text)
	}
	for n := range 2 {
		if text := record(n, 6+n); strings.Contains(text, "put back") {
			t.Errorf("%s: a later reply of server %d is %s", dialect, n, text)
		}
	}
	for _, c := range servers {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	log := logs[0].String() + logs[1].String()
	if strings.Count(log, "acknowledged thoughts are gone") != 1 || !strings.Contains(log, "thoughts="+gone) {
		t.Errorf("%s: the log is %s", dialect, log)
	}
	out, err := exec.Command("sequent", "doctor", "--store", store).CombinedOutput()
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), said) {
		t.Errorf("%s: doctor: %v: %s", dialect, err, out)
	}
}

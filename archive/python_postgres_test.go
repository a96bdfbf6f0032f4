//go:build unix

package archive_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/store/postgres"
)

// TestPythonReadsPostgres has verify.py check the rows that the query of docs/reference/format.md
// returns.
func TestPythonReadsPostgres(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "reference", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	query := regexp.MustCompile(`(?s)psql -At -c "(.*?)"`).FindSubmatch(page)
	if query == nil {
		t.Fatal("docs/reference/format.md has no query for psql")
	}
	server := new(pgtest.Server)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	url := server.Schema(t)
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	e := sequent.New(sequent.Config{Store: s}).Owned("ann")
	want := make(map[string]bool)
	for n := range 20 {
		id := sequent.ID(fmt.Sprint("s", n))
		anySession(t, e, rng, id)
		h, _ := entriesOf(t, e, id)
		want["ann/"+string(id)+": intact "+h.Head.String()] = true
	}
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	rows, err := db.Query(t.Context(), string(query[1]))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (line string, err error) {
		return line, row.Scan(&line)
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rows.json")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range verdicts(t, file) {
		if !want[line] {
			t.Errorf("Python says %s", line)
		}
		delete(want, line)
	}
	if len(want) > 0 {
		t.Errorf("Python does not say %v", want)
	}
}

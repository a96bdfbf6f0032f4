//go:build unix

package command

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// newPostgres returns a database server that is stopped at the end of the test.
func newPostgres(t *testing.T) *pgtest.Server {
	t.Helper()
	server := new(pgtest.Server)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// TestPostgresScript runs the scripts in testdata/postgres. In each, PG is the
// address of an empty schema, with a password that no output may contain.
func TestPostgresScript(t *testing.T) {
	needtest.Long(t)
	server := newPostgres(t)
	files, err := filepath.Glob("testdata/postgres/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob = %v, %v; want files", files, err)
	}
	schemas := make(chan string, len(files))
	for range files {
		schemas <- strings.Replace(server.Schema(t), "postgres@", "postgres:geheim@", 1)
	}
	params := scripts("postgres")
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("PG", <-schemas)
		return setup(env)
	}
	testscript.Run(t, params)
}

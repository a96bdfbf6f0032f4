package coverage

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/classic"
	"github.com/sequent-dev/sequent/dialect/guided"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/dialect/status/statustest"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// A subject is the dialect of a document.
type subject struct {
	build func(testing.TB, dialect.Env) dialect.Dialect
	// named means that calls name their sessions. Otherwise a call belongs to its scope, so that a
	// client without one is refused, and a scope that ends with a process or a connection does not
	// survive a restart.
	named bool
	// draws means that thoughts are drawn on standard error, which the program does for a client on
	// standard input only.
	draws bool
}

// subjects are the dialects of the documents, by the names of their folders.
var subjects = map[string]subject{
	"classic": {draws: true, build: func(_ testing.TB, env dialect.Env) dialect.Dialect {
		return classic.New(classic.Config{
			Engine: env.Engine, Archive: archive.Dir(env.Dir), Drawing: env.Stderr,
			Logger: slog.New(slog.NewTextHandler(env.Stderr, nil)),
		})
	}},
	"guided": {build: func(_ testing.TB, env dialect.Env) dialect.Dialect {
		return guided.New(guided.Config{Engine: env.Engine, Rand: env.Rand})
	}},
	"history": {named: true, build: func(_ testing.TB, env dialect.Env) dialect.Dialect {
		return history.New(history.Config{Engine: env.Engine, Rand: env.Rand})
	}},
	"status": {build: func(_ testing.TB, env dialect.Env) dialect.Dialect {
		return status.New(status.Config{Engine: env.Engine, Rand: env.Rand, Model: statustest.Script{Out: env.Stderr}})
	}},
	"wiki": {named: true, build: func(t testing.TB, env dialect.Env) dialect.Dialect {
		v := vaults.New(vaults.Config{Dir: filepath.Join(env.Dir, "vault"), Engine: env.Engine})
		t.Cleanup(func() {
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		})
		return wiki.New(wiki.Config{Vaults: v, Rand: env.Rand})
	}},
}

package journal_test

import (
	"encoding/json"
	"testing"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"

	"github.com/sequent-dev/sequent/e2e/example/journal"
)

func TestDialect(t *testing.T) {
	dialecttest.Run(t, dialecttest.Config{
		Build: func(t testing.TB, env dialect.Env) dialect.Dialect {
			d, err := journal.New(env)
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		Call: func(s dialecttest.Step) string {
			args, err := json.Marshal(map[string]any{"entry": s.Text, "first": false})
			if err != nil {
				t.Fatal(err)
			}
			return string(args)
		},
	})
}

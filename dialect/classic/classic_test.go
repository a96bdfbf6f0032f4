package classic_test

import (
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/classic"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
)

func build(_ testing.TB, env dialect.Env) dialect.Dialect {
	return classic.New(classic.Config{
		Engine: env.Engine, Archive: archive.Dir(env.Dir), Drawing: env.Stderr,
		Logger: slog.New(slog.NewTextHandler(env.Stderr, nil)),
	})
}

func call(s dialecttest.Step) string {
	args, err := json.Marshal(struct {
		Thought string `json:"thought"`
		Next    bool   `json:"nextThoughtNeeded"`
		Number  int    `json:"thoughtNumber"`
		Total   int    `json:"totalThoughts"`
		Branch  string `json:"branchId,omitempty"`
		From    int    `json:"branchFromThought,omitempty"`
	}{s.Text, !s.Last, s.Number, s.Total, s.Branch, s.From})
	if err != nil {
		panic(err)
	}
	return string(args)
}

func TestDialect(t *testing.T) {
	dialecttest.Run(t, dialecttest.Config{Build: build, Call: call})
}

package guided_test

import (
	"encoding/json"
	"testing"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/guided"
)

func build(_ testing.TB, env dialect.Env) dialect.Dialect {
	return guided.New(guided.Config{Engine: env.Engine, Rand: env.Rand})
}

// A call is the arguments of a call.
type call struct {
	Thought  string  `json:"thought,omitzero"`
	Number   int     `json:"thoughtNumber"`
	Total    int     `json:"totalThoughts"`
	Next     bool    `json:"nextThoughtNeeded"`
	Revision bool    `json:"isRevision"`
	From     *int    `json:"branchFromThought"`
	Branch   *string `json:"branchId"`
	More     bool    `json:"needsMoreThoughts"`
}

func (c call) String() string {
	raw, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestDialect(t *testing.T) {
	dialecttest.Run(t, dialecttest.Config{Build: build, Call: func(s dialecttest.Step) string {
		c := call{Thought: s.Text, Number: s.Number, Total: s.Total, Next: !s.Last}
		if s.Branch != "" {
			c.Branch, c.From = &s.Branch, &s.From
		}
		return c.String()
	}})
}

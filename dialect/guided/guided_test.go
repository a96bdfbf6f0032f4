package guided_test

import (
	"encoding/json"
	"testing"

	"github.com/sequent-dev/sequent"
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

// What is recorded is what the replies say was understood.
func TestLog(t *testing.T) {
	a := newAgent(t, sequent.Limits{})
	from, branch := 1, "x"
	for _, c := range []call{
		{Thought: "first", Number: 0, Total: -1, Next: true},
		{Thought: "more", Number: 2, Total: 1, More: true},
		{Thought: "corrected", Number: 3, Total: 5, Next: true, Revision: true},
		{Thought: "branched", Number: 2, Total: 5, From: &from, Branch: &branch},
		{Thought: "the next session", Number: 1, Total: 1},
	} {
		if got, failed := a.call(t, "s", c.String()); failed {
			t.Fatalf("%s: %s", c, got.Reason)
		}
	}
	page, err := a.engine.Sessions(t.Context(), sequent.Query{ByCreated: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`completed scope="guided/s" dialect="guided" title="the next session"
1: 1/1 last "the next session"
`,
		`completed scope="guided/s" dialect="guided" title="first"
1: 1/1 "first"
2: 2/2 extend "more"
3: 3/5 revision "corrected"
4: 2/5 branch="x" from=1 last <1 "branched"
`,
	}
	for i, h := range page.Headers {
		s, err := a.engine.Session(t.Context(), h.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := dialecttest.Log(s); i >= len(want) || got != want[i] {
			t.Errorf("session %d of %d:\n%s\nwant:\n%s", i, len(page.Headers), got, want[min(i, len(want)-1)])
		}
	}
}

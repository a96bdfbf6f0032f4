package standard_test

import (
	"encoding/json"
	"testing"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/standard"
)

func build(_ testing.TB, env dialecttest.Env) dialect.Dialect {
	return standard.New(standard.Config{
		Engine: env.Engine, Rand: env.Rand,
		// What the documents look like is tested where they are drawn.
		Render: standard.Render{Markdown: dialecttest.Log, JSON: dialecttest.Log, Mermaid: dialecttest.Log},
	})
}

func call(s dialecttest.Step) string {
	args, err := json.Marshal(struct {
		Thought string `json:"thought"`
		Next    bool   `json:"nextThoughtNeeded"`
		Number  int    `json:"thoughtNumber"`
		Total   int    `json:"totalThoughts"`
		Session string `json:"sessionId,omitempty"`
		Branch  string `json:"branchId,omitempty"`
		From    int    `json:"branchFromThought,omitempty"`
	}{s.Text, !s.Last, s.Number, s.Total, s.Session, s.Branch, s.From})
	if err != nil {
		panic(err)
	}
	return string(args)
}

func TestDialect(t *testing.T) {
	dialecttest.Run(t, dialecttest.Config{
		Build: build, Call: call,
		Others: []dialecttest.OtherCall{
			{Tool: "recall_thinking", Args: `{}`},
			{Tool: "recall_thinking", Args: `{"query":"a"}`},
			{Tool: "recall_thinking", Args: `{"sessionId":"0123456789ab"}`},
			{Tool: "recall_thinking", Args: `{"sessionId":"0123456789ab","query":"a"}`},
		},
	})
}

package history_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/tool"
)

func build(t testing.TB, env dialect.Env) dialect.Dialect {
	cfg := history.Config{Engine: env.Engine, Rand: env.Rand}
	if strings.Contains(t.Name(), "reply-limit.txtar") {
		cfg.ReplyLimit = 290
	}
	return history.New(cfg)
}

func call(s dialecttest.Step) string {
	args, err := json.Marshal(history.Input{
		Thought: s.Text, NextThoughtNeeded: !s.Last, ThoughtNumber: s.Number, TotalThoughts: s.Total,
		SessionID: sequent.ID(s.Session), BranchID: s.Branch, BranchFromThought: s.From,
	})
	if err != nil {
		panic(err)
	}
	return string(args)
}

func TestDialect(t *testing.T) {
	dialecttest.Run(t, dialecttest.Config{Build: build, Call: call})
}

// A reply to a client is at most 1 MiB; a tool in the same process has no limit.
func TestReplyLimit(t *testing.T) {
	engine := sequent.New(sequent.Config{})
	const id, n = "long", 300
	texts := []string{strings.Repeat("a", 9000), strings.Repeat("\"\\\n\x01", 2000), strings.Repeat("ä<", 3000), ""}
	for i := range n {
		_, err := engine.Append(t.Context(), id, sequent.Draft{Number: i + 1, Total: n, Text: texts[i%len(texts)]})
		if err != nil {
			t.Fatal(err)
		}
	}
	in := history.Input{Thought: "last", ThoughtNumber: n + 1, TotalThoughts: n + 1, SessionID: id, NextThoughtNeeded: true}
	args, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	d := history.New(history.Config{Engine: engine})
	reply, err := d.Tools[0].Call(t.Context(), tool.Call{Args: args})
	var out history.Output
	if err == nil {
		err = json.Unmarshal(reply.JSON, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	const limit = 1 << 20
	first := out.ThoughtHistoryLength - len(out.ThoughtHistory) + 1
	if size := len(reply.JSON); size > limit || size < limit-20_000 {
		t.Errorf("the reply has %d bytes, want almost %d", size, limit)
	}
	if out.ThoughtHistoryLength != n+1 || out.HistoryFrom != first || first < 2 || out.ThoughtHistory[0].ThoughtNumber != first {
		t.Errorf("%d of %d thoughts, historyFrom %d, the first is %d", len(out.ThoughtHistory), out.ThoughtHistoryLength,
			out.HistoryFrom, out.ThoughtHistory[0].ThoughtNumber)
	}
	whole, err := history.NewTool(history.ToolConfig{Engine: engine}).Think(t.Context(), in)
	if err != nil || len(whole.ThoughtHistory) != n+2 || whole.HistoryFrom != 0 {
		t.Errorf("in process: %d thoughts from %d, %v; want %d", len(whole.ThoughtHistory), whole.HistoryFrom, err, n+2)
	}
}

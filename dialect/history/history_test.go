package history_test

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/tool"
)

func build(_ testing.TB, env dialect.Env) dialect.Dialect {
	return history.New(history.Config{Engine: env.Engine, Rand: env.Rand})
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

// Replies are as published.
func TestOutputSchema(t *testing.T) {
	d := history.New(history.Config{Engine: sequent.New(sequent.Config{})})
	var s jsonschema.Schema
	if err := json.Unmarshal(d.Tools[0].OutputSchema, &s); err != nil {
		t.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	session := ""
	for _, step := range []dialecttest.Step{
		{Number: 1, Total: 9, Text: "a"},
		{Number: 7, Total: 2, Text: "", Branch: "x"},
		{Number: 8, Total: 2, Text: "b", Branch: "y", From: 99},
		{Number: 8, Total: 2, Text: "c", Last: true},
	} {
		step.Session = session
		reply, err := d.Tools[0].Call(t.Context(), tool.Call{Args: json.RawMessage(call(step))})
		if err != nil || reply.Failed {
			t.Fatalf("%+v: %s, %v", step, reply.Text, err)
		}
		var instance any
		var out history.Output
		if err := json.Unmarshal(reply.JSON, &instance); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(reply.JSON, &out); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); err != nil {
			t.Errorf("%+v: %v\n%s", step, err, reply.JSON)
		}
		session = string(out.SessionID)
	}
}

package status_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

// A batch has a dialect without a model.
type batch struct {
	*testing.T
	engine *sequent.Engine
	tools  []tool.Tool
}

func newBatch(t *testing.T) *batch {
	b := &batch{T: t, engine: sequent.New(sequent.Config{})}
	b.tools = status.New(status.Config{Engine: b.engine}).Tools
	return b
}

// call calls a tool and checks its reply against its schema.
func (b *batch) call(ctx context.Context, name, args string) (string, error) {
	b.Helper()
	tl := b.tools[slices.IndexFunc(b.tools, func(t tool.Tool) bool { return t.Name == name })]
	r, err := tl.Call(ctx, tool.Call{Args: json.RawMessage(args), Caller: tool.Caller{Scope: tool.Scope{Name: "t"}}})
	if err != nil {
		if p, ok := err.(*tool.ProtocolError); ok {
			err = fmt.Errorf("%d %s", p.Code, p.Data)
		}
		return "", err
	}
	var s jsonschema.Schema
	var value any
	if err := json.Unmarshal(tl.OutputSchema, &s); err != nil {
		b.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(r.JSON, &value); err != nil {
		b.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		b.Errorf("%v\n%s", err, r.JSON)
	}
	return r.Text, nil
}

func (b *batch) texts(id sequent.ID) (texts []string) {
	s, err := b.engine.Session(b.Context(), id)
	if err != nil {
		return nil
	}
	for t := range s.All() {
		texts = append(texts, t.Branch+":"+t.Text)
	}
	return texts
}

// item returns a step of a batch on a branch that leaves at thought 1.
func item(thought, branch string, number int) string {
	from := ""
	if branch != "" {
		from = fmt.Sprintf(`,"branch_id":%q,"branch_from_thought":1`, branch)
	}
	return fmt.Sprintf(`{"thought":%q,"thought_number":%d,"total_thoughts":9,"next_thought_needed":true%s}`, thought, number, from)
}

func steps(items ...string) string {
	return `{"session_id":"s","steps":[` + strings.Join(items, ",") + `]}`
}

// A batch is recorded whole or not at all.
func TestBatch(t *testing.T) {
	t.Parallel()
	b := newBatch(t)
	const name = "sequential_thinking_batch"
	got, err := b.call(t.Context(), name, steps(item("a", "", 1), item("b", "x", 2), item("c", "", 2)))
	const want = `{"steps":[` +
		`{"thought_number":1,"total_thoughts":9,"next_thought_needed":true,"branches":[],"thought_history_length":1,"session_id":"s","status":"recorded"},` +
		`{"thought_number":2,"total_thoughts":9,"next_thought_needed":true,"branches":["x"],"thought_history_length":2,"session_id":"s","status":"branch"},` +
		`{"thought_number":2,"total_thoughts":9,"next_thought_needed":true,"branches":["x"],"thought_history_length":3,"session_id":"s","status":"recorded"}]}`
	if err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	long := strings.Repeat("x", 64<<10+1)
	for args, want := range map[string]string{
		steps(item("d", "", 3), item(long, "", 4), item("e", "", 5)):                                                                     `-32602 "Invalid sequential thinking batch params: steps[1]: `,
		steps(item("d", "", 3), item("", "", 4)):                                                                                         `-32602 "Invalid sequential thinking batch params: steps[1].thought is \"\"; it must be a string that is not empty"`,
		steps(item("d", "", 3), `{"thought":"e","total_thoughts":1,"next_thought_needed":true}`):                                         `-32602 "Missing required field: steps[1].thought_number"`,
		steps(item("d", "", 3), `{"thought":"e","thought_number":4,"total_thoughts":4,"next_thought_needed":true,"revises_thought":-1}`): `-32602 "Invalid sequential thinking batch params: steps[1].revises_thought is -1`,
		steps(): `-32602 "Invalid sequential thinking batch params: steps is []; it must be an array of 1 to 32 objects"`,
		steps(slices.Repeat([]string{item("d", "", 3)}, 33)...): `steps is longer than 32 items`,
	} {
		if got, err := b.call(t.Context(), name, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: got %s, %v, want %s", args, got, err, want)
		}
	}
	if got := b.texts("s"); !slices.Equal(got, []string{":a", "x:b", ":c"}) {
		t.Errorf("the session is %q", got)
	}
	if _, err := b.call(t.Context(), name, `{"steps":[`+strings.Join(slices.Repeat([]string{item("d", "", 3)}, 32), ",")+`]}`); err != nil {
		t.Errorf("32 steps of the default session: %v", err)
	}
}

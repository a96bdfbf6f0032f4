package status_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

// A batch has a dialect with a model that takes 200 ms.
type batch struct {
	*testing.T
	engine *sequent.Engine
	tools  []tool.Tool
	model  *timed
}

// timed is a model that answers after 200 ms with the guidance, or fails if that is "fail",
// or answers what cannot be used if it is "broken".
type timed struct {
	asked, most, now atomic.Int64
	mu               sync.Mutex
	prompts          []string
}

const thinkTime = 200 * time.Millisecond

func (m *timed) Write(ctx context.Context, p status.Prompt) (status.Answer, error) {
	m.asked.Add(1)
	m.most.Store(max(m.most.Load(), m.now.Add(1)))
	defer m.now.Add(-1)
	m.mu.Lock()
	m.prompts = append(m.prompts, p.User)
	m.mu.Unlock()
	select {
	case <-time.After(thinkTime):
	case <-ctx.Done():
		return status.Answer{}, &status.ModelError{Msg: "given up", Err: ctx.Err()}
	}
	_, guidance, _ := strings.Cut(p.User, "Guidance for it:\n")
	switch guidance {
	case "fail":
		return status.Answer{}, &status.ModelError{Msg: "it is down"}
	case "broken":
		return status.Answer{Text: `{"thought":"It en`, Model: "timed"}, nil
	}
	return status.Answer{Text: "on " + guidance, Model: "timed"}, nil
}

func newBatch(t *testing.T, parallel int) *batch {
	b := &batch{T: t, engine: sequent.New(sequent.Config{}), model: new(timed)}
	b.tools = status.New(status.Config{Engine: b.engine, Model: b.model, Parallel: parallel}).Tools
	return b
}

// call calls a tool and checks its reply against its schema.
func (b *batch) call(ctx context.Context, name, args string, progress func(string, float64, float64)) (string, error) {
	b.Helper()
	tl := b.tools[slices.IndexFunc(b.tools, func(t tool.Tool) bool { return t.Name == name })]
	r, err := tl.Call(ctx, tool.Call{Args: json.RawMessage(args), Caller: tool.Caller{Scope: tool.Scope{Name: "t"}}, Progress: progress})
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
	b := newBatch(t, 0)
	const name = "sequential_thinking_batch"
	got, err := b.call(t.Context(), name, steps(item("a", "", 1), item("b", "x", 2), item("c", "", 2)), nil)
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
		if got, err := b.call(t.Context(), name, args, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: got %s, %v, want %s", args, got, err, want)
		}
	}
	if got := b.texts("s"); !slices.Equal(got, []string{":a", "x:b", ":c"}) {
		t.Errorf("the session is %q", got)
	}
	if _, err := b.call(t.Context(), name, `{"steps":[`+strings.Join(slices.Repeat([]string{item("d", "", 3)}, 32), ",")+`]}`, nil); err != nil {
		t.Errorf("32 steps of the default session: %v", err)
	}
}

// Models write independent branches beside each other. Eight take twice as long as one, if
// four are written at a time. They are recorded in the order of the request.
//
// covers: 002/future-batch
func TestExternalBatchIsParallel(t *testing.T) {
	for parallel, rounds := range map[int]int64{0: 2, 1: 8, 8: 1, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			b := newBatch(t, parallel)
			if _, err := b.call(t.Context(), "sequential_thinking_batch", steps(item("p", "", 1)), nil); err != nil {
				t.Fatal(err)
			}
			var items, want []string
			want = append(want, ":p")
			for i := range 8 {
				items = append(items, item(fmt.Sprint(i), fmt.Sprint("b", i), 2))
				want = append(want, fmt.Sprintf("b%d:on %d", i, i))
			}
			var reported []float64
			start := time.Now()
			got, err := b.call(t.Context(), "sequential_thinking_external_batch", steps(items...), func(_ string, done, _ float64) { reported = append(reported, done) })
			took := time.Since(start)
			if err != nil || !strings.Contains(got, `"recorded":8`) {
				t.Fatalf("got %s, %v", got, err)
			}
			if want := time.Duration(rounds) * thinkTime; took != want {
				t.Errorf("%d at a time took %v, want %v", parallel, took, want)
			}
			if got := b.texts("s"); !slices.Equal(got, want) {
				t.Errorf("the session is %q, want %q", got, want)
			}
			if !slices.Equal(reported, []float64{1, 2, 3, 4, 5, 6, 7, 8}) {
				t.Errorf("reported %v", reported)
			}
		})
	}
}

// The time of eight branches in relation to that of one, with a real clock.
func TestExternalBatchTime(t *testing.T) {
	b := newBatch(t, 0)
	took := func(n int) time.Duration {
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf(`{"thought":"x","thought_number":2,"total_thoughts":9,"next_thought_needed":true,"branch_id":"n%d-%d","branch_from_thought":1}`, n, i))
		}
		start := time.Now()
		if got, err := b.call(t.Context(), "sequential_thinking_external_batch", steps(items...), nil); err != nil || !strings.Contains(got, fmt.Sprintf(`"recorded":%d`, n)) {
			t.Fatalf("got %s, %v", got, err)
		}
		return time.Since(start)
	}
	if _, err := b.call(t.Context(), "sequential_thinking_batch", steps(item("p", "", 1)), nil); err != nil {
		t.Fatal(err)
	}
	one, eight := took(1), took(8)
	t.Logf("eight branches take %.2f times as long as one (%v, %v)", float64(eight)/float64(one), eight, one)
}

// An item that fails says why and costs the others nothing, but those that build on it are
// not asked. Answers that cannot be used are in the reply.
func TestExternalBatchFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch(t, 0)
		got, err := b.call(t.Context(), "sequential_thinking_external_batch", steps(
			`{"thought":"mine","thought_number":1,"total_thoughts":9,"next_thought_needed":true,"use_llm":false}`,
			item("fail", "x", 2), item("on x", "x", 3), item("broken", "y", 2), item("good", "z", 2), item("after", "z", 3),
		), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`{"thought_number":2,"status":"failed","error":"Failed to generate thought with LLM: it is down"}`,
			`{"thought_number":3,"status":"failed","error":"not asked, because steps[1], which it builds on, failed"}`,
			`{"thought_number":2,"status":"failed","error":"Failed to generate thought with LLM: the model's answer is malformed; repeat the call, or choose another model","thought_content":"{\"thought\":\"It en","model_used":"timed"}`,
			`"thought_content":"on good"`, `"thought_content":"on after"`, `"recorded":3}`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("got %s\nwant %s", got, want)
			}
		}
		if got := b.texts("s"); !slices.Equal(got, []string{":mine", "z:on good", "z:on after"}) {
			t.Errorf("the session is %q", got)
		}
		if n := b.model.asked.Load(); n != 4 {
			t.Errorf("the model was asked %d times, want 4", n)
		}
		if !slices.ContainsFunc(b.model.prompts, func(p string) bool { return strings.Contains(p, "] on good") && strings.HasSuffix(p, "after") }) {
			t.Errorf("the second step of a branch was not shown the first: %q", b.model.prompts)
		}
		if got, err = b.call(t.Context(), "sequential_thinking_external_batch", steps(item("fail", "w", 2)), nil); err != nil || !strings.Contains(got, `"recorded":0`) {
			t.Errorf("all fail: got %s, %v", got, err)
		}
	})
}

// What a model has answered is recorded although the call is cancelled.
func TestExternalBatchCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch(t, 2)
		if _, err := b.call(t.Context(), "sequential_thinking_batch", steps(item("p", "", 1)), nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), thinkTime*3/2)
		defer cancel()
		var items []string
		for i := range 6 {
			items = append(items, item(fmt.Sprint(i), fmt.Sprint("b", i), 2))
		}
		_, err := b.call(ctx, "sequential_thinking_external_batch", steps(items...), nil)
		if err == nil || !strings.Contains(err.Error(), "the call was cancelled") {
			t.Errorf("got %v", err)
		}
		if got := b.texts("s"); len(got) != 3 {
			t.Errorf("the session is %q, want the thought and two answers", got)
		}
	})
}

package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

// A slow model waits for the duration in the name of the model, and records the prompts.
type slow struct {
	mu      sync.Mutex
	prompts []string
	ended   []error // of contexts
}

func (m *slow) Write(ctx context.Context, p status.Prompt) (status.Answer, error) {
	m.mu.Lock()
	m.prompts = append(m.prompts, p.User)
	m.mu.Unlock()
	kind, wait, _ := strings.Cut(p.Model, " ")
	d, err := time.ParseDuration(wait)
	if err != nil {
		return status.Answer{}, err
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
		m.mu.Lock()
		m.ended = append(m.ended, ctx.Err())
		m.mu.Unlock()
		return status.Answer{}, &status.ModelError{Msg: "given up", Err: ctx.Err()}
	}
	if kind == "fail" {
		return status.Answer{}, &status.ModelError{Msg: "it failed"}
	}
	return status.Answer{Text: "after " + wait, Model: "slow"}, nil
}

// A fixture has a dialect under test.
type fixture struct {
	*testing.T
	engine          *sequent.Engine
	model           *slow
	plain, external tool.Tool
	calls           sync.WaitGroup
}

func newFixture(t *testing.T) *fixture {
	d := &fixture{T: t, engine: sequent.New(sequent.Config{}), model: new(slow)}
	tools := status.New(status.Config{Engine: d.engine, Model: d.model}).Tools
	d.plain, d.external = tools[0], tools[1]
	return d
}

// call makes a call and returns when it waits in its line. The outcome follows.
func (d *fixture) call(ctx context.Context, tl tool.Tool, a args) *outcome {
	o := new(outcome)
	if a.Total == 0 {
		a.Total = 9
	}
	d.calls.Go(func() {
		begun := time.Now()
		o.reply, o.err = tl.Call(ctx, tool.Call{
			Args:   json.RawMessage(a.json()),
			Caller: tool.Caller{Scope: tool.Scope{Name: "test", Exclusive: true}},
		})
		o.took = time.Since(begun)
	})
	synctest.Wait()
	return o
}

type outcome struct {
	reply tool.Reply
	err   error
	took  time.Duration
}

// texts returns the thoughts of a session.
func (d *fixture) texts(id sequent.ID) (texts []string) {
	s, err := d.engine.Session(d.Context(), id)
	if errors.Is(err, sequent.ErrNotFound) {
		return nil
	}
	if err != nil {
		d.Fatal(err)
	}
	for t := range s.All() {
		texts = append(texts, t.Text)
	}
	return texts
}

func (d *fixture) want(o *outcome, took time.Duration, data string) {
	d.Helper()
	got := o.reply.Text
	if p, ok := errors.AsType[*tool.ProtocolError](o.err); ok {
		got = fmt.Sprintf("%d %s", p.Code, p.Data)
	} else if o.err != nil {
		got = o.err.Error()
	}
	if o.took != took || !strings.Contains(got, data) {
		d.Errorf("after %v the call is answered with %s; want %s after %v", o.took, got, data, took)
	}
}

// Calls are recorded in the order of arrival, however long they take. After a failure the
// next call runs. Other sessions are not delayed.
func TestCallsOfASessionKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, ctx := newFixture(t), t.Context()
		first := d.call(ctx, d.external, args{Thought: "p", Number: 1, Next: true, Session: "s", Model: "think 30s"})
		second := d.call(ctx, d.external, args{Thought: "q", Number: 2, Next: true, Session: "s", Model: "think 1s"})
		failed := d.call(ctx, d.external, args{Thought: "r", Number: 3, Next: true, Session: "s", Model: "fail 1s"})
		own := d.call(ctx, d.plain, args{Thought: "mine", Number: 3, Next: true, Session: "s"})
		last := d.call(ctx, d.external, args{Thought: "noted", Number: 4, Session: "s", UseLLM: new(false)})
		other := d.call(ctx, d.external, args{Thought: "p", Number: 1, Next: true, Session: "other", Model: "think 2s"})
		unnamed := d.call(ctx, d.external, args{Thought: "p", Number: 1, Next: true, Model: "think 3s"})
		next := d.call(ctx, d.plain, args{Thought: "x", Number: 2, Next: true})
		d.calls.Wait()

		d.want(first, 30*time.Second, `"thought_history_length":1`)
		d.want(second, 31*time.Second, `"thought_history_length":2`)
		d.want(failed, 32*time.Second, `-32603 "Failed to generate thought with LLM: it failed"`)
		d.want(own, 32*time.Second, `"thought_history_length":3`)
		d.want(last, 32*time.Second, `"status":"complete"`)
		d.want(other, 2*time.Second, `"thought_history_length":1`)
		d.want(unnamed, 3*time.Second, `"thought_history_length":1`)
		d.want(next, 3*time.Second, `"thought_history_length":2`)
		if got, want := d.texts("s"), []string{"after 30s", "after 1s", "mine", "noted"}; !slices.Equal(got, want) {
			t.Errorf("the session is %q, want %q", got, want)
		}
		if !slices.ContainsFunc(d.model.prompts, func(p string) bool {
			return strings.Contains(p, "[1] after 30s") && strings.Contains(p, "The problem:\np\n") && strings.HasSuffix(p, "\nq")
		}) {
			t.Errorf("the second call does not build on the first: %q", d.model.prompts)
		}
	})
}

// Cancelling a call ends its request, or its wait, and records nothing. Later calls
// continue.
func TestCancelledCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		soon, cancelSoon := context.WithTimeout(t.Context(), time.Second)
		defer cancelSoon()
		later, cancelLater := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancelLater()
		running := d.call(later, d.external, args{Thought: "p", Number: 1, Next: true, Session: "s", Model: "think 30s"})
		waiting := d.call(soon, d.external, args{Thought: "p", Number: 1, Next: true, Session: "s", Model: "think 1s"})
		own := d.call(soon, d.plain, args{Thought: "p", Number: 1, Next: true, Session: "s"})
		patient := d.call(t.Context(), d.external, args{Thought: "p", Number: 1, Next: true, Session: "s", Model: "think 7s"})
		d.calls.Wait()

		d.want(waiting, time.Second, "the call was cancelled; repeat the call")
		d.want(own, time.Second, "the call was cancelled; repeat the call")
		d.want(running, 5*time.Second, `-32603 "the call was cancelled; repeat the call"`)
		d.want(patient, 12*time.Second, `"thought_history_length":1`)
		if got := d.texts("s"); !slices.Equal(got, []string{"after 7s"}) {
			t.Errorf("the session is %q", got)
		}
		if len(d.model.ended) != 1 {
			t.Errorf("%d requests were cancelled, want 1", len(d.model.ended))
		}
	})
}

// Progress is reported until the model has answered, also while the call waits for
// others.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		before := d.call(t.Context(), d.external, args{Thought: "p", Number: 1, Next: true, Session: "s", Model: "think 1500ms"})
		var said []string
		call := tool.Call{
			Args:   json.RawMessage(args{Thought: "p", Number: 1, Total: 1, Session: "s", Model: "think 1s"}.json()),
			Caller: tool.Caller{Scope: tool.Scope{Name: "test"}},
			Progress: func(message string, done, total float64) {
				said = append(said, fmt.Sprint(message, ", ", done, " of ", total))
			},
		}
		if _, err := d.external.Call(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		d.want(before, 1500*time.Millisecond, `"thought_history_length":1`)
		want := []string{"waiting for think 1s, 0 of 0", "waiting for think 1s, 1 of 0", "waiting for think 1s, 2 of 0"}
		if !slices.Equal(said, want) {
			t.Errorf("the client is told %q, want %q", said, want)
		}
	})
}

// Without a model only calls with use_llm false are recorded.
func TestNoModel(t *testing.T) { synctest.Test(t, noModel) }

func noModel(t *testing.T) {
	d := newFixture(t)
	d.external = status.New(status.Config{Engine: d.engine}).Tools[1]
	refused := d.call(t.Context(), d.external, args{Thought: "p", Number: 1, Session: "s"})
	own := d.call(t.Context(), d.external, args{Thought: "mine", Number: 1, Session: "s", UseLLM: new(false)})
	d.calls.Wait()
	if p, ok := errors.AsType[*tool.ProtocolError](refused.err); !ok || p.Code != -32603 || own.err != nil {
		t.Errorf("got %v and %v", refused.err, own.err)
	}
	if got := d.texts("s"); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("the session is %q", got)
	}
}

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/tool"
)

type callFunc = func(context.Context, tool.Call) (tool.Reply, error)

func newTool(name string, a tool.Annotations, call callFunc) tool.Tool {
	schema := json.RawMessage(`{"type":"object"}`)
	return tool.Tool{Spec: tool.Spec{Name: name, Description: "It is " + name + ".", InputSchema: schema, Annotations: a}, Call: call}
}

// echo returns a tool that replies with its arguments.
func echo(name string) tool.Tool {
	return newTool(name, tool.Annotations{}, func(_ context.Context, c tool.Call) (tool.Reply, error) {
		return tool.Reply{Text: string(c.Args)}, nil
	})
}

// tools returns tools that echo, that need two arguments, and that fail.
func tools() []tool.Tool {
	pick := newTool("pick", tool.Annotations{}, func(_ context.Context, c tool.Call) (tool.Reply, error) {
		for _, name := range []string{"n", "of"} {
			if !strings.Contains(string(c.Args), `"`+name+`"`) {
				return tool.Reply{Text: name + " is not there", Failed: true}, nil
			}
		}
		return tool.Reply{Text: "ok"}, nil
	})
	pick.InputSchema = json.RawMessage(`{"type":"object","required":["n","of"]}`)
	return []tool.Tool{echo("look"), pick, newTool("fail", tool.Annotations{}, func(context.Context, tool.Call) (tool.Reply, error) {
		return tool.Reply{}, errors.New("/home/me/secret: permission denied")
	}), newTool("refuse", tool.Annotations{}, func(context.Context, tool.Call) (tool.Reply, error) {
		return tool.Reply{}, &tool.ProtocolError{Code: -32602, Message: "Invalid params", Data: json.RawMessage(`"a is missing"`)}
	})}
}

func question() []llm.Message { return []llm.Message{{Role: llm.User, Text: "?"}} }

// run runs an agent to its end and returns one line per event.
func run(ctx context.Context, cfg agent.Config) (events []string, last agent.Event, err error) {
	cfg.Messages = question()
	for e, err := range agent.Run(ctx, cfg) {
		if err != nil {
			return events, e, err
		}
		what := ""
		switch {
		case e.Response != nil:
			what = "answer " + e.Response.Message.Text
		case e.Calling != nil:
			what = "calling " + e.Calling.Name
		case e.Called != nil:
			what = fmt.Sprintf("called %v [%s] %s", e.Called.Reply.Failed, e.Called.Refusal, e.Called.Text)
		case e.Done != nil:
			what = fmt.Sprintf("%s %s", e.Done.Reason, e.Done.Text)
		default:
			continue
		}
		last = e
		events = append(events, fmt.Sprintf("%d %s", e.Step, strings.TrimSpace(what)))
	}
	return events, last, nil
}

func TestRun(t *testing.T) {
	call := llmtest.CallOf
	tests := []struct {
		name   string
		cfg    agent.Config
		script []llmtest.Turn
		want   []string
	}{
		{"an answer", agent.Config{}, []llmtest.Turn{llmtest.Say("42")}, []string{"1 answer 42", "1 answered 42"}},
		{"a call", agent.Config{}, []llmtest.Turn{call("look", `{"a":1}`), llmtest.Say("1")}, []string{
			"1 answer", "1 calling look", `1 called false [] {"a":1}`, "2 answer 1", "2 answered 1",
		}},
		{"an unknown tool", agent.Config{}, []llmtest.Turn{call("lok", `{}`), llmtest.Say("sorry")}, []string{
			"1 answer", "1 calling lok", `1 called true [no tool "lok"] There is no tool "lok". The tools are: look, pick, fail, refuse.`,
			"1 answer sorry", "1 answered sorry",
		}},
		{"no tools", agent.Config{Tools: []tool.Tool{}}, []llmtest.Turn{call("look", `{}`), llmtest.Say("sorry")}, []string{
			"1 answer", "1 calling look", `1 called true [no tool "look"] There is no tool "look". The tools are: none.`,
			"1 answer sorry", "1 answered sorry",
		}},
		{"arguments", agent.Config{}, []llmtest.Turn{{Calls: []llm.Call{
			{Name: "look", Args: ""}, {Name: "look", Args: `"{\"a\": 1}"`}, {Name: "look", Args: `{"a":`}, {Name: "look", Args: `[1]`},
		}}, llmtest.Say("ok")}, []string{
			"1 answer",
			"1 calling look", "1 called false [] {}",
			"1 calling look", `1 called false [] {"a": 1}`,
			"1 calling look", "1 called true [arguments that are not a JSON object] look was not called: the arguments are not valid JSON " +
				"(unexpected end of JSON input); they must be a JSON object.",
			"1 calling look", "1 called true [arguments that are not a JSON object] look was not called: the arguments are [1]; " +
				"they must be a JSON object.",
			"2 answer ok", "2 answered ok",
		}},
		{"refused calls cost no step once", agent.Config{MaxSteps: 2}, []llmtest.Turn{
			call("pick", `{"n":1}`), call("pick", `{}`), call("pick", `{"n":1,"of":"2"}`),
		}, []string{
			"1 answer", "1 calling pick", "1 called true [of missing] of is not there\nMissing arguments: of.",
			"1 answer", "1 calling pick", "1 called true [n, of missing] n is not there\nMissing arguments: n, of.",
			"2 answer", "2 calling pick", "2 called false [] ok", "2 out_of_steps",
		}},
		{"too many tokens", agent.Config{TokenBudget: 30}, []llmtest.Turn{call("look", `{}`), call("look", `{}`)}, []string{
			"1 answer", "1 calling look", "1 called false [] {}", "2 answer", "2 calling look", "2 called false [] {}", "2 out_of_tokens",
		}},
		{"an answer cut off", agent.Config{}, []llmtest.Turn{{Text: "It is", Stop: llm.StopLength}}, []string{"1 answer It is", "1 cut_off It is"}},
		{"a long result", agent.Config{}, []llmtest.Turn{call("look", `{"a":"x`+strings.Repeat("ä", 16390)+`"}`), llmtest.Say("ok")}, []string{
			"1 answer", "1 calling look", `1 called false [] {"a":"x` + strings.Repeat("ä", 16380) + "\n[22 more bytes are left out]",
			"2 answer ok", "2 answered ok",
		}},
		{"a tool that fails", agent.Config{}, []llmtest.Turn{call("fail", `{}`), llmtest.Say("ok")}, []string{
			"1 answer", "1 calling fail", "1 called true [] fail failed, for no reason that you can do anything about.",
			"2 answer ok", "2 answered ok",
		}},
		{"a protocol error", agent.Config{}, []llmtest.Turn{call("refuse", `{}`), llmtest.Say("ok")}, []string{
			"1 answer", "1 calling refuse", `1 called true [refuse was not called: Invalid params "a is missing"] ` +
				`refuse was not called: Invalid params "a is missing"`, "1 answer ok", "1 answered ok",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Model = llmtest.New(tt.script...)
			if tt.cfg.Tools == nil {
				tt.cfg.Tools = tools()
			}
			got, last, err := run(t.Context(), tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if n := len(tt.script); last.Progress.Usage != (llm.Usage{Input: 10 * n, Output: 5 * n}) {
				t.Errorf("got usage %+v after %d answers", last.Progress.Usage, n)
			}
		})
	}
}

// TestConversation checks the request of the second step.
func TestConversation(t *testing.T) {
	m := llmtest.New(
		llmtest.Turn{Text: "Let me see.", Reasoning: "hm", Calls: []llm.Call{{ID: "a", Name: "x_y", Args: `{"n":1}`}, {ID: "b", Name: "x_y_2", Args: `{"n":2}`}}},
		llmtest.Say("done"),
	)
	_, last, err := run(t.Context(), agent.Config{Model: m, Tools: []tool.Tool{echo("x/y"), echo("x.y"), echo("")}, MaxSteps: 2})
	if err != nil {
		t.Fatal(err)
	}
	q := m.Requests()[1]
	if o := q.Tools; len(o) != 3 || o[0].Name != "x_y" || o[1].Name != "x_y_2" || o[2].Name != "tool" {
		t.Errorf("got tools %+v, want x_y x_y_2 tool", o)
	}
	sent := q.Messages
	if len(sent) != 5 || sent[1].Role != llm.Assistant || len(sent[1].Calls) != 2 ||
		sent[2].CallID != "a" || sent[2].Text != `{"n":1}` || sent[2].Role != llm.Result || sent[3].CallID != "b" || sent[3].Text != `{"n":2}` {
		t.Errorf("second request has %+v", sent)
	}
	if sent[4].Role != llm.User || !strings.Contains(sent[4].Text, "last step") || !q.NoCalls {
		t.Errorf("last step: last message is %+v", sent[4])
	}
	if all := last.Progress.Messages; len(all) != 4 || all[3].Text != "done" || all[0].Reasoning != "" {
		t.Errorf("final conversation is %+v", all)
	}
}

// Read-only tools run concurrently, others alone.
func TestConcurrentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, maxRunning, writes atomic.Int32
		slow := func(_ context.Context, c tool.Call) (tool.Reply, error) {
			maxRunning.Store(max(maxRunning.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			return tool.Reply{Text: string(c.Args)}, nil
		}
		write := func(ctx context.Context, c tool.Call) (tool.Reply, error) {
			if n := running.Load(); n != 0 {
				t.Errorf("%d tools run concurrently with one that writes", n)
			}
			writes.Add(1)
			return slow(ctx, c)
		}
		var calls []llm.Call
		for i, name := range strings.Fields("read read read write write read read") {
			calls = append(calls, llm.Call{ID: fmt.Sprint(i), Name: name, Args: fmt.Sprintf(`{"n":%d}`, i)})
		}
		m := llmtest.New(llmtest.Turn{Calls: calls}, llmtest.Say("ok"))
		start := time.Now()
		_, last, err := run(t.Context(), agent.Config{Model: m, Tools: []tool.Tool{
			newTool("read", tool.Annotations{ReadOnly: true}, slow), newTool("write", tool.Annotations{}, write),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 4*time.Second || maxRunning.Load() != 3 || writes.Load() != 2 {
			t.Errorf("took %v with %d concurrent calls, want 4s with 3", took, maxRunning.Load())
		}
		for i, m := range last.Progress.Messages[1 : 1+len(calls)] {
			if m.CallID != fmt.Sprint(i) || m.Text != calls[i].Args {
				t.Errorf("result %d is %+v", i, m)
			}
		}
	})
}

func TestModelError(t *testing.T) {
	want := &llm.Error{Code: llm.CodeUnavailable, Msg: "down"}
	events, _, err := run(t.Context(), agent.Config{Model: llmtest.New(llmtest.CallOf("look", "{}"), llmtest.Turn{Err: want}), Tools: []tool.Tool{echo("look")}})
	if !errors.Is(err, want) || len(events) != 3 {
		t.Errorf("got %v after %q", err, events)
	}
}

func TestCancel(t *testing.T) {
	t.Run("of the model", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := llmtest.New(llmtest.Turn{Answer: func(ctx context.Context, _ llm.Request) llmtest.Turn {
			cancel()
			<-ctx.Done()
			return llmtest.Say("too late")
		}})
		if events, _, err := run(ctx, agent.Config{Model: m}); !errors.Is(err, context.Canceled) || len(events) != 0 {
			t.Errorf("got %v after %q", err, events)
		}
	})
	t.Run("of a tool", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := false
		wait := newTool("wait", tool.Annotations{}, func(ctx context.Context, _ tool.Call) (tool.Reply, error) {
			cancel()
			<-ctx.Done()
			ended = true
			return tool.Reply{}, ctx.Err()
		})
		_, _, err := run(ctx, agent.Config{Model: llmtest.New(llmtest.CallOf("wait", "{}")), Tools: []tool.Tool{wait}})
		if !errors.Is(err, context.Canceled) || !ended {
			t.Errorf("got %v; the tool has ended: %v", err, ended)
		}
	})
	t.Run("by break", func(t *testing.T) {
		ended := make(chan struct{}, 2)
		wait := newTool("wait", tool.Annotations{ReadOnly: true}, func(ctx context.Context, c tool.Call) (tool.Reply, error) {
			if string(c.Args) == `{"wait":true}` {
				<-ctx.Done()
			}
			ended <- struct{}{}
			return tool.Reply{Text: "ok"}, nil
		})
		m := llmtest.New(llmtest.Turn{Calls: []llm.Call{{Name: "wait", Args: "{}"}, {Name: "wait", Args: `{"wait":true}`}}})
		for e, err := range agent.Run(t.Context(), agent.Config{Model: m, Tools: []tool.Tool{wait}, Messages: question()}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Called != nil {
				break
			}
		}
		if len(ended) != 2 {
			t.Errorf("%d tools have ended, want 2", len(ended))
		}
	})
	t.Run("by the timeout of a tool", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			wait := newTool("wait", tool.Annotations{}, func(ctx context.Context, _ tool.Call) (tool.Reply, error) {
				<-ctx.Done()
				return tool.Reply{}, ctx.Err()
			})
			events, _, err := run(t.Context(), agent.Config{Model: llmtest.New(llmtest.CallOf("wait", "{}"), llmtest.Say("ok")), Tools: []tool.Tool{wait}})
			if err != nil || !strings.Contains(strings.Join(events, "\n"), "did not answer in time") {
				t.Errorf("got %v after %q", err, events)
			}
		})
	})
}

// A resumed run makes the calls that have no results, and only those, but for one that had begun. The
// step that did not count is not given back again.
func TestResume(t *testing.T) {
	asks := func(calls ...llm.Call) llm.Message { return llm.Message{Role: llm.Assistant, Calls: calls} }
	look := func(id string) llm.Call { return llm.Call{ID: id, Name: "look", Args: `{"id":"` + id + `"}`} }
	result := func(id, refusal string) llm.Message {
		return llm.Message{Role: llm.Result, CallID: id, Text: "known", Refusal: refusal}
	}
	bad := asks(llm.Call{ID: "a", Name: "pick", Args: `{"n":1}`})
	for _, tt := range []struct {
		name string
		from agent.Progress
		want string
	}{
		{"after a result", agent.Progress{Step: 7, Messages: []llm.Message{asks(look("a"), look("b")), result("a", "")}},
			"7 calling look\n7 called false [] {\"id\":\"b\"}\n8 answer ok\n8 answered ok"},
		{"during a call", agent.Progress{Step: 1, Begun: "a", Messages: []llm.Message{asks(look("a"))}},
			"1 called true [] The program ended during this call. It is not known whether it did anything: find out before you call it again.\n" +
				"2 answer ok\n2 answered ok"},
		{"after the answer", agent.Progress{Step: 1, Messages: []llm.Message{{Role: llm.Assistant, Text: "54"}}}, "1 answered 54"},
		{"after a refusal", agent.Progress{Spared: true, Messages: []llm.Message{bad, result("a", "of missing")}}, "1 answer ok\n1 answered ok"},
		{"before a refusal", agent.Progress{Step: 1, Messages: []llm.Message{bad}},
			"1 calling pick\n1 called true [of missing] of is not there\nMissing arguments: of.\n1 answer ok\n1 answered ok"},
		{"before the next refusal", agent.Progress{Step: 1, Spared: true, Messages: []llm.Message{bad}},
			"1 calling pick\n1 called true [of missing] of is not there\nMissing arguments: of.\n2 answer ok\n2 answered ok"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, n := slices.Clone(tt.from.Messages), len(tt.from.Messages)
			events, last, err := run(t.Context(), agent.Config{Model: llmtest.New(llmtest.Say("ok")), Tools: tools(), MaxSteps: 9, Progress: tt.from})
			if got := strings.Join(events, "\n"); err != nil || got != tt.want {
				t.Errorf("got %v after\n%s\nwant\n%s", err, got, tt.want)
			}
			if all := last.Progress.Messages; !reflect.DeepEqual(all[:n], before) || !reflect.DeepEqual(tt.from.Messages, before) {
				t.Errorf("the conversation before is now %+v", all)
			}
		})
	}
}

// A server that omits ids makes every answer's first call "call_1". That one has a result does not
// mean that the one of the next answer has.
func TestResumeWithRepeatedIDs(t *testing.T) {
	call := llmtest.Turn{Calls: []llm.Call{{ID: "call_1", Name: "look", Args: "{}"}}}
	var at agent.Progress
	for e, err := range agent.Run(t.Context(), agent.Config{Model: llmtest.New(call, call), Tools: tools(), Messages: question()}) {
		if err != nil {
			t.Fatal(err)
		}
		if at = e.Progress; e.Calling != nil && e.Step == 2 {
			break
		}
	}
	events, _, err := run(t.Context(), agent.Config{Model: llmtest.New(llmtest.Say("ok")), Tools: tools(), Progress: at})
	if err != nil || len(events) != 3 || !strings.Contains(events[0], "not known whether it did anything") {
		t.Errorf("got %v after %q", err, events)
	}
}

// A model sees the images of a result; those that none can see are named.
func TestImages(t *testing.T) {
	camera := newTool("camera", tool.Annotations{}, func(context.Context, tool.Call) (tool.Reply, error) {
		return tool.Reply{Text: "Here.", Images: []tool.Image{
			{MediaType: "image/png", Data: []byte("png")}, {MediaType: "image/tiff", Data: []byte("tiff")}, {MediaType: "image/png"},
		}}, nil
	})
	m := llmtest.New(llmtest.CallOf("camera", "{}"), llmtest.Say("A cat."))
	if _, _, err := run(t.Context(), agent.Config{Model: m, Tools: []tool.Tool{camera}}); err != nil {
		t.Fatal(err)
	}
	got := m.Requests()[1].Messages[2]
	if len(got.Images) != 1 || string(got.Images[0].Data) != "png" || !strings.Contains(got.Text, "[image 1 of this result, shown once: image/png, 3 bytes]") ||
		!strings.Contains(got.Text, `"image/tiff" is not a type`) || !strings.Contains(got.Text, "image/png, 0 bytes, the limit") {
		t.Errorf("the model receives %+v", got)
	}
}

// Pieces of calls are passed on with their step, before the answer.
func TestCallPieces(t *testing.T) {
	const args = `{"thought":"It is the pool."}`
	model := llmtest.New(llmtest.CallOf("think", args), llmtest.Say("done"))
	var got strings.Builder
	for e, err := range agent.Run(t.Context(), agent.Config{Model: model, Tools: []tool.Tool{echo("think")}, Messages: question()}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Call != nil:
			if e.Step != 1 || e.Call.Name != "think" || e.Call.Index != 0 {
				t.Errorf("got piece %+v in step %d", *e.Call, e.Step)
			}
			got.WriteString(e.Call.Args)
		case e.Response != nil && e.Step == 1 && got.String() != args:
			t.Errorf("before the answer the pieces add up to %q", got.String())
		}
	}
	if got.String() != args {
		t.Errorf("the pieces add up to %q", got.String())
	}
}

package guided_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/guided"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/tool"
)

// An advice is what a reply holds.
type advice struct {
	Continue bool   `json:"should_continue"`
	Next     *int   `json:"next_thought_number"`
	Reason   string `json:"stop_reason"`
	Number   int    `json:"current_thought_number"`
	Total    int    `json:"total_thoughts"`
	Call     *call  `json:"next_call_arguments"`
}

// An agent calls the tool and holds every reply against the contract.
type agent struct {
	engine *sequent.Engine
	tool   tool.Tool
	input  *jsonschema.Resolved
	output *jsonschema.Resolved
}

func newAgent(t testing.TB, limits sequent.Limits) *agent {
	t.Helper()
	a := &agent{engine: sequent.New(sequent.Config{Limits: limits})}
	a.tool = guided.New(guided.Config{Engine: a.engine}).Tools[0]
	a.input, a.output = resolve(t, a.tool.InputSchema), resolve(t, a.tool.OutputSchema)
	return a
}

func resolve(t testing.TB, raw json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func caller(scope string) tool.Caller {
	return tool.Caller{Scope: tool.Scope{Name: scope, Exclusive: true}}
}

// call makes a call. Whatever it is, the reply fits the published schema, and
// what it recommends is a call that fits, too.
func (a *agent) call(t testing.TB, scope, args string) (got advice, failed bool) {
	t.Helper()
	reply, err := a.tool.Call(t.Context(), tool.Call{Args: json.RawMessage(args), Caller: caller(scope)})
	if err != nil {
		t.Fatalf("%v\ncall: %.500s", err, args)
	}
	var instance any
	if err := json.Unmarshal(reply.JSON, &instance); err != nil {
		t.Fatalf("the reply is no JSON: %v\n%s", err, reply.JSON)
	}
	if err := a.output.Validate(instance); err != nil {
		t.Fatalf("the reply is not as published: %v\n%s\ncall: %.500s", err, reply.JSON, args)
	}
	if err := json.Unmarshal(reply.JSON, &got); err != nil {
		t.Fatal(err)
	}
	whole := got.Continue == (got.Call != nil) && got.Continue == (got.Next != nil)
	if !whole || got.Continue && *got.Next != got.Call.Number {
		t.Fatalf("the reply contradicts itself: %s\ncall: %.500s", reply.JSON, args)
	}
	if got.Call != nil {
		next := *got.Call
		next.write()
		if err := json.Unmarshal([]byte(next.String()), &instance); err != nil {
			t.Fatal(err)
		}
		if err := a.input.Validate(instance); err != nil {
			t.Fatalf("the recommended call is not as published: %v\n%s", err, reply.JSON)
		}
	}
	return got, reply.Failed
}

// write is what an agent does with a recommended call.
func (c *call) write() {
	if c.Thought == "" {
		c.Thought = "What follows from that."
	}
}

// follow makes a call, and then those that are recommended until none is. A recommended
// call is accepted, unless nothing more is or its thought was left out.
func (a *agent) follow(t testing.TB, scope, args string, most int) {
	t.Helper()
	for _, write := range []bool{true, false} {
		a.followAs(t, scope, args, most, write)
	}
}

// followAs follows the recommendations, word for word if write is false: without a thought
// where they have none.
func (a *agent) followAs(t testing.TB, scope, args string, most int, write bool) {
	t.Helper()
	got, _ := a.call(t, scope, args)
	var trace []string
	for n := 0; got.Continue; n++ {
		if n == most {
			t.Fatalf("%d calls after %.500s there is no end:\n%s", n, args, strings.Join(trace[max(0, n-9):], "\n"))
		}
		if write {
			got.Call.write()
		}
		next, written := got.Call.String(), got.Call.Thought != ""
		trace = append(trace, next)
		number := got.Call.Number
		var failed bool
		got, failed = a.call(t, scope, next)
		switch {
		case failed == written && got.Reason != "limit_reached", !written && got.Reason != "validation_error":
			t.Fatalf("the recommended call %s is answered with %s, failed: %t\nafter: %.500s", next, got.Reason, failed, args)
		case got.Number != number:
			t.Fatalf("the recommended call %s was understood as number %d", next, got.Number)
		}
	}
}

// situations are what a scope may have before it: calls that are made first.
func situations() map[string][]call {
	one := 1
	x := "x"
	return map[string][]call{
		"nothing":   nil,
		"active":    {{Thought: "a", Number: 1, Total: 3, Next: true}},
		"completed": {{Thought: "a", Number: 1, Total: 3, Next: true}, {Thought: "b", Number: 2, Total: 2}},
		"branched":  {{Thought: "a", Number: 1, Total: 3, Next: true}, {Thought: "b", Number: 2, Total: 3, Next: true, From: &one, Branch: &x}},
	}
}

// begin brings a scope into a situation.
func (a *agent) begin(t testing.TB, scope string, calls []call) {
	t.Helper()
	for _, c := range calls {
		if got, failed := a.call(t, scope, c.String()); failed {
			t.Fatalf("%s: %s", c, got.Reason)
		}
	}
}

func TestFollowingEndsFromEveryState(t *testing.T) {
	flags := []bool{false, true}
	origins := []*int{nil, new(0), new(1), new(2)}
	branches := []*string{nil, new("x"), new("y"), new("a\nb")}
	for name, before := range situations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, scope := newAgent(t, sequent.Limits{}), 0
			for _, number := range []int{0, 1, 3} {
				for _, total := range []int{-1, 2, 6} {
					for _, next := range flags {
						for _, more := range flags {
							for _, revision := range flags {
								for _, from := range origins {
									for _, branch := range branches {
										c := call{"t", number, total, next, revision, from, branch, more}
										for _, write := range flags {
											scope++
											in := fmt.Sprint(scope)
											a.begin(t, in, before)
											a.followAs(t, in, c.String(), max(number, total, 1)+3, write)
										}
									}
								}
							}
						}
					}
				}
			}
		})
	}
}

// Each argument is right, missing or wrong, in every combination.
func TestFollowingEndsFromEveryFault(t *testing.T) {
	needtest.Long(t)
	forms := []struct {
		name  string
		forms []string
	}{
		{"thought", []string{`"t"`, "", `" "`}},
		{"thoughtNumber", []string{`2`, "", `"two"`}},
		{"totalThoughts", []string{`3`, "", `{}`}},
		{"nextThoughtNeeded", []string{`true`, "", `"maybe"`}},
		{"isRevision", []string{`true`, `1`}},
		{"branchFromThought", []string{`null`, "", `"first"`}},
		{"branchId", []string{`"x"`, "", `["x"]`}},
		{"needsMoreThoughts", []string{`true`, ""}},
	}
	for _, name := range []string{"active", "completed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, before := newAgent(t, sequent.Limits{}), situations()[name]
			scope := 0
			var each func(i int, members []string)
			each = func(i int, members []string) {
				if i < len(forms) {
					for _, f := range forms[i].forms {
						if f == "" {
							each(i+1, members)
						} else {
							each(i+1, append(members[:len(members):len(members)], fmt.Sprintf("%q:%s", forms[i].name, f)))
						}
					}
					return
				}
				for _, write := range []bool{true, false} {
					scope++
					in := fmt.Sprint(scope)
					a.begin(t, in, before)
					a.followAs(t, in, "{"+strings.Join(members, ",")+"}", 9, write)
				}
			}
			each(0, nil)
		})
	}
}

// A full session ends whatever the agent wants, and number 1 begins another.
func TestFullSession(t *testing.T) {
	a := newAgent(t, sequent.Limits{Thoughts: 3, Branches: 1})
	c := call{Thought: "t", Number: 1, Total: 1 << 50, Next: true}
	a.followAs(t, "s", c.String(), 3, true)
	c.Number = 4
	if got, failed := a.call(t, "s", c.String()); !failed || got.Reason != "limit_reached" || got.Continue {
		t.Errorf("a fourth thought of three is answered with %+v", got)
	}
	c.Number = 1
	if got, failed := a.call(t, "s", c.String()); failed || got.Reason != "next_thought_required" {
		t.Errorf("number 1 after a full session is answered with %+v", got)
	}
	c.Number, c.From, c.Branch = 2, new(1), new("x")
	if got, failed := a.call(t, "s", c.String()); failed {
		t.Errorf("the one branch is answered with %+v", got)
	}
	c.Branch = new("y")
	if got, failed := a.call(t, "s", c.String()); !failed || got.Reason != "limit_reached" || got.Continue {
		t.Errorf("a second branch of one is answered with %+v", got)
	}
	page, err := a.engine.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 2 {
		t.Errorf("there are %d sessions (%v), want 2", len(page.Headers), err)
	}
}

func FuzzFollow(f *testing.F) {
	for _, before := range situations() {
		for _, c := range before {
			f.Add([]byte(c.String()), []byte(c.String()))
		}
	}
	for _, s := range []string{
		``, `null`, `{}`, `[]`, `"{}"`, `{"thought":"a"}`, `{"thought":"a","thought":7}`,
		`{"thoughtNumber":9007199254740991,"totalThoughts":1e300,"nextThoughtNeeded":"TRUE","branchId":"\ud800"}`,
		`{"thought":"a","thoughtNumber":9007199254740991,"totalThoughts":2,"nextThoughtNeeded":true,"isRevision":true,"branchFromThought":9007199254740990,"branchId":"x","needsMoreThoughts":true}`,
		"{\"thought\":\"\xff\"}",
	} {
		f.Add([]byte(s), []byte(s))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a := newAgent(t, sequent.Limits{Thoughts: 20, Text: 200, Name: 10, Branches: 3})
		a.call(t, "s", string(first))
		a.follow(t, "s", string(second), 25)
	})
}

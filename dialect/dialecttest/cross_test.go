package dialecttest_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/classic"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/guided"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

// A speaker is a dialect, and how it says things.
type speaker struct {
	name  string
	build func(e *sequent.Engine) dialect.Dialect
	args  func(s step) string
	names bool // a call can name a session; else it means its scope's
}

type step struct {
	text    string
	number  int
	last    bool
	revises int
	branch  string
	from    int
	session sequent.ID
}

// camel is what most dialects have in common.
type camel struct {
	Thought  string     `json:"thought"`
	Number   int        `json:"thoughtNumber"`
	Total    int        `json:"totalThoughts"`
	Next     bool       `json:"nextThoughtNeeded"`
	Revision bool       `json:"isRevision"`
	Revises  int        `json:"revisesThought,omitzero"`
	From     *int       `json:"branchFromThought"`
	Branch   *string    `json:"branchId"`
	More     bool       `json:"needsMoreThoughts"`
	Session  sequent.ID `json:"sessionId,omitzero"`
}

func camelArgs(s step) string {
	c := camel{
		Thought: s.text, Number: s.number, Total: 9, Next: !s.last,
		Revision: s.revises > 0, Revises: s.revises, Session: s.session,
	}
	if s.branch != "" {
		c.From, c.Branch = &s.from, &s.branch
	}
	raw, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// snake is how status has it.
type snake struct {
	Thought string     `json:"thought"`
	Number  int        `json:"thought_number"`
	Total   int        `json:"total_thoughts"`
	Next    bool       `json:"next_thought_needed"`
	Revises int        `json:"revises_thought,omitzero"`
	From    int        `json:"branch_from_thought,omitzero"`
	Branch  string     `json:"branch_id,omitzero"`
	Session sequent.ID `json:"session_id,omitzero"`
}

func snakeArgs(s step) string {
	raw, err := json.Marshal(snake{
		Thought: s.text, Number: s.number, Total: 9, Next: !s.last,
		Revises: s.revises, From: s.from, Branch: s.branch, Session: s.session,
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func speakers() []speaker {
	log := standard.Render{Markdown: dialecttest.Log, JSON: dialecttest.Log, Mermaid: dialecttest.Log}
	return []speaker{
		{"standard", func(e *sequent.Engine) dialect.Dialect {
			return standard.New(standard.Config{Engine: e, Render: log})
		}, camelArgs, true},
		{"classic", func(e *sequent.Engine) dialect.Dialect { return classic.New(classic.Config{Engine: e}) }, camelArgs, false},
		{"guided", func(e *sequent.Engine) dialect.Dialect { return guided.New(guided.Config{Engine: e}) }, camelArgs, false},
		{"history", func(e *sequent.Engine) dialect.Dialect { return history.New(history.Config{Engine: e}) }, camelArgs, true},
		{"status", func(e *sequent.Engine) dialect.Dialect { return status.New(status.Config{Engine: e}) }, snakeArgs, true},
	}
}

func say(t *testing.T, sp speaker, d dialect.Dialect, name, args string) string {
	t.Helper()
	for _, tl := range d.Tools {
		if tl.Name != name {
			continue
		}
		reply, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(args), Caller: tool.Caller{Scope: tool.Scope{Name: "s"}}})
		if err != nil || reply.Failed {
			t.Fatalf("%s answers %s with %s, %v", sp.name, args, reply.Text, err)
		}
		return reply.Text
	}
	t.Fatalf("%s has no tool %s", sp.name, name)
	return ""
}

// labels are of one dialect, and mean nothing to the others.
var labels = regexp.MustCompile(` \w+\.\w+="[^"]*"`)

// A session that is begun in one dialect is read and continued in each that can
// name it, and after that in the first again.
func TestSessionsCrossDialects(t *testing.T) {
	all := speakers()
	for _, first := range all {
		for _, second := range all {
			if !second.names {
				continue
			}
			t.Run(first.name+" "+second.name, func(t *testing.T) {
				e := sequent.New(sequent.Config{})
				a, b, reader := first.build(e), second.build(e), all[0].build(e)
				think := a.Tools[0].Name
				var id sequent.ID
				in := func(s step) step {
					if first.names {
						s.session = id
					}
					return s
				}
				say(t, first, a, think, first.args(step{text: "begun", number: 1}))
				page, err := e.Sessions(t.Context(), sequent.Query{})
				if err != nil || len(page.Headers) != 1 || page.Headers[0].Dialect != first.name {
					t.Fatalf("the sessions are %+v, %v", page.Headers, err)
				}
				id = page.Headers[0].ID
				say(t, first, a, think, first.args(in(step{text: "gone on", number: 2})))
				say(t, first, a, think, first.args(in(step{text: "branched", number: 3, branch: "x", from: 1})))

				recalled := say(t, all[0], reader, "recall_thinking", fmt.Sprintf(`{"sessionId":%q,"view":"log"}`, id))
				for _, text := range []string{"begun", "gone on", "branched"} {
					if !strings.Contains(recalled, text) {
						t.Errorf("recall has no %q:\n%s", text, recalled)
					}
				}

				think = b.Tools[0].Name
				say(t, second, b, think, second.args(step{text: "continued", number: 4, branch: "x", from: 1, session: id}))
				say(t, second, b, think, second.args(step{text: "revised", number: 3, revises: 2, session: id}))

				think = a.Tools[0].Name
				say(t, first, a, think, first.args(in(step{text: "concluded", number: 4, last: true})))

				s, err := e.Session(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				_, got, _ := strings.Cut(dialecttest.Log(s), "\n")
				got = labels.ReplaceAllString(got, "")
				want := `1: 1/9 "begun"
2: 2/9 "gone on"
3: 3/9 branch="x" from=1 <1 "branched"
4: 4/9 branch="x" from=1 "continued"
5: 3/9 revises=2 revision <2 ^2 "revised"
6: 4/9 last "concluded"
`
				if got != want || s.State() != sequent.Completed {
					t.Errorf("the session is %s:\n%swant:\n%s", s.State(), got, want)
				}
				if page, err := e.Sessions(t.Context(), sequent.Query{}); err != nil || len(page.Headers) != 1 {
					t.Errorf("there are %d sessions, %v", len(page.Headers), err)
				}
			})
		}
	}
}

package standard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/tool"
)

func build(t testing.TB, env dialect.Env) dialect.Dialect {
	limit := 0
	if strings.Contains(t.Name(), "reply-limit.txtar") {
		limit = 500
	}
	return standard.New(standard.Config{
		Engine: env.Engine, Rand: env.Rand, ReplyLimit: limit,
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

// A form that has no function is not offered, and nothing links to it.
func TestFormsOfSessions(t *testing.T) {
	for _, tt := range []struct {
		render    standard.Render
		templates []string
		link      string
	}{
		{standard.Render{}, nil, "- s: text ("},
		{standard.Render{JSON: dialecttest.Log}, []string{"sequent://sessions/{id}/json"}, "- s: text ("},
		{
			standard.Render{Markdown: dialecttest.Log, Mermaid: dialecttest.Log},
			[]string{"sequent://sessions/{id}", "sequent://sessions/{id}/mermaid"}, "- [s](sequent://sessions/s): text (",
		},
	} {
		e := sequent.New(sequent.Config{})
		if _, err := e.Append(t.Context(), "s", sequent.Draft{Number: 1, Text: "text", Final: true}); err != nil {
			t.Fatal(err)
		}
		d := standard.New(standard.Config{Engine: e, Render: tt.render})
		var templates []string
		for _, tpl := range d.Templates {
			templates = append(templates, tpl.URI)
		}
		if !slices.Equal(templates, tt.templates) {
			t.Errorf("templates are %q, want %q", templates, tt.templates)
		}
		if list, err := d.Resources[0].Read(t.Context(), tool.Caller{}); err != nil || !strings.Contains(list, tt.link) {
			t.Errorf("the list is %q (%v), want %q", list, err, tt.link)
		}
	}
}

// The same call made at once from many places, as impatient clients do, is
// recorded once and answered alike.
func TestRetriesAtOnce(t *testing.T) {
	e := sequent.New(sequent.Config{})
	d := build(t, dialect.Env{Engine: e, Rand: nil})
	args := json.RawMessage(`{"thought":"a","thoughtNumber":1,"nextThoughtNeeded":true,"requestKey":"k"}`)
	replies := make([]string, 32)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			reply, err := d.Tools[0].Call(t.Context(), tool.Call{Args: args, Caller: tool.Caller{Scope: tool.Scope{Name: "s"}}})
			replies[i] = fmt.Sprint(reply.Text, err)
		})
	}
	wg.Wait()
	for _, got := range replies {
		if got != replies[0] {
			t.Errorf("replies differ:\n%s\n%s", got, replies[0])
		}
	}
	page, err := e.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 || page.Headers[0].Len != 1 {
		t.Errorf("got %d sessions (%v), want one with one thought: %+v", len(page.Headers), err, page.Headers)
	}
}

// An alteredStore is a store whose sessions are not what was recorded, but for new ones.
type alteredStore struct {
	sequent.Store
	altered sequent.ID
}

func (a alteredStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	h, log, err := a.Store.Load(ctx, k, have)
	if k.ID == a.altered {
		log = slices.Clone(log)
		log[1].Thought.Text = "altered"
	}
	return h, log, err
}

// A session that is not what was recorded is shown with that fact and refuses thoughts. The
// next one of the scope can begin.
func TestAlteredSession(t *testing.T) {
	store := sequent.NewMemoryStore()
	if _, err := sequent.New(sequent.Config{Store: store}).Begin(t.Context(), "old", func(c *sequent.Change) error {
		c.BeginIn("standard/s", "standard")
		for n := range 3 {
			if _, err := c.Append(sequent.Draft{Number: n + 1, Total: 9, Text: strings.Repeat("words ", 100)}); err != nil {
				return err
			}
		}
		return c.AddNote(sequent.Note{Seq: 3, Text: "a note"})
	}); err != nil {
		t.Fatal(err)
	}
	d := build(t, dialect.Env{Engine: sequent.New(sequent.Config{Store: alteredStore{store, "old"}})})
	for _, step := range []struct {
		tool       int
		args, want string
	}{
		{1, `{"sessionId":"old"}`, "old active, 3 thoughts, effective; not what was recorded: thought 2 was altered"},
		{1, `{"sessionId":"old","maxTokens":200}`, "old active, 3 thoughts, not what was recorded: thought 2 was altered"},
		{0, call(dialecttest.Step{Number: 2, Total: 9, Text: "b"}), "STORE_CORRUPT: the session old is not what was recorded"},
		{0, call(dialecttest.Step{Number: 1, Total: 9, Text: "b"}), `"thoughtNumber":1}`},
		{0, call(dialecttest.Step{Number: 2, Total: 9, Text: "b"}), `"thoughtNumber":2`},
	} {
		reply, err := d.Tools[step.tool].Call(t.Context(), tool.Call{
			Args: json.RawMessage(step.args), Caller: tool.Caller{Scope: tool.Scope{Name: "s"}},
		})
		if err != nil || !strings.Contains(reply.Text, step.want) {
			t.Errorf("%s: got %s, %v; want %s", step.args, reply.Text, err, step.want)
		}
	}
}

package standard_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
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
		if _, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: 1, Text: "text"})
			return err
		}); err != nil {
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

var validID = regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{12}$`)

// Session ids are 12 characters of Crockford's base32, and all different.
func TestIDs(t *testing.T) {
	d := standard.New(standard.Config{Engine: sequent.New(sequent.Config{})})
	seen := make(map[string]bool)
	for range 1000 {
		reply, err := d.Tools[0].Call(t.Context(), tool.Call{Args: json.RawMessage(`{"thought":"a","nextThoughtNeeded":true}`)})
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ SessionID string }
		if err := json.Unmarshal(reply.JSON, &got); err != nil {
			t.Fatal(err)
		}
		if !validID.MatchString(got.SessionID) || seen[got.SessionID] {
			t.Fatalf("session id %q is malformed or not new", got.SessionID)
		}
		seen[got.SessionID] = true
	}
}

// An id that is taken is minted anew.
func TestIDTaken(t *testing.T) {
	e := sequent.New(sequent.Config{})
	// Eight bytes of zero are the id 000000000000.
	taken := standard.New(standard.Config{
		Engine: e, Rand: bytes.NewReader(append(make([]byte, 16), 1, 0, 0, 0, 0, 0, 0, 0)),
	})
	for _, want := range []string{"000000000000", "100000000000"} {
		reply, err := taken.Tools[0].Call(t.Context(), tool.Call{Args: json.RawMessage(`{"thought":"a","nextThoughtNeeded":true}`)})
		if err != nil || !strings.Contains(reply.Text, `"`+want+`"`) {
			t.Errorf("got %s %v, want session %s", reply.Text, err, want)
		}
	}
	// And where no random bytes are left, nothing is begun.
	if reply, err := taken.Tools[0].Call(t.Context(), tool.Call{Args: json.RawMessage(`{"thought":"a","nextThoughtNeeded":true}`)}); err == nil {
		t.Errorf("got %s, want a fault", reply.Text)
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

// The replies are the same when the engine has dropped the texts of the session, also
// those to repeated calls.
func TestTextsDropped(t *testing.T) {
	var transcripts [2][]string
	for i, drop := range []bool{false, true} {
		e := sequent.New(sequent.Config{CacheBytes: 100_000})
		d := build(t, dialect.Env{Engine: e, Rand: nil})
		id := regexp.MustCompile(`"[0-9a-z]{12}"`)
		ask := func(scope, args string) string {
			reply, err := d.Tools[0].Call(t.Context(), tool.Call{Args: json.RawMessage(args), Caller: tool.Caller{Scope: tool.Scope{Name: scope}}})
			if err != nil {
				t.Fatal(err)
			}
			return id.ReplaceAllString(reply.Text, "ID")
		}
		lacked := 0
		count := func(c *sequent.Change) error {
			if !c.Session().HasTexts(1) {
				lacked++
			}
			return nil
		}
		think := func(n int, text string) string {
			if drop {
				for other := range 3 { // the cache keeps the texts of two or three
					if _, err := e.Ensure(t.Context(), sequent.ID(fmt.Sprint("other ", other)), func(c *sequent.Change) error {
						_, err := c.Append(sequent.Draft{Number: 1, Text: strings.Repeat("x", 45_000)})
						return err
					}); err != nil {
						t.Fatal(err)
					}
					if err := e.Delete(t.Context(), sequent.ID(fmt.Sprint("other ", (other+1)%3))); err != nil && !errors.Is(err, sequent.ErrNotFound) {
						t.Fatal(err)
					}
				}
				page, err := e.Sessions(t.Context(), sequent.Query{Scope: "standard/s"})
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range page.Headers {
					if _, err := e.WithoutTexts().Update(t.Context(), h.ID, count); err != nil {
						t.Fatal(err)
					}
				}
			}
			return ask("s", fmt.Sprintf(`{"thought":%q,"nextThoughtNeeded":true,"thoughtNumber":%d,"requestKey":"k%d"}`, text, n, n))
		}
		text := func(n int) string {
			return fmt.Sprintf("the idea %d is %s", n/2, strings.Repeat(fmt.Sprint(n/2, " "), 300))
		}
		for n := 1; n <= 30; n++ { // every second is the same as the first
			transcripts[i] = append(transcripts[i], think(n, text(n)))
		}
		for n := 1; n <= 30; n++ {
			transcripts[i] = append(transcripts[i], think(n, text(n)))
		}
		if drop != (lacked > 40) {
			t.Errorf("the session lacked texts in %d of 60 calls", lacked)
		}
	}
	if !slices.Equal(transcripts[0], transcripts[1]) {
		for i := range transcripts[0] {
			if transcripts[0][i] != transcripts[1][i] {
				t.Fatalf("reply %d is %s, without texts %s", i+1, transcripts[0][i], transcripts[1][i])
			}
		}
	}
	if !strings.Contains(strings.Join(transcripts[0], ""), "nearly the same") {
		t.Error("no reply warns of a thought that is nearly the same")
	}
}

// A thought costs what the first did, however long the session is.
func BenchmarkThink(b *testing.B) {
	for _, before := range []int{10, 10_000} {
		b.Run(fmt.Sprint(before), func(b *testing.B) {
			e := sequent.New(sequent.Config{Limits: sequent.Limits{Thoughts: -1}})
			d := build(b, dialect.Env{Engine: e})
			_, err := e.Begin(b.Context(), "s", func(c *sequent.Change) error {
				for i := range before {
					if _, err := c.Append(sequent.Draft{Number: i + 1, Total: before, Text: fmt.Sprint("thought ", i), More: true}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			args := json.RawMessage(`{"thought":"another one, of ordinary length","nextThoughtNeeded":true,"sessionId":"s"}`)
			b.ReportAllocs()
			for b.Loop() {
				if reply, err := d.Tools[0].Call(b.Context(), tool.Call{Args: args}); err != nil || reply.Failed {
					b.Fatal(reply.Text, err)
				}
			}
		})
	}
}

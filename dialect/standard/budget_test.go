package standard_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// recall calls recall_thinking and returns the text of its reply.
func recall(t *testing.T, d dialect.Dialect, args map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := d.Tools[1].Call(t.Context(), tool.Call{Args: raw})
	if err != nil || reply.Failed {
		t.Fatalf("recall_thinking(%s): %s %v", raw, reply.Text, err)
	}
	return reply.Text
}

var cursorOf = regexp.MustCompile(`cursor "([^"]*)"$`)

// pages makes a call and those of its cursors, at most so many, and returns the replies. Each
// keeps within the budget.
func pages(t *testing.T, d dialect.Dialect, c tool.Caller, args map[string]any, most int) (texts []string) {
	t.Helper()
	for {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := d.Tools[1].Call(t.Context(), tool.Call{Args: raw, Caller: c})
		if err != nil || reply.Failed || dialect.Tokens(reply.Text) > args["maxTokens"].(int) || len(texts) > most {
			t.Fatalf("page %d of %s: %d tokens, %v:\n%s", len(texts), raw, dialect.Tokens(reply.Text), err, reply.Text)
		}
		texts = append(texts, reply.Text)
		next := cursorOf.FindStringSubmatch(reply.Text)
		if next == nil {
			return texts
		}
		args["cursor"] = next[1]
	}
}

// ids counts the ids at the beginnings of lines.
func ids(texts []string) map[string]int {
	seen := make(map[string]int)
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if id, _, ok := strings.Cut(line, " "); ok && strings.HasPrefix(id, "<") {
				seen[id]++
			}
		}
	}
	return seen
}

// Whatever a session looks like and however small the page is, a reply keeps
// within its budget, and following the cursors shows every thought.
func TestRecallKeepsWithinBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		e := sequent.New(sequent.Config{})
		d := build(t, dialect.Env{Engine: e})
		labels := []string{"", "x", strings.Repeat("é", 1+r.IntN(128)), "y"}
		n := 1 + r.IntN(60)
		_, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
			if r.IntN(3) == 0 {
				c.Conclude(words(r, r.IntN(300)))
			}
			for i := range n {
				d := sequent.Draft{
					Number: i + 1, Text: fmt.Sprintf("<%d> %s", i+1, words(r, r.IntN(1+r.IntN(400)))),
					Branch: labels[r.IntN(len(labels))], Final: r.IntN(5) == 0,
				}
				if i > 0 && r.IntN(4) == 0 {
					d.Revises = sequent.To(1 + r.IntN(i))
				}
				if _, err := c.Append(d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, view := range []string{"effective", "log", "outline"} {
			for _, budget := range []int{200, 200 + r.IntN(2000), 1 << 20} {
				args := map[string]any{"sessionId": "s", "view": view, "maxTokens": budget}
				if r.IntN(3) == 0 {
					args["limit"] = 1 + r.IntN(10)
				}
				all := strings.Join(pages(t, d, tool.Caller{}, args, n), "\n")
				s, err := e.Session(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				standings := s.Standings()
				for th := range s.All() {
					if view == "effective" && standings[th.Seq-1].State == sequent.Superseded {
						continue
					}
					if mark := fmt.Sprintf("<%d>", th.Number); !strings.Contains(all, mark) {
						t.Errorf("round %d: %v: thought %s is never shown in\n%s", round, args, mark, all)
					}
				}
			}
		}
	}
}

// The hint of a thought that was cut is right: with that budget all of it is there.
func TestRecallShowsAllOfALargeThought(t *testing.T) {
	for _, size := range []int{700, 3000, 60_000} {
		e := sequent.New(sequent.Config{})
		d := build(t, dialect.Env{Engine: e})
		_, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
			c.Conclude(strings.Repeat("so it is ", size/20))
			for i, text := range []string{strings.Repeat("a long title ", 9), strings.Repeat("ä", size/2) + "END"} {
				if _, err := c.Append(sequent.Draft{Number: i + 1, Text: text}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		text := recall(t, d, map[string]any{"sessionId": "s", "maxTokens": 200, "view": "log"})
		var more, all int
		_, cut, ok := strings.Cut(text, "(cut, ")
		if _, err := fmt.Sscanf(cut, "%d tokens more: maxTokens %d shows all)", &more, &all); !ok || err != nil {
			t.Fatalf("size %d: no hint in\n%s", size, text)
		}
		if text := recall(t, d, map[string]any{"sessionId": "s", "maxTokens": all, "view": "log"}); !strings.Contains(text, "END") {
			t.Errorf("size %d: maxTokens %d does not show all:\n…%s", size, all, text[len(text)-200:])
		}
	}
}

// Listings and searches keep within their budget, and their cursors lead to
// everything.
func TestListsKeepWithinBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	e := sequent.New(sequent.Config{})
	d := build(t, dialect.Env{Engine: e})
	const n = 45
	for i := range n {
		id := sequent.ID(fmt.Sprintf("<%d>", i))
		_, err := e.Append(t.Context(), id, sequent.Draft{Number: 1, Text: "needle " + words(r, r.IntN(60))})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{"", "needle"} {
		for _, budget := range []int{200, 333, 2000, 1 << 20} {
			args := map[string]any{"maxTokens": budget, "limit": 20}
			if query != "" {
				args["query"] = query
			}
			seen := ids(pages(t, d, tool.Caller{}, args, n))
			for i := range n {
				if id := fmt.Sprintf("<%d>", i); seen[id] != 1 {
					t.Errorf("query %q, budget %d: session %s is shown %d times", query, budget, id, seen[id])
				}
			}
		}
	}
}

// What is unfinished in a project comes first, within the budget, and the cursors lead to the rest.
func TestUnfinishedKeepsWithinBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	e := sequent.New(sequent.Config{})
	d := build(t, dialect.Env{Engine: e})
	const n = 12
	for i := range n {
		for k := range 1 + r.IntN(5) {
			id := sequent.ID(fmt.Sprintf("<%d>", i))
			if _, err := e.Append(t.Context(), id, sequent.Draft{Number: k + 1, Text: words(r, 1+r.IntN(200)), Final: i%2 == 0}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, budget := range []int{200, 333, 500, 2000, 1 << 20} {
		texts := pages(t, d, tool.Caller{Scope: tool.Scope{Project: "p"}}, map[string]any{"maxTokens": budget}, n)
		for page, text := range texts {
			if first := strings.HasPrefix(text, "unfinished here:\n<11> active, "); first != (page == 0) {
				t.Errorf("page %d within %d tokens begins with what is unfinished: %t:\n%s", page, budget, first, text)
			}
		}
		if seen := ids(texts); len(seen) != n {
			t.Errorf("within %d tokens: %d sessions of %d", budget, len(seen), n)
		}
	}
}

func words(r *rand.Rand, n int) string {
	list := []string{"cache", "slow", "über", "データ", "\n", "👩‍👩‍👧", "a", "measure", "then", "\r\n#3 x"}
	var b strings.Builder
	for range n {
		b.WriteString(list[r.IntN(len(list))] + " ")
	}
	return b.String()
}

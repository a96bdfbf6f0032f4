package index_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
)

var linked = map[string]string{
	"1.md": "[[Hub]] with [[near]], and the near one is explained: [[near]] means close.",
	"2.md": "[[hub]] [[near]] [[other]]",
	"3.md": "[[HUB]] [[other]]",
	"4.md": "[[near]] [[far]]",
	"5.md": "[[far]] [[farther]]",
	"6.md": "[[farther]] [[farthest]]",
	"7.md": "[[lonely]]",
	"8.md": "---\nparent: \"[[hub]]\"\n---\n[[child]]",
}

func around(t *testing.T, b *box, q index.ContextQuery) index.Context {
	t.Helper()
	c, err := b.Context(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func relations(list []index.Relation) string {
	var out []string
	for _, r := range list {
		s := fmt.Sprintf("%s %d", r.Name, r.Count)
		if r.Via != "" {
			s += " via " + r.Via
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestContext(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, linked)
	for i, name := range []string{"1", "2", "3"} { // 3 was changed last
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(b.path(name+".md"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		query            index.ContextQuery
		direct, expanded string
	}{
		{index.ContextQuery{Concept: "hub", Depth: 0}, "", ""},
		{index.ContextQuery{Concept: "hub", Depth: 1}, "near 2, other 2, child 1", ""},
		{index.ContextQuery{Concept: " [[Hub]] ", Depth: 2}, "near 2, other 2, child 1", "far 1 via near"},
		{index.ContextQuery{Concept: "hub", Depth: 3}, "near 2, other 2, child 1", "far 1 via near, farther 1 via far"},
		{index.ContextQuery{Concept: "hub", Depth: 10}, "near 2, other 2, child 1",
			"far 1 via near, farther 1 via far, farthest 1 via farther"},
		{index.ContextQuery{Concept: "hub", Depth: 3, MaxEntities: 1}, "near 2", "far 1 via near"},
		{index.ContextQuery{Concept: "lonely", Depth: 2}, "", ""},
		{index.ContextQuery{Concept: "never heard of", Depth: 2}, "", ""},
		{index.ContextQuery{Concept: "1", Depth: 2}, "", ""}, // a note's name without links to it
	} {
		c := around(t, b, test.query)
		if d, e := relations(c.Direct), relations(c.Expanded); d != test.direct || e != test.expanded {
			t.Errorf("%+v\n got %s | %s\nwant %s | %s", test.query, d, e, test.direct, test.expanded)
		}
	}
	c := around(t, b, index.ContextQuery{Concept: "hub", Depth: 1, IncludeContent: true})
	if c.Concept != "hub" || c.Notes != 4 {
		t.Errorf("%+v", c)
	}
	near := c.Direct[0]
	if got := fmt.Sprint(near.Files); got != "[memory://2.md memory://1.md]" {
		t.Errorf("files %s", got)
	}
	if want := "[[hub]] [[near]] [[other]]"; near.Preview != want {
		t.Errorf("preview %q, want %q", near.Preview, want)
	}
	if c := around(t, b, index.ContextQuery{Concept: "hub", Depth: 1}); c.Direct[0].Preview != "" {
		t.Errorf("a preview without IncludeContent: %+v", c.Direct[0])
	}
}

// An index that was updated many times equals one that is built from the same notes.
func TestUpdatedEqualsRebuilt(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, nil)
	r := rand.New(rand.NewPCG(3, 4))
	some := func(n int) string { return fmt.Sprintf("word%d", r.IntN(n)) }
	for range 100 {
		name := fmt.Sprintf("n%d.md", r.IntN(40))
		if r.IntN(4) == 0 {
			b.remove(name)
		} else {
			b.write(name, fmt.Sprintf("# %s\n\n%s %s [[%s]] [[%s]] %s", some(9), some(30), some(30), some(12), some(12), some(3)))
		}
		b.text("word1")
	}
	said := func(r index.Report) string {
		var say strings.Builder
		say.WriteString(fmt.Sprintln(r.Notes, r.Concepts, r.Relations, r.Orphans))
		for i := range 12 {
			word := fmt.Sprintf("word%d", i)
			hits := b.search(index.Query{Text: word, PageSize: 100}).Hits
			slices.SortFunc(hits, func(a, b index.Hit) int { // those of equal score are in the order of their indexing
				return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(string(a.URI), string(b.URI)))
			})
			say.WriteString(fmt.Sprintln(hits, around(t, b, index.ContextQuery{Concept: word, Depth: 3})))
		}
		return say.String()
	}
	got := said(b.sync())
	rebuilt, err := b.Rebuild(t.Context(), nil)
	if want := said(rebuilt); err != nil || got != want {
		t.Errorf("%v\n got %s\nrebuilt %s", err, got, want)
	}
}

// A question costs a bounded amount of work, whatever the notes link to, and says when
// it stopped there. What was read is still right.
func TestContextBudget(t *testing.T) {
	t.Parallel()
	const notes, links = 14, 4000
	files := make(map[string]string)
	for i := range notes {
		var b strings.Builder
		b.WriteString("[[hub]] [[common]] ")
		for j := range links {
			fmt.Fprintf(&b, "[[concept %d]] ", (i*links/2+j)%(4*links))
		}
		files[fmt.Sprintf("%d.md", i)] = b.String() + strings.Repeat("long ", 40_000)
	}
	b := newBox(t, index.Config{}, files)
	report, err := b.Sync(t.Context(), nil)
	if err != nil || report.Concepts != 4*links+2 || report.Relations == 0 || !report.Partial {
		t.Errorf("Sync: %+v, %v; want %d concepts and a partial count of relations", report, err, 4*links+2)
	}
	c := around(t, b, index.ContextQuery{Concept: "hub", Depth: 10, MaxEntities: 1000, IncludeContent: true})
	if !c.Incomplete || c.Notes != notes || len(c.Direct) != 1000 || c.Direct[0].Name != "common" || c.Direct[0].Count < 10 {
		t.Errorf("hub: incomplete %t, %d notes, %d relations, first %+v", c.Incomplete, c.Notes, len(c.Direct), c.Direct[0])
	}
	size := 0
	shown := make(map[vault.URI]bool)
	for _, r := range c.Direct {
		if shown[r.PreviewFrom] {
			t.Errorf("%s is shown twice", r.PreviewFrom)
		}
		if r.PreviewFrom != "" {
			shown[r.PreviewFrom] = true
			size += len(files[r.PreviewFrom.Path()])
		}
	}
	if size == 0 || size > 2<<20 {
		t.Errorf("previews read %d bytes", size)
	}
	if c := around(t, b, index.ContextQuery{Concept: "concept 1", Depth: 1}); c.Incomplete || len(c.Direct) != 20 {
		t.Errorf("concept 1: %+v", c)
	}
}

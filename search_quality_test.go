package sequent_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/judged"
)

var update = flag.Bool("update", false, "rewrite the section on thoughts of docs/search-quality.md")

// judgedSessions returns the thoughts of the sessions that the judged queries search,
// by the name of the session. Some of the sessions were recorded by language models.
func judgedSessions(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for name, file := range map[string]string{"charges": "standard-double-charges", "guided": "guided-double-charges"} {
		data, err := os.ReadFile(filepath.Join("testdata", "sessions", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct {
			Thoughts []struct{ Text string }
		}
		if err := json.Unmarshal(data, &recorded); err != nil {
			t.Fatal(err)
		}
		for _, thought := range recorded.Thoughts {
			all[name] = append(all[name], thought.Text)
		}
	}
	archive, err := txtar.ParseFile(filepath.Join("testdata", "search", "sessions.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		for thought := range strings.SplitSeq(strings.TrimSpace(string(f.Data)), "\n\n") {
			all[f.Name] = append(all[f.Name], strings.Join(strings.Fields(thought), " "))
		}
	}
	return all
}

// TestSearchQuality measures how well the judged queries are answered. The floor is a
// little below the measured figure. Other stores order thoughts in the same way, which
// package storetest tests.
func TestSearchQuality(t *testing.T) {
	t.Parallel()
	const floor = 0.72
	store := sequent.NewMemoryStore()
	engine := sequent.New(sequent.Config{Store: store})
	sessions := judgedSessions(t)
	thoughts := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(sessions)) { // the later one comes first among equals
		texts := sessions[name]
		_, err := engine.Ensure(t.Context(), sequent.ID(name), func(c *sequent.Change) error {
			for i, text := range texts {
				thoughts[fmt.Sprintf("%s#%d", name, i+1)] = true
				if _, err := c.Append(sequent.Draft{Number: i + 1, Total: len(texts), Text: text, More: true}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	queries, err := judged.Queries(filepath.Join("testdata", "search", "queries.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	fmt.Fprintf(&page, thoughtsHead, len(thoughts), len(sessions), len(queries))
	sum := 0.0
	for _, q := range queries {
		for name := range q.Grades {
			if !thoughts[name] {
				t.Errorf("%q: there is no thought %s", q.Text, name)
			}
		}
		found, err := store.Search(t.Context(), sequent.SearchQuery{Text: q.Text, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range found.Hits {
			got = append(got, fmt.Sprintf("%s#%d", h.Key.ID, h.Thought.Seq))
		}
		score := q.NDCG(got)
		sum += score
		how := "all"
		if found.Partial {
			how = "most"
		}
		fmt.Fprintf(&page, "| `%s` | %.2f | %s |\n", q.Text, score, how)
		t.Logf("%.2f %s: %s %q", score, q.Text, how, got)
	}
	mean := sum / float64(len(queries))
	fmt.Fprintf(&page, "| **mean** | **%.3f** | |\n", mean)
	t.Logf("nDCG@10 %.3f", mean)
	if mean < floor {
		t.Errorf("nDCG@10 is %.3f, below %.2f", mean, floor)
	}
	equal, err := judged.Section(filepath.Join("docs", "search-quality.md"), "thoughts", page.String(), *update)
	if err != nil {
		t.Fatal(err)
	}
	if !equal {
		t.Errorf("docs/search-quality.md is stale: run go test . -run TestSearchQuality -update, and make pictures")
	}
}

const thoughtsHead = `
%d thoughts of %d sessions and %d queries are in ` + "`testdata/search` and `testdata/sessions`" + `. For each query, the thoughts that answer
it have a grade from 1 to 3. The test fails below 0.72. The last column says whether hits have all words of the query, or, since no
thought has them all, most of them come first.

| query | nDCG@10 | words |
|---|---|---|
`

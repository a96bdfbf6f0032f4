package textsearch_test

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

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/judged"
	"github.com/sequent-dev/sequent/textsearch"
)

var update = flag.Bool("update", false, "rewrite the section on thoughts of docs/search-quality.md")

// judgedSessions returns the thoughts of the sessions that the judged queries search,
// by the name of the session. Some of the sessions were recorded by language models.
func judgedSessions(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for name, file := range map[string]string{"charges": "standard-double-charges", "guided": "guided-double-charges"} {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "sessions", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct{ Log []sequent.Entry }
		if err := json.Unmarshal(data, &recorded); err != nil {
			t.Fatal(err)
		}
		for _, thought := range sequent.Thoughts(recorded.Log) {
			all[name] = append(all[name], thought.Text)
		}
	}
	archive, err := txtar.ParseFile(filepath.Join("..", "testdata", "search", "sessions.txtar"))
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
// little below the measured figure.
func TestSearchQuality(t *testing.T) {
	const floor = 0.80
	sessions := judgedSessions(t)
	var names, texts []string
	for _, session := range slices.Sorted(maps.Keys(sessions)) { // the later one comes first among equals
		for i, text := range sessions[session] {
			names, texts = append(names, fmt.Sprintf("%s#%d", session, i+1)), append(texts, text)
		}
	}
	queries, err := judged.Queries(filepath.Join("..", "testdata", "search", "queries.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	fmt.Fprintf(&page, thoughtsHead, len(texts), len(sessions), len(queries))
	sum := 0.0
	for _, judgment := range queries {
		for name := range judgment.Grades {
			if !slices.Contains(names, name) {
				t.Errorf("%q: there is no thought %s", judgment.Text, name)
			}
		}
		query, err := textsearch.Parse(judgment.Text)
		if err != nil {
			t.Fatal(err)
		}
		ranking := query.Rank()
		for id, text := range slices.Backward(texts) {
			ranking.Add(0, int64(id), text)
		}
		var got []string
		best, _ := ranking.Best(0, 10)
		for _, m := range best {
			got = append(got, names[m.ID])
		}
		score := judgment.NDCG(got)
		sum += score
		how := "all"
		if ranking.Partial() {
			how = "most"
		}
		fmt.Fprintf(&page, "| `%s` | %.2f | %s |\n", judgment.Text, score, how)
		t.Logf("%.2f %s: %s %q", score, judgment.Text, how, got)
	}
	mean := sum / float64(len(queries))
	fmt.Fprintf(&page, "| **mean** | **%.3f** | |\n", mean)
	t.Logf("nDCG@10 %.3f", mean)
	if mean < floor {
		t.Errorf("nDCG@10 is %.3f, below %.2f", mean, floor)
	}
	equal, err := judged.Section(filepath.Join("..", "docs", "search-quality.md"), "thoughts", page.String(), *update)
	if err != nil {
		t.Fatal(err)
	}
	if !equal {
		t.Error("docs/search-quality.md is stale: run go test ./textsearch -run TestSearchQuality -update, and make pictures")
	}
}

const thoughtsHead = `
%d thoughts of %d sessions and %d queries are in ` + "`testdata/search` and `testdata/sessions`" + `. For each query, the thoughts that answer
it have a grade from 1 to 3. The test fails below 0.80. The last column says whether the first hits have all words of the query, or,
since no thought has them all, most of them.

| query | nDCG@10 | words |
|---|---|---|
`

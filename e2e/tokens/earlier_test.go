package tokens

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// maxEarlier is the token limit of what the first reply of a session says about an earlier one.
const maxEarlier = 45

// problems returns the first and the last thought of each session in testdata, as agents write them.
func problems(t *testing.T) (all [][2]string) {
	t.Helper()
	root := filepath.Join("..", "..", "internal")
	data, err := os.ReadFile(filepath.Join(root, "judged", "testdata", "earlier", "sessions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var s struct{ Thoughts []string }
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, [2]string{s.Thoughts[0], s.Thoughts[len(s.Thoughts)-1]})
	}
	files, err := filepath.Glob(filepath.Join(root, "findings", "testdata", "recorded", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded sessions: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s struct{ Log []sequent.Entry }
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		log := sequent.Thoughts(s.Log)
		all = append(all, [2]string{log[0].Text, log[len(log)-1].Text})
	}
	return all
}

// earlier concludes a session on each problem and begins another one on it. It returns the tokens that the replies have
// because of the earlier session. The id in them is an example, because the tokens of ids vary.
func earlier(t *testing.T, c *conversation, node string) []int {
	t.Helper()
	think := func(args any) (reply struct{ SessionID, Earlier string }) {
		raw, err := json.Marshal(args)
		if err == nil {
			err = json.Unmarshal([]byte(c.call("sequentialthinking", string(raw))), &reply)
		}
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	var said []string
	for _, p := range problems(t) {
		first := think(standardArgs{Thought: p[0], More: true})
		think(standardArgs{Thought: p[1], Session: first.SessionID})
		again := think(standardArgs{Thought: p[0]})
		if strings.HasPrefix(again.Earlier, first.SessionID) {
			said = append(said, fmt.Sprintf(`,"earlier":%q`, exampleIDs["standard"]+again.Earlier[len(first.SessionID):]))
		}
	}
	n := count(t, node, said)
	for i := range n {
		if n[i] > maxEarlier {
			t.Errorf("%s has %d tokens, want at most %d", said[i], n[i], maxEarlier)
		}
	}
	if len(n) < 50 {
		t.Errorf("only %d replies name an earlier session", len(n))
	}
	return n
}

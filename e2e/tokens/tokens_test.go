package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

var update = flag.Bool("update", false, "rewrite docs/tokens.md")

// The token limits of the dialect standard.
const (
	maxDefinitions = 560
	maxFirst       = 30
	maxReply       = 12
)

// The token limits of the definitions of the dialects wiki and status.
const (
	maxWikiDefinitions   = 2200
	maxStatusDefinitions = 1700
)

const page = "../../docs/tokens.md"

// A cost is the cost of a server in tokens.
type cost struct {
	definitions int
	reply       int // text of a plain reply in the middle of a session
	wrote, read int // for a session of 20 thoughts
}

func TestTokens(t *testing.T) {
	t.Parallel()
	program, node := programtest.Build(t), node(t)
	start := func(name string) *conversation {
		if name == "reference" {
			return converse(t, node, "../node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js")
		}
		args := []string{"serve", "--store", "memory", "--dialect", name}
		if name == "wiki" {
			args = append(args, "--vault", t.TempDir())
		}
		return converse(t, program, args...)
	}
	var table strings.Builder
	for _, of := range contenders() {
		c := start(of.name)
		definitions := c.definitions()
		_, wrote, read := c.session(of, 20)
		n := count(t, node, slices.Concat([]string{definitions}, wrote, read))
		got := cost{definitions: n[0], reply: n[1+20+9], wrote: sum(n[1:21]), read: sum(n[21:])}
		row := of.name
		if of.name != "reference" {
			row = "`" + of.name + "`"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %s |\n", row, thousands(got.definitions), thousands(got.reply),
			thousands(got.wrote), thousands(got.read), thousands(got.definitions+got.wrote+got.read))
		if first := n[1+20]; of.name == "standard" && (got.definitions > maxDefinitions || got.reply > maxReply || first > maxFirst) {
			t.Errorf("standard: definitions have %d tokens, a reply has %d and the first %d, want at most %d, %d and %d:\n%s\n%s",
				got.definitions, got.reply, first, maxDefinitions, maxReply, maxFirst, definitions, read[9])
		}
		if of.name == "status" && got.definitions > maxStatusDefinitions {
			t.Errorf("status: definitions have %d tokens, want at most %d", got.definitions, maxStatusDefinitions)
		}
		if of.name == "wiki" && got.definitions > maxWikiDefinitions {
			t.Errorf("wiki: definitions have %d tokens, want at most %d", got.definitions, maxWikiDefinitions)
		}
	}
	named := earlier(t, converse(t, program, "serve", "--store", "memory", "--no-origin"), node)
	fresh(t, fmt.Sprintf(template, table.String(), slices.Max(named), recalls(t, start("standard"), node)))
}

// cursor matches the cursor of the next page.
var cursor = regexp.MustCompile(`cursor "([^"]*)"`)

// exampleCursor returns an example in place of a cursor, because the tokens of a
// cursor vary: it ends in a checksum of the call, and that of a search contains the time.
func exampleCursor(s string) string {
	if i := strings.LastIndexByte(s, '-'); !strings.Contains(s, ".") {
		return s[:i] + `-24997"`
	}
	return `cursor "1795223549073616.5.2157130885-24997"`
}

// TestCursors counts the tokens of the cursors that a model repeats, with the store whose cursors are the
// longest.
func TestCursors(t *testing.T) {
	t.Parallel()
	const most = 20
	c := converse(t, programtest.Build(t), "serve", "--store", "memory")
	var id string
	for range 3 {
		reply := c.call("sequentialthinking", `{"thought":"Why is the pool empty?","nextThoughtNeeded":false}`)
		if err := json.Unmarshal([]byte(reply), &struct{ SessionID *string }{&id}); err != nil {
			t.Fatal(err)
		}
		c.call("sequentialthinking", fmt.Sprintf(`{"thought":"The pool is small.","nextThoughtNeeded":false,"sessionId":%q}`, id))
	}
	var cursors []string
	for _, args := range []string{`{"limit":1}`, `{"query":"pool","limit":1}`, `{"query":"pool","limit":1,"sessionId":%q}`, `{"limit":1,"sessionId":%q}`} {
		if strings.Contains(args, "%q") {
			args = fmt.Sprintf(args, id)
		}
		next := cursor.FindStringSubmatch(c.call("recall_thinking", args))
		if next == nil {
			t.Fatalf("%s: no cursor", args)
		}
		cursors = append(cursors, next[1])
	}
	for i, n := range count(t, node(t), cursors) {
		if t.Logf("%s: %d tokens", cursors[i], n); n > most {
			t.Errorf("the cursor %s has %d tokens, want at most %d", cursors[i], n, most)
		}
	}
}

// recalls counts the tokens of recall_thinking for a session of 200 thoughts.
func recalls(t *testing.T, c *conversation, node string) string {
	t.Helper()
	const long = 200
	var standard contender
	for _, of := range contenders() {
		if of.name == "standard" {
			standard = of
		}
	}
	id, wrote, _ := c.session(standard, long)
	recall := func(more string) string {
		return c.call("recall_thinking", fmt.Sprintf(`{"sessionId":%q%s}`, id, more))
	}
	example := func(texts []string) []string {
		var same []string
		for _, text := range texts {
			text = strings.ReplaceAll(text, id, exampleIDs["standard"])
			same = append(same, cursor.ReplaceAllStringFunc(text, exampleCursor))
		}
		return same
	}
	var all []string
	for more := ""; ; {
		text := recall(more)
		all = append(all, text)
		next := cursor.FindStringSubmatch(text)
		if next == nil {
			break
		}
		if len(all) > long {
			t.Fatalf("no end after %d pages", len(all))
		}
		more = `,"cursor":` + strconv.Quote(next[1])
	}
	for n := 1; n <= long; n++ {
		if !strings.Contains(strings.Join(all, "\n"), thought(n)) {
			t.Errorf("thought %d is missing", n)
		}
	}
	one := []string{recall(""), recall(`,"maxTokens":500`), recall(`,"maxTokens":1500`), recall(`,"view":"outline"`), recall(`,"query":"fraud","limit":5`)}
	n := count(t, node, slices.Concat(example(one), example(all), wrote))
	pages, written := n[5:5+len(all)], n[5+len(all):]
	var table strings.Builder
	for i, what := range []string{
		"one page, within the default of 2,000", "`maxTokens: 500`",
		"`maxTokens: 1500`, as `sequent hook` brings back after a compaction", "`view: outline`", "`query: fraud`, 5 hits",
	} {
		fmt.Fprintf(&table, "| %s | %s |\n", what, thousands(n[i]))
	}
	fmt.Fprintf(&table, "| everything, in %d pages | %s |\n", len(all), thousands(sum(pages)))
	fmt.Fprintf(&table, "| for comparison: the calls that recorded it | %s |\n", thousands(sum(written)))
	return table.String()
}

// count returns the number of tokens of each text.
func count(t *testing.T, node string, texts []string) []int {
	t.Helper()
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "count.mjs")
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("count.mjs: %v", err)
	}
	var n []int
	if err := json.Unmarshal(out, &n); err != nil || len(n) != len(texts) {
		t.Fatalf("count.mjs printed %s", out)
	}
	return n
}

func sum(list []int) int {
	total := 0
	for _, n := range list {
		total += n
	}
	return total
}

// thousands formats a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// fresh compares the page with want, or writes it.
func fresh(t *testing.T, want string) {
	t.Helper()
	file := filepath.FromSlash(page)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale; run go test -C e2e ./tokens -update; want\n%s", page, want)
	}
}

const template = "<!-- Written by `go test -C e2e ./tokens -update`; do not edit. -->\n" + `
# What the tools cost in tokens

The tokens of each server's output over stdio, counted by gpt-tokenizer 4.0.0 with the encoding o200k. The reference is
the npm package @modelcontextprotocol/server-sequential-thinking 2026.8.31.

*Definitions* is the result of tools/list, which is in the model's context of every request. *A reply* is the text of the
tenth reply of a session. The session has 20 thoughts of one or two sentences, without branches, with the arguments that
the descriptions ask for. *Wrote* are the arguments, *read* the texts of the replies, and *in context* is the sum at the
end. A client that also passes structured content to the model doubles *read*, for all servers. Session ids and cursors
are replaced by examples, because their tokens vary.

| | definitions | a reply | 20 thoughts: wrote | read | in context at the end |
|---|---|---|---|---|---|
%s
The first reply of ` + "`standard`" + ` has up to %d tokens more if it names an earlier session on the same problem. The test fails above 45.

The session of ` + "`history`" + ` repeats all thoughts in every reply, as its contract requires; ` + "`--history-window N`" + ` limits them.

## Reading back

What ` + "`recall_thinking`" + ` of the dialect ` + "`standard`" + ` returns for a session of 200 thoughts. The reference has no such tool.

| | tokens |
|---|---|
%s`

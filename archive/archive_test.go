package archive_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/printable"
)

var update = flag.Bool("update", false, "write the golden files")

// recorded returns a session with the given thoughts, a second after each other.
func recorded(t testing.TB, key sequent.Key, drafts ...sequent.Draft) *sequent.Session {
	t.Helper()
	now := time.Date(2025, time.April, 28, 14, 53, 2, 123_456_000, time.UTC)
	e := sequent.New(sequent.Config{Now: func() time.Time { return now }}).Owned(key.Owner)
	s, err := e.Begin(t.Context(), key.ID, func(*sequent.Change) error { return nil })
	for _, d := range drafts {
		if err != nil {
			break
		}
		s, err = e.Update(t.Context(), key.ID, func(c *sequent.Change) error {
			_, err := c.Append(d)
			return err
		})
		now = now.Add(time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func key(id string) sequent.Key { return sequent.Key{ID: sequent.ID(id)} }

// worked is a session with a bit of everything.
func worked(t testing.TB) *sequent.Session {
	return recorded(t, key("session-20250428-145302"),
		sequent.Draft{Number: 1, Total: 3, Text: "The login fails on *some* days.\n\n- not on Mondays\n- never at night"},
		sequent.Draft{Number: 2, Total: 3, Text: "Then it is the cache."},
		sequent.Draft{Number: 3, Total: 4, Text: "No: the clock.", Revises: sequent.To(2), Revision: true},
		sequent.Draft{Number: 3, Total: 4, Text: "Or <b>the proxy</b>?", Branch: "proxy & co", From: sequent.To(1)},
		sequent.Draft{Number: 4, Total: 4, Text: "Its log says nothing.", Branch: "proxy & co", From: sequent.To(1)},
		sequent.Draft{Number: 5, Total: 5, Text: "From nowhere.", Branch: "x`y", From: sequent.To(77), Extend: true},
		sequent.Draft{Number: 4, Total: 4, Text: "It is the clock.", Note: "sure", Final: true},
	)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.ReplaceAll(string(want), "\r\n", "\n"); got != w {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, w)
	}
}

func TestRenderings(t *testing.T) {
	s := worked(t)
	golden(t, "session.json", string(archive.SessionFile(s)))
	golden(t, "session.md", archive.Markdown(s))
	golden(t, "session.mmd", archive.Mermaid(s))
	golden(t, "export.json", string(archive.JSON(s)))
}

func TestRenderingsOfNothing(t *testing.T) {
	s := recorded(t, key("empty"))
	want := `{
  "id": "empty",
  "timestamp": "2025-04-28T14:53:02.123Z",
  "thoughtHistory": [],
  "branches": {}
}
`
	if got := string(archive.SessionFile(s)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := archive.Markdown(s); !strings.HasPrefix(got, "# Session `empty`\n") {
		t.Errorf("got\n%s", got)
	}
	if got := archive.Mermaid(s); !strings.Contains(got, `empty["No thoughts yet"]`) {
		t.Errorf("got\n%s", got)
	}
}

func TestSessionFileKeepsWhatWasGiven(t *testing.T) {
	s := recorded(t, key("a"),
		sequent.Draft{Number: 1, Total: 1, Text: "a", Labels: map[string]string{
			"given.isRevision": "false", "given.branchId": `"<x>"`, "given.revisesThought": "not JSON",
			"other": "1",
		}},
		sequent.Draft{Number: 2, Total: 2, Text: "b", Revision: true, Revises: sequent.To(1), Extend: true,
			Branch: "y", From: sequent.To(1)},
		sequent.Draft{Number: 3, Total: 3, Text: "c", Branch: "y"},
	)
	var file struct {
		ThoughtHistory []json.RawMessage
		Branches       map[string][]json.RawMessage
	}
	if err := json.Unmarshal(archive.SessionFile(s), &file); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"thought":"a","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":true,"isRevision":false,"branchId":"<x>"}`,
		`{"thought":"b","thoughtNumber":2,"totalThoughts":2,"nextThoughtNeeded":true,"isRevision":true,"revisesThought":1,"branchFromThought":1,"branchId":"y","needsMoreThoughts":true}`,
		`{"thought":"c","thoughtNumber":3,"totalThoughts":3,"nextThoughtNeeded":true,"branchId":"y"}`,
	}
	for i, raw := range file.ThoughtHistory {
		if got := compact(t, raw); got != want[i] {
			t.Errorf("thought %d: got\n%s\nwant\n%s", i+1, got, want[i])
		}
	}
	if got := file.Branches["y"]; len(file.Branches) != 1 || len(got) != 1 || compact(t, got[0]) != want[1] {
		t.Errorf("branches: got %s, want the one thought that names its origin", file.Branches)
	}
}

func compact(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	out, err := json.Marshal(raw) // which compacts, and escapes HTML
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(out))
}

func TestExportIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "reference", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	not := []string{"Epoch", "Version", "Bytes", "Branches", "Revisions", "Notes", "Request"} // of a header: see portable
	for _, typ := range []reflect.Type{
		reflect.TypeFor[archive.Export](), reflect.TypeFor[sequent.Key](), reflect.TypeFor[sequent.Header](), reflect.TypeFor[sequent.Entry](),
		reflect.TypeFor[sequent.Thought](), reflect.TypeFor[sequent.Draft](),
	} {
		for f := range typ.Fields() {
			if f.Anonymous || typ == reflect.TypeFor[sequent.Header]() && slices.Contains(not, f.Name) {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || !strings.Contains(string(page), "- `"+name+"` (") {
				t.Errorf("docs/reference/format.md does not describe %s as %s", f.Name, name)
			}
		}
	}
}

// hostile are texts that try to be more than text.
var hostile = []string{
	"# Heading", "<b>\n```\n# x", "a\n===", "a\n---", "## Main line", "- # x", "> # x", "1. ## x",
	"```\nopen", "~~~\nopen", "````", "<!-- open", "<script>alert(1)</script>", "<details>", "a <b", "</blockquote>",
	"[x]: http://example.com", "[x\ny]: z", "> quote\n\nout", "\n\n\n", "\r# x\r\n# y", "\x1b[31mred\x00", "a\u2028# x",
	"![x](y)", "| a | b |\n|---|---|", "    code", "\t# x", "end", "`\"end\"]", "\"];", "#quot;", "#35;", "ﬂ°°35¶ß",
	"%%{init: {}}%%", "---\ntitle: x\n---", "click t1 call x()", "style t1 fill:#f9f;", "classDef x fill:#fff;", "subgraph x",
	"t1 --> t2", "$$x$$", "`markdown`", "1. a\n2. b", "<br/>", "\\", "a\\\"b", "&quot;&#35;", strings.Repeat("x", 5000), "👩‍👩‍👧‍👦", "", " ",
}

// A reader of Markdown finds the headings of the format at the top and none in quotes, no HTML, no definitions of
// links, and every text to its end.
func TestMarkdownHoldsText(t *testing.T) {
	for _, text := range hostile {
		label := printable.Short(strings.ReplaceAll(printable.Line(text), "\u200d", ""), 100)
		s := recorded(t, key("s"+label),
			sequent.Draft{Number: 1, Total: 1, Text: text, Note: text},
			sequent.Draft{Number: 2, Total: 2, Text: text, Branch: label, From: sequent.To(1), Final: true},
		)
		doc, read := []byte(archive.Markdown(s)), parser.NewContext()
		tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gtext.NewReader(doc), parser.WithContext(read))
		headings := 0
		err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n.(type) {
			case *ast.HTMLBlock, *ast.RawHTML:
				return ast.WalkStop, errors.New("it has HTML")
			case *ast.Heading:
				if n.Parent() != tree {
					return ast.WalkStop, errors.New("a quote has a heading")
				}
				if entering {
					headings++
				}
			}
			return ast.WalkContinue, nil
		})
		want := 6 // title, conclusion, thoughts, a thought, the branch, its thought
		if label == "" {
			want = 4 // neither a branch nor a conclusion
		}
		if err != nil || headings != want || len(read.References()) > 0 || bytes.ContainsAny(doc, "\r\x00\x1b") {
			t.Errorf("text %q: %v, %d headings, want %d, definitions %v:\n%s", text, err, headings, want, read.References(), doc)
		}
	}
}

// Whatever a text says, a label holds letters, digits, the marks of plain prose
// and entities.
func TestMermaidHoldsText(t *testing.T) {
	for _, text := range hostile {
		s := recorded(t, key("s"), sequent.Draft{Number: 1, Total: 1, Text: text, Final: true})
		lines := strings.Split(archive.Mermaid(s), "\n")
		label, ok := strings.CutPrefix(lines[1], `    t1["Thought 1<br/>(Final)`)
		label, closed := strings.CutSuffix(label, `"]`)
		if !ok || !closed || len(lines) != 5 {
			t.Errorf("text %q: got\n%s", text, strings.Join(lines, "\n"))
			continue
		}
		label = strings.TrimPrefix(label, "<br/>")
		if bad := strings.IndexAny(label, "\"`[](){}<>|\\%&*_~$@+=/^"); bad >= 0 {
			t.Errorf("text %q: the label has %q: %s", text, label[bad], label)
		}
	}
}

// A session file is what JSON.stringify of JavaScript writes: in its escapes, and in its order of branches, array
// indexes first.
func TestSessionFileIsJavaScript(t *testing.T) {
	text := "a\u2028b\u2029 <&> \\u2028 \\\u2028 \b\f\x01\x7f \"\\"
	var drafts []sequent.Draft
	for _, branch := range []string{"", "b", "10", "a", "9"} {
		drafts = append(drafts, sequent.Draft{Number: 1, Total: 1, Text: text, Branch: branch, From: sequent.To(1)})
	}
	file := string(archive.SessionFile(recorded(t, key("s"), drafts...)))
	want := `"thought": "a` + "\u2028b\u2029" + ` <&> \\u2028 \\` + "\u2028" + ` \b\f\u0001` + "\x7f" + ` \"\\"`
	if strings.Count(file, want) != 9 {
		t.Errorf("the file is\n%s\nwant %s in it", file, want)
	}
	_, file, _ = strings.Cut(file, `"branches": {`)
	for _, branch := range []string{`"9": [`, `"10": [`, `"b": [`, `"a": [`} {
		found := false
		if _, file, found = strings.Cut(file, branch); !found {
			t.Errorf("%s is not at its place", branch)
		}
	}
}

package gendocs_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/gendocs"
	"github.com/sequent-dev/sequent/tool"
)

var update = flag.Bool("update", false, "rewrite the pages")

// fresh checks a page of docs/reference, after writing it under -update.
func fresh(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", "reference", name)
	if *update {
		if err := gendocs.Write(file, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := gendocs.Check(file, text); err != nil {
		t.Error(err)
	}
}

func TestReferenceErrors(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "..", "limits.go"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := gendocs.Errors(source)
	if err != nil {
		t.Fatal(err)
	}
	fresh(t, "errors.md", text)
}

func TestErrorsNeedsComments(t *testing.T) {
	if _, err := gendocs.Errors([]byte(`package x; const CodeX Code = "x"`)); err == nil {
		t.Error("Errors accepts a file that lacks codes")
	}
}

func TestCheckReportsTheLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ref", "x.md")
	if err := gendocs.Check(file, "a\n"); err == nil {
		t.Error("Check accepts a missing page")
	}
	if err := gendocs.Write(file, "a\nb\n"); err != nil {
		t.Fatal(err)
	}
	if err := gendocs.Check(file, "a\nb\n"); err != nil {
		t.Error(err)
	}
	err := gendocs.Check(file, "a\nc\n")
	if err == nil || !strings.Contains(err.Error(), "line 4 differs\ngot:  b\nwant: c") {
		t.Errorf("got %v, want the line that differs", err)
	}
}

func TestSection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte("Head.\n<!-- begin a: make a -->\nold\n<!-- end a -->\n<!-- begin b: make b -->\n<!-- end b -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := gendocs.CheckSection(file, "a", "new\n"); err == nil || !strings.Contains(err.Error(), "stale") {
		t.Errorf("a stale section: got %v", err)
	}
	for name, text := range map[string]string{"a": "new\n", "b": "text\n"} {
		if err := gendocs.WriteSection(file, name, text); err != nil {
			t.Error(err)
		}
		if err := gendocs.CheckSection(file, name, text); err != nil {
			t.Error(err)
		}
	}
	got, err := os.ReadFile(file)
	want := "Head.\n<!-- begin a: make a -->\nnew\n<!-- end a -->\n<!-- begin b: make b -->\ntext\n<!-- end b -->\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if err := gendocs.WriteSection(file, "c", ""); err == nil {
		t.Error("WriteSection accepts a section that the page does not have")
	}
}

func TestDialects(t *testing.T) {
	text, err := gendocs.Dialects([]dialect.Dialect{{
		Name: "x", Summary: "one line", Instructions: "Think.\n\nThen act.",
		Tools: []tool.Tool{{Spec: tool.Spec{
			Name: "think", Title: "Think", Description: "Thinks\nonce.\n\n- How to call it.",
			InputSchema: []byte(`{"type":"object","properties":{"b":{"type":"integer","minimum":1,"description":"a | b"},
				"a":{"type":["string","null"]},"v":{"type":"string","enum":["log","x"]},"t":{"type":"array","items":{"type":"string","minLength":1}}},"required":["b"]}`),
			OutputSchema: []byte(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
		}}},
		Resources: []dialect.Resource{{URI: "x://y", MIME: "text/plain", Description: "All."}},
		Prompts:   []dialect.Prompt{{Name: "p", Arguments: []dialect.Argument{{Name: "q", Required: true}, {Name: "r"}}, Description: "Asks."}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n## x\n\nOne line. [A session of `x`](../../dialect/x/testdata/linear.txtar).\n",
		"> Think.\n>\n> Then act.\n",
		"\n### Tool `think`\n\n> Thinks\n> once.\n\nIt writes, deletes nothing.\n\nArguments:\n\n",
		"- `b` (integer ≥ 1; required): a | b\n- `a` (string or null)\n- `v` (`\"log\"`, `\"x\"`)\n- `t` (array of string, not empty)\n",
		"\nReply:\n\n- `id` (string; always)\n",
		"\nResources:\n\n- `x://y` (text/plain): All.\n",
		"\nPrompts:\n\n- `p` (`q` required, `r`): Asks.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks\n%s\ngot\n%s", want, text)
		}
	}
	if strings.Contains(text, "How to call it") {
		t.Errorf("the page has the whole description of a tool:\n%s", text)
	}
}

// A flag that three commands describe in the same words is described once, one that two describe
// at the first of them. A command with other words for it, or another default, describes its own.
// A group repeats no example of its commands.
func TestCommands(t *testing.T) {
	root := &cobra.Command{Use: "x", Short: "Does things"}
	root.PersistentFlags().String("color", "auto", "use of colour")
	run := func(*cobra.Command, []string) {}
	show := &cobra.Command{Use: "show ID", Short: "Show one", Long: "At length.", Example: "x show 1", Run: run}
	show.Flags().IntP("depth", "d", 80, "`levels` to show | at most")
	show.Flags().Bool("help-all", false, "all help")
	list := &cobra.Command{Use: "list", Short: "List them", Run: run}
	tree := &cobra.Command{Use: "tree COMMAND", Short: "Do more", Example: "x tree cut", Run: run}
	cut := &cobra.Command{Use: "cut", Short: "Cut one", Run: run}
	tree.AddCommand(cut)
	cut.Flags().IntP("depth", "d", 80, "`levels` to show | at most")
	for _, c := range []*cobra.Command{show, list, cut} {
		c.Flags().Bool("json", false, "as JSON")
	}
	tree.Flags().Bool("json", false, "as other JSON")
	root.AddCommand(show, list, tree, &cobra.Command{Use: "secret", Hidden: true, Run: run})
	want := "# Command line\n\nDoes things.\n\n" +
		"`x help COMMAND` describes a command at length. Every flag can be set by an environment variable too: `X_STORE` sets `--store`.\n\n" +
		"Flags of all commands:\n\n```\n      --color string   use of colour (default \"auto\")\n```\n\n" +
		"Flags of several commands, which their usage names:\n\n```\n      --json   as JSON\n```\n\n" +
		"## `x list`\n\nList them.\n\n```\nx list [--json]\n```\n\n" +
		"## `x show`\n\nShow one.\n\n```\nx show ID [flags] [--json]\n```\n\n" +
		"```\n  -d, --depth levels   levels to show | at most (default 80)\n```\n\n```\nx show 1\n```\n\n" +
		"## `x tree`\n\nDo more.\n\n```\n      --json   as other JSON\n```\n\n" +
		"## `x tree cut`\n\nCut one.\n\n```\nx tree cut [flags] [--json]\n```\n\nAs in `x show`: `--depth`.\n"
	if got := gendocs.Commands(root); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

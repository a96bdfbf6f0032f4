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
	source, err := os.ReadFile(filepath.Join("..", "..", "errors.go"))
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

func TestDialect(t *testing.T) {
	text, err := gendocs.Dialect(dialect.Dialect{
		Name: "x", Summary: "One line.", Instructions: "Think.\n\nThen act.",
		Tools: []tool.Tool{{Spec: tool.Spec{
			Name: "think", Title: "Think", Description: "Thinks.",
			InputSchema: []byte(`{"type":"object","properties":{"b":{"type":"integer","minimum":1,"description":"a | b"},
				"a":{"type":["string","null"]},"v":{"type":"string","enum":["log","x"]},"t":{"type":"array","items":{"type":"string","minLength":1}}},"required":["b"]}`),
			OutputSchema: []byte(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
		}}},
		Resources: []dialect.Resource{{URI: "x://y", MIME: "text/plain", Description: "All."}},
		Prompts:   []dialect.Prompt{{Name: "p", Arguments: []dialect.Argument{{Name: "q", Required: true}, {Name: "r"}}}},
	}, []byte("A comment.\n-- call --\n{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Dialect `x`\n\nOne line.\n",
		"> Think.\n>\n> Then act.\n",
		"Think: writes; deletes nothing.\n\n> Thinks.\n",
		"| `b` | integer ≥ 1 | yes | a \\| b |\n| `a` | string or null |  |  |\n| `v` | `\"log\"`, `\"x\"` |  |  |\n" +
			"| `t` | array of string, not empty |  |  |\n",
		"### Reply\n\n| Name | Type | Always |\n| --- | --- | --- |\n| `id` | string | yes |\n",
		"| `x://y` | text/plain | All. |\n",
		"| `p` | `q`, `r` (optional) |\n",
		"```\nA comment.\n-- call --\n{}\n```\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks\n%s\ngot\n%s", want, text)
		}
	}
}

func TestCommands(t *testing.T) {
	root := &cobra.Command{Use: "x", Short: "Does things"}
	sub := &cobra.Command{Use: "show ID", Short: "Shows one.", Long: "At length.", Example: "  x show 1", Run: func(*cobra.Command, []string) {}}
	sub.Flags().IntP("width", "w", 80, "`columns` to use | at most")
	sub.Flags().Bool("json", false, "as JSON")
	root.AddCommand(sub, &cobra.Command{Use: "secret", Hidden: true, Run: func(*cobra.Command, []string) {}})
	want := "# Command line\n\n## `x`\n\nDoes things.\n\n## `x show`\n\nAt length.\n\n" +
		"```\nx show ID [flags]\n```\n\nExamples:\n\n```\n  x show 1\n```\n\n" +
		"Flags:\n\n```\n      --json            as JSON\n  -w, --width columns   columns to use | at most (default 80)\n```\n"
	if got := gendocs.Commands(root); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

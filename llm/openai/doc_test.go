package openai

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/llm"
)

var update = flag.Bool("update", false, "write the tables of docs/providers.md anew")

const page = "../../docs/providers.md"

// The tables of docs/providers.md are those of this package.
func TestReferenceProviders(t *testing.T) {
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for name, want := range map[string]string{
		"providers": providerTable(), "variables": variableTable(), "quirks": quirkList(), "codes": codeTable(t),
	} {
		begin, end := "<!-- begin "+name+": make generate -->\n", "<!-- end "+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		got, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("the page has no place for the %s", name)
		}
		if *update {
			text = before + begin + want + end + after
		} else if got != want {
			t.Errorf("the %s are stale: run make generate", name)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func table(head string, rows ...[]string) string {
	var b strings.Builder
	columns := strings.Count(head, "|") + 1
	fmt.Fprintf(&b, "| %s |\n|%s\n", head, strings.Repeat(" --- |", columns))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return b.String()
}

func code(s string) string { return "`" + s + "`" }

func providerTable() string {
	var rows [][]string
	for _, p := range Providers() {
		names := "begins with " + code(p.Prefix)
		if p.Models == "" {
			names = "a name that " + names
		} else {
			names = p.Models + ", or one that " + names
		}
		key := code(p.KeyVars[0])
		if p.Keyless {
			key = "none"
		}
		rows = append(rows, []string{p.Title, names, code(p.Example), key})
	}
	return table("Provider | Names | For instance | Key", rows...)
}

func variableTable() string {
	rows := [][]string{
		{code("LUX_MODEL_NORMAL"), "the model, if nothing else says it"},
		{code("SEQUENT_MODEL"), "the model, if that does not say it either"},
	}
	for _, p := range Providers() {
		for i, v := range p.KeyVars {
			what := "the key of " + p.Title
			if i > 0 {
				what += ", if " + code(p.KeyVars[0]) + " is not set"
			}
			if p.Keyless {
				what += ", where one is wanted"
			}
			rows = append(rows, []string{code(v), what})
		}
		rows = append(rows, []string{code(p.BaseVar), "where " + p.Title + " is, instead of " + code(p.BaseURL)})
	}
	return table("Variable | What it says", append(rows,
		[]string{code("SEQUENT_MODEL_TIMEOUT"), "`--model-timeout`: how long to wait for an answer; 1m"},
		[]string{code("SEQUENT_MODEL_TRIES"), "`--model-tries`: how often to ask; 3"},
		[]string{code(EmbeddingsURL), "the base URL of a service that embeds texts, for the search of notes by meaning; off if it is not set"},
		[]string{code(EmbeddingsModel), "its model"},
		[]string{code(EmbeddingsKey), "its key, where one is wanted"},
	)...)
}

func quirkList() string {
	var b strings.Builder
	for _, p := range Providers() {
		fmt.Fprintf(&b, "- **%s**: the limit of an answer is %s; ", p.Title, code(p.maxTokens))
		switch p.structured {
		case bySchema:
			b.WriteString("structured answers by `json_schema`")
		case byObject:
			b.WriteString("structured answers by `json_object`, with the schema in words")
		case byWords:
			b.WriteString("structured answers by asking in words")
		}
		for _, f := range p.withSchema {
			fmt.Fprintf(&b, " and %s", code(fmt.Sprintf("%q: %s", f.name, f.value)))
		}
		fmt.Fprintf(&b, "; temperatures up to %g", p.hottest)
		if p.noUsageFlag {
			b.WriteString("; streams are not asked to count tokens")
		}
		for _, q := range p.quirks {
			var what []string
			if q.temperature {
				what = append(what, "no temperature")
			}
			if q.toolEffort != "" {
				what = append(what, "tools with a reasoning effort of "+code(q.toolEffort))
			}
			fmt.Fprintf(&b, "; for `%s…` %s", strings.Join(q.prefixes, "…`, `"), strings.Join(what, " and "))
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// codeTable has the codes of package llm, with the comments beside them.
func codeTable(t *testing.T) string {
	file, err := parser.ParseFile(token.NewFileSet(), "../errors.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	meaning := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				meaning[strings.Trim(lit.Value, `"`)] = strings.TrimSpace(v.Comment.Text())
			}
		}
		return true
	})
	var rows [][]string
	for _, c := range llm.Codes() {
		if meaning[string(c)] == "" {
			t.Errorf("the code %s has no comment beside it", c)
		}
		rows = append(rows, []string{code(string(c)), meaning[string(c)]})
	}
	if len(meaning) != len(rows) {
		t.Errorf("errors.go declares %d codes, and Codes has %d", len(meaning), len(rows))
	}
	return table("Code | Meaning", rows...)
}

// What the page calls a variable is one that this package reads, or a flag.
func TestVariablesOfThePage(t *testing.T) {
	known := map[string]bool{
		EmbeddingsURL: true, EmbeddingsModel: true, EmbeddingsKey: true,
		"SEQUENT_MODEL_TIMEOUT": true, "SEQUENT_MODEL_TRIES": true, // flags
	}
	for _, v := range ModelVars() {
		known[v] = true
	}
	for _, p := range Providers() {
		known[p.BaseVar] = true
		for _, v := range p.KeyVars {
			known[v] = true
		}
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, v := range regexp.MustCompile(`\b[A-Z]+(_[A-Z]+)+\b`).FindAllString(string(raw), -1) {
		if seen[v] = true; !known[v] {
			t.Errorf("the page names %s, which nothing reads", v)
		}
	}
	for v := range known {
		if !seen[v] {
			t.Errorf("the page does not name %s", v)
		}
	}
}

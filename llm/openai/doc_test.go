package openai

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/gendocs"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/providers.md")

const page = "../../docs/providers.md"

// TestReferenceProviders checks that the tables of docs/providers.md are current.
func TestReferenceProviders(t *testing.T) {
	for name, text := range map[string]string{
		"providers": providerTable(), "variables": variableTable(), "quirks": quirkList(), "codes": codeTable(t),
	} {
		if *update {
			if err := gendocs.WriteSection(page, name, text); err != nil {
				t.Fatal(err)
			}
		}
		if err := gendocs.CheckSection(page, name, text); err != nil {
			t.Error(err)
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
		names := "names that begin with " + code(p.Prefix)
		if p.Models != "" {
			names = p.Models + ", or with the prefix " + code(p.Prefix)
		}
		key := code(p.KeyVars[0])
		if p.Keyless {
			key = "none"
		}
		rows = append(rows, []string{p.Title, names, code(p.Model), key})
	}
	return table("Provider | Model names | Default | Key", rows...)
}

func variableTable() string {
	var models []string
	for _, v := range modelVars() {
		models = append(models, code(v))
	}
	rows := [][]string{{strings.Join(models, ", "), "default model: the first that is set"}}
	for _, p := range Providers() {
		for i, v := range p.KeyVars {
			if i > 0 {
				rows = append(rows, []string{code(v), "API key of " + p.Title + " if " + code(p.KeyVars[0]) + " is not set"})
			} else if p.Keyless {
				rows = append(rows, []string{code(v), "API key of " + p.Title + ", if it requires one"})
			}
		}
		rows = append(rows, []string{code(p.BaseVar), "base URL of " + p.Title + " (default " + code(p.BaseURL) + ")"})
	}
	return table("Variable | Meaning", append(rows,
		[]string{code("SEQUENT_MODEL_TIMEOUT"), "same as `--model-timeout` (default 1m)"},
		[]string{code("SEQUENT_MODEL_TRIES"), "same as `--model-tries` (default 3)"},
		[]string{code(EmbeddingsURL), "base URL of an embeddings service; enables the search of notes by meaning"},
		[]string{code(EmbeddingsModel), "model of the embeddings service"},
		[]string{code(EmbeddingsKey), "API key of the embeddings service, if it requires one"},
	)...)
}

func quirkList() string {
	var b strings.Builder
	for _, p := range Providers() {
		fmt.Fprintf(&b, "- **%s**: ", p.Title)
		switch p.structured {
		case bySchema:
			b.WriteString("structured answers with `json_schema`")
		case byObject:
			b.WriteString("structured answers with `json_object` and the schema in the prompt")
		case byWords:
			b.WriteString("structured answers with the schema in the prompt")
		}
		if p.requireParameters {
			b.WriteString(" and `\"provider\": {\"require_parameters\":true}`")
		}
		fmt.Fprintf(&b, "; temperatures up to %g", p.maxTemperature)
		if p.noUsageFlag {
			b.WriteString("; no `stream_options`")
		}
		for _, q := range p.quirks {
			var what []string
			if q.noTemperature {
				what = append(what, "no temperature")
			}
			if q.toolEffort != "" {
				what = append(what, "tools only with reasoning effort "+code(q.toolEffort))
			}
			fmt.Fprintf(&b, "; `%s…`: %s", strings.Join(q.prefixes, "…`, `"), strings.Join(what, ", "))
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// codeTable lists the codes of package llm. Their meanings are the comments in the
// source.
func codeTable(t *testing.T) string {
	file, err := parser.ParseFile(token.NewFileSet(), "../errors.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			lit, _ := v.Values[0].(*ast.BasicLit)
			if v.Comment.Text() == "" {
				t.Errorf("code %s has no comment on its line", lit.Value)
			}
			rows = append(rows, []string{code(strings.Trim(lit.Value, `"`)), strings.TrimSpace(v.Comment.Text())})
		}
		return true
	})
	return table("Code | Meaning", rows...)
}

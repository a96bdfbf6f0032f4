package gendocs_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/classic"
	"github.com/sequent-dev/sequent/dialect/guided"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/internal/gendocs"
)

// dialects returns every dialect. Their collaborators do nothing, because a page
// shows only what a dialect publishes.
func dialects() []dialect.Dialect {
	engine := sequent.New(sequent.Config{})
	nothing := func(*sequent.Session) string { return "" }
	return []dialect.Dialect{
		standard.New(standard.Config{
			Engine: engine,
			Render: standard.Render{Markdown: nothing, JSON: nothing, Mermaid: nothing},
		}),
		classic.New(classic.Config{Engine: engine}),
		guided.New(guided.Config{Engine: engine}),
		history.New(history.Config{Engine: engine}),
		status.New(status.Config{Engine: engine}),
		wiki.New(wiki.Config{
			Engine: engine,
			Open:   func(context.Context, string) (*wiki.Vault, error) { return new(wiki.Vault), nil },
		}),
	}
}

func TestReferenceDialects(t *testing.T) {
	var names []string
	for _, d := range dialects() {
		example, err := os.ReadFile(filepath.Join("..", "..", "dialect", d.Name, "testdata", "linear.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := gendocs.Dialect(d, example)
		if err != nil {
			t.Fatal(err)
		}
		fresh(t, "dialect-"+d.Name+".md", text)
		names = append(names, d.Name)
	}
	specs, err := filepath.Glob(filepath.Join("..", "..", "dialect", "*", "tool.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		if name := filepath.Base(filepath.Dir(s)); !slices.Contains(names, name) {
			t.Errorf("dialect %s has no page: add it to the function dialects", name)
		}
	}
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "reference", "dialect-*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "dialect-"), ".md")
		if !slices.Contains(names, name) {
			t.Errorf("%s describes no dialect: remove it", filepath.Base(p))
		}
	}
}

package gendocs_test

import (
	"path/filepath"
	"slices"
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
	"github.com/sequent-dev/sequent/vault/vaults"
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
		wiki.New(wiki.Config{Vaults: vaults.New(vaults.Config{Engine: engine})}),
	}
}

func TestReferenceDialects(t *testing.T) {
	list := dialects()
	text, err := gendocs.Dialects(list)
	if err != nil {
		t.Fatal(err)
	}
	fresh(t, "dialects.md", text)
	specs, err := filepath.Glob(filepath.Join("..", "..", "dialect", "*", "tool.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		name := filepath.Base(filepath.Dir(s))
		if !slices.ContainsFunc(list, func(d dialect.Dialect) bool { return d.Name == name }) {
			t.Errorf("the reference lacks the dialect %s: add it to the function dialects", name)
		}
	}
}

package setup_test

import (
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/sequent-dev/sequent/internal/gendocs"
	"github.com/sequent-dev/sequent/setup"
)

// fresh checks that a page is what its template says, after writing it under -update.
func fresh(t *testing.T, name string, funcs template.FuncMap, file ...string) {
	t.Helper()
	funcs["published"] = func(name string) (string, error) { return gendocs.Block(name, gendocs.Released()) }
	page, err := template.New(name).Funcs(funcs).ParseFiles(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := page.Execute(&b, setup.Clients()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(append([]string{".."}, file...)...)
	if *setup.Rewrite {
		if err := gendocs.Write(path, b.String()); err != nil {
			t.Fatal(err)
		}
	}
	if err := gendocs.Check(path, b.String()); err != nil {
		t.Error(err)
	}
}

// TestReferenceClients checks that docs/clients.md says what the table of clients says.
func TestReferenceClients(t *testing.T) {
	onPath := setup.Server{Command: "sequent", Args: []string{"serve"}}
	snippet := func(c setup.Client, s setup.Server) (string, error) { return setup.Setup{}.Snippet(c, false, s) }
	fresh(t, "clients.md.tmpl", template.FuncMap{
		"path": func(c setup.Client, goos string) string {
			config := map[string]string{"linux": "~/.config", "darwin": "~/Library/Application Support", "windows": "%APPDATA%"}[goos]
			path := strings.NewReplacer("$CONFIG", config, "$XDG", "~/.config").Replace(c.Path(goos))
			if goos == "windows" {
				path = strings.ReplaceAll(strings.Replace(path, "~", "%USERPROFILE%", 1), "/", `\`)
			}
			return "`" + path + "`"
		},
		"lang":   func(c setup.Client) string { return strings.ToLower(string(c.Format)) },
		"client": func(id string) setup.Client { c, _ := setup.Lookup(id); return c },
		"local":  func(c setup.Client) (string, error) { return snippet(c, onPath) },
		"team": func(c setup.Client) (string, error) {
			return snippet(c, setup.Server{URL: "https://think.example.com/mcp", TokenEnv: "SEQUENT_TOKEN"})
		},
	}, "docs", "clients.md")
}

// TestReferencePluginReadme checks that the page of the plugin says how it is installed today.
func TestReferencePluginReadme(t *testing.T) {
	fresh(t, "plugin.md.tmpl", template.FuncMap{}, "plugin", "README.md")
}

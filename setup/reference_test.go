package setup_test

import (
	"path/filepath"
	"slices"
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

// An entry is what several clients have in their files, and what a page shows once.
type entry struct{ Names, Lang, Text string }

// entries groups the clients whose entries for a server are equal.
func entries(clients []setup.Client, s setup.Server) (list []entry, err error) {
	for _, c := range clients {
		text, err := setup.Setup{}.Snippet(c, false, s)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(list, func(e entry) bool { return e.Text == text }); i >= 0 {
			list[i].Names += ", " + c.Name
			continue
		}
		list = append(list, entry{c.Name, strings.ToLower(string(c.Format)), text})
	}
	return list, nil
}

// TestReferenceClients checks that docs/clients.md says what the table of clients says.
func TestReferenceClients(t *testing.T) {
	onPath := setup.Server{Command: "sequent", Args: []string{"serve"}}
	fresh(t, "clients.md.tmpl", template.FuncMap{
		"path": func(c setup.Client, goos string) string {
			config := map[string]string{"linux": "~/.config", "darwin": "~/Library/Application Support", "windows": "%APPDATA%"}[goos]
			path := strings.NewReplacer("$CONFIG", config, "$XDG", "~/.config").Replace(c.Path(goos))
			if goos == "windows" {
				path = strings.ReplaceAll(strings.Replace(path, "~", "%USERPROFILE%", 1), "/", `\`)
			}
			return "`" + path + "`"
		},
		"local": func(clients []setup.Client) ([]entry, error) { return entries(clients, onPath) },
		"team": func(clients []setup.Client) ([]entry, error) {
			clients = slices.DeleteFunc(slices.Clone(clients), func(c setup.Client) bool { return !c.Tokens() })
			return entries(clients, setup.Server{URL: "https://think.example.com/mcp", TokenEnv: "SEQUENT_TOKEN"})
		},
	}, "docs", "clients.md")
}

// TestReferencePluginReadme checks that the page of the plugin says how it is installed today.
func TestReferencePluginReadme(t *testing.T) {
	fresh(t, "plugin.md.tmpl", template.FuncMap{}, "plugin", "README.md")
}

package setup

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/sequent-dev/sequent/internal/gendocs"
)

var update = flag.Bool("update", false, "rewrite docs/clients.md")

// TestReferenceClients checks that docs/clients.md says what the table of clients says.
func TestReferenceClients(t *testing.T) {
	onPath := Server{Command: "sequent", Args: []string{"serve"}}
	snippet := func(c Client, s Server) (string, error) { return Setup{}.Snippet(c, false, s) }
	page, err := template.New("clients.md.tmpl").Funcs(template.FuncMap{
		"path": func(c Client, goos string) string {
			config := map[string]string{"linux": "~/.config", macOS: "~/Library/Application Support", windows: "%APPDATA%"}[goos]
			path := strings.NewReplacer("$CONFIG", config, "$XDG", "~/.config").Replace(c.Path(goos))
			if goos == windows {
				path = strings.ReplaceAll(strings.Replace(path, "~", "%USERPROFILE%", 1), "/", `\`)
			}
			return "`" + path + "`"
		},
		"lang":  func(c Client) string { return strings.ToLower(string(c.Format)) },
		"local": func(c Client) (string, error) { return snippet(c, onPath) },
		"team": func(c Client) (string, error) {
			return snippet(c, Server{URL: "https://think.example.com/mcp", TokenEnv: "SEQUENT_TEAM_TOKEN"})
		},
		"cursor":     func() (string, error) { return CursorLink(onPath) },
		"vscode":     func() (string, error) { return VSCodeLink(onPath) },
		"vscodejson": func() (string, error) { return VSCodeJSON(onPath) },
	}).ParseFiles(filepath.Join("testdata", "clients.md.tmpl"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := page.Execute(&b, Clients()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "docs", "clients.md")
	if *update {
		if err := gendocs.Write(file, b.String()); err != nil {
			t.Fatal(err)
		}
	}
	if err := gendocs.Check(file, b.String()); err != nil {
		t.Error(err)
	}
}

package gendocs_test

import (
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/gendocs"
)

var top = filepath.Join("..", "..")

// pages returns what users read of the repository, by file names with slashes.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, dir := range []string{"docs", "npm", "plugin", "setup/skill"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "decisions"):
				return fs.SkipDir
			case filepath.Ext(file) == ".md":
				name, err := filepath.Rel(top, file)
				found[filepath.ToSlash(name)] = text(t, file)
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found["README.md"] = text(t, filepath.Join(top, "README.md"))
	delete(found, "docs/releasing.md") // it is about what a release has
	return found
}

func text(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(content), "\r\n", "\n")
}

func TestReferencePublished(t *testing.T) {
	if *update {
		if err := gendocs.Publish(top, gendocs.Released()); err != nil {
			t.Fatal(err)
		}
	}
	for name, page := range pages(t) {
		want, err := gendocs.Published(page, gendocs.Released())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if page != want {
			t.Errorf("%s is stale, run make generate", name)
		}
	}
}

// needsPublication matches commands and links that fail while nothing is published.
var needsPublication = regexp.MustCompile(`npx (-y )?@sequent-dev|"npx"|npm install (-g )?@sequent-dev|releases/latest|/sequent@latest|brew install|` +
	`docker run|marketplace add sequent-dev|go get github\.com/sequent-dev|\]\([^)]*(install-mcp|mcp(/|%2F)install)`)

// Pages show what needs a publication only when there is one, except below a heading that
// says so.
func TestPublished(t *testing.T) {
	const heading = "## When a version is published\n"
	block := regexp.MustCompile(`(?s)<!-- begin published \S+: make generate -->\n(.*?)<!-- end published -->\n`)
	shown := make(map[string]int)
	for name, page := range pages(t) {
		none, err := gendocs.Published(page, "")
		if err != nil {
			t.Fatal(err)
		}
		outside := block.ReplaceAllStringFunc(none, func(b string) string {
			inside := block.FindStringSubmatch(b)[1]
			if strings.HasPrefix(inside, heading) {
				return ""
			}
			return inside
		})
		if m := needsPublication.FindString(outside); m != "" {
			t.Errorf("%s shows %q though nothing is published", name, m)
		}
		some, err := gendocs.Published(page, "v0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(some, heading) || strings.Contains(some, "not published yet") {
			t.Errorf("%s says that nothing is published, of v0.1.0", name)
		}
		if back, err := gendocs.Published(some, ""); err != nil || back != none {
			t.Errorf("%s differs after a version and none: %v", name, err)
		}
		shown[name] = len(needsPublication.FindAllString(some, -1))
	}
	for name, want := range map[string]int{
		"README.md": 4, "docs/install.md": 9, "docs/clients.md": 2, "plugin/README.md": 2, "npm/sequent/README.md": 2,
		"npm/ai-sdk/README.md": 2, "docs/ai-sdk.md": 2, "docs/embed.md": 1, "docs/write-a-dialect.md": 1, "plugin/skills/sequent/SKILL.md": 0,
	} {
		if shown[name] != want {
			t.Errorf("%s shows %d commands and links of v0.1.0, want %d", name, shown[name], want)
		}
	}
}

// The buttons install the npm package. They are decoded as the clients do.
func TestButtons(t *testing.T) {
	page, err := gendocs.Block("readme", "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, m := range regexp.MustCompile(`\]\((https://[^)]*)\)`).FindAllStringSubmatch(page, -1) {
		u, err := url.Parse(m[1])
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"command": "npx", "args": []any{"-y", "@sequent-dev/sequent", "serve"}}
		entry, ok := strings.CutPrefix(u.Query().Get("url"), "vscode:mcp/install?")
		if ok {
			want["name"], want["type"] = "sequent", "stdio"
			entry, err = url.PathUnescape(entry)
		} else {
			var config []byte
			config, err = base64.StdEncoding.DecodeString(u.Query().Get("config"))
			entry = string(config)
		}
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(entry), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("the button has %s, want %v (%v)", entry, want, err)
		}
		seen++
	}
	if seen != 2 {
		t.Errorf("the page has %d buttons, want 2", seen)
	}
}

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	version := filepath.Join(dir, "internal", "gendocs", "released.txt")
	page := filepath.Join(dir, "npm", "README.md")
	for _, file := range []string{version, page} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(page, []byte("Before.\r\n<!-- begin published npm: make generate -->\r\n<!-- end published -->\r\nAfter.\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"", "v0.1.0", ""} {
		if err := gendocs.Publish(dir, v); err != nil {
			t.Fatal(err)
		}
		block, err := gendocs.Block("npm", v)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text(t, page), "Before.\n"+block+"After.\n"; got != want {
			t.Errorf("%q: the page is\n%s\nwant\n%s", v, got, want)
		}
		want := v
		if v == "" {
			want = "none"
		}
		if got := text(t, version); got != want+"\n" {
			t.Errorf("%q: released.txt has %q", v, got)
		}
	}
	if _, err := gendocs.Block("nosuch", ""); err == nil {
		t.Error("Block accepts a name without a template")
	}
}

package setup

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Links are decoded as the clients do.
func TestLinks(t *testing.T) {
	for _, s := range []Server{
		{Command: "sequent", Args: []string{"serve"}},
		{Command: "sequent", Args: []string{"serve", "--store", "a b+c&d/é"}},
	} {
		link, err := CursorLink(s)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(link)
		if err != nil || u.Scheme != "cursor" || u.Host != "anysphere.cursor-deeplink" || u.Path != "/mcp/install" || u.Query().Get("name") != EntryName {
			t.Errorf("Cursor: got %s, %v", link, err)
		}
		config, err := base64.StdEncoding.DecodeString(u.Query().Get("config"))
		if err != nil {
			t.Fatal(err)
		}
		checkLink(t, string(config), s)

		link, err = VSCodeLink(s)
		if err != nil {
			t.Fatal(err)
		}
		query, ok := strings.CutPrefix(link, "vscode:mcp/install?")
		text, err := url.PathUnescape(query)
		if !ok || err != nil || strings.Contains(query, "%2520") {
			t.Errorf("VS Code: got %s, %v", link, err)
		}
		if entry := checkLink(t, text, s); entry["name"] != EntryName {
			t.Errorf("VS Code: got %s", text)
		}
	}
}

// The buttons of the project's page install the package of npm, in both clients, and its
// commands are those of the table.
func TestReferenceButtons(t *testing.T) {
	s := Server{Command: "npx", Args: []string{"-y", "@sequent-dev/sequent", "serve"}}
	cursor, err := CursorPage(s)
	vscode, err2 := VSCodePage(s)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Or with a button, if you have Node.js: [add to Cursor](%s), [add to VS Code](%s).\n", cursor, vscode)
	const begin, end = "<!-- begin links: make generate -->\n", "<!-- end links -->\n"
	file := filepath.Join("..", "README.md")
	page := strings.ReplaceAll(get(t, file), "\r\n", "\n")
	before, rest, ok := strings.Cut(page, begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("README.md has no place for the buttons")
	}
	if *update && got != want {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		got = want
	}
	if got != want {
		t.Error("the buttons of README.md are stale, run make generate")
	}
	for _, m := range regexp.MustCompile(`\]\((https://[^)]*)\)`).FindAllStringSubmatch(got, -1) {
		u, err := url.Parse(m[1])
		if err != nil {
			t.Fatal(err)
		}
		text, ok := strings.CutPrefix(u.Query().Get("url"), "vscode:mcp/install?")
		if ok {
			text, err = url.PathUnescape(text)
		} else {
			var config []byte
			config, err = base64.StdEncoding.DecodeString(u.Query().Get("config"))
			text = string(config)
		}
		if err != nil {
			t.Fatal(err)
		}
		checkLink(t, text, s)
	}
}

func checkLink(t *testing.T, text string, want Server) map[string]any {
	t.Helper()
	var entry map[string]any
	if err := json.Unmarshal([]byte(text), &entry); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if got, ok := decode(entry); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v of %s, want %+v", got, text, want)
	}
	return entry
}

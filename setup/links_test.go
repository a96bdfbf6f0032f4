package setup

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"reflect"
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

package aisdk

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code in docs/ai-sdk.md is the code that the tests run.
func TestDocumentedCode(t *testing.T) {
	t.Parallel()
	doc := read(t, "../../docs/ai-sdk.md")
	code := read(t, "example.mjs")
	shown := regexp.MustCompile("(?s)<!-- region: (\\w+) of e2e/aisdk/example\\.mjs -->\n```js\n(.*?)```").FindAllStringSubmatch(doc, -1)
	if regions := strings.Count(code, "// #region "); len(shown) != regions {
		t.Errorf("docs/ai-sdk.md has %d regions of example.mjs, want all %d", len(shown), regions)
	}
	for _, m := range shown {
		_, rest, found := strings.Cut(code, "// #region "+m[1]+"\n")
		want, _, _ := strings.Cut(rest, "// #endregion\n")
		if want = strings.ReplaceAll(want, "export ", ""); !found || m[2] != want {
			t.Errorf("region %s of docs/ai-sdk.md is\n%s\nbut example.mjs has\n%s", m[1], m[2], want)
		}
	}
}

// Version 6 differs from version 7 only in the names that docs/ai-sdk.md lists and
// in the names of its packages in this directory.
func TestVersion6Names(t *testing.T) {
	t.Parallel()
	seven, six := code(t, "v7.mjs"), code(t, "v6.mjs")
	doc := read(t, "../../docs/ai-sdk.md")
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(doc, -1) {
		if !strings.Contains(seven, m[1]) {
			t.Errorf("docs/ai-sdk.md lists %s, which v7.mjs does not use", m[1])
		}
		seven = strings.ReplaceAll(seven, m[1], m[2])
	}
	seven = strings.NewReplacer("'ai'", "'ai-v6'", "'ai/", "'ai-v6/", "'@ai-sdk/mcp", "'@ai-sdk/mcp-v6", "ModelV4", "ModelV3").Replace(seven)
	if seven != six {
		t.Errorf("v6.mjs is\n%s\nwant\n%s", six, seven)
	}
}

// code returns a file without its comment lines.
func code(t *testing.T, path string) string {
	t.Helper()
	return strings.TrimSpace(regexp.MustCompile(`(?m)^//.*\n`).ReplaceAllString(read(t, path), ""))
}

// read returns a file with Unix line endings.
func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

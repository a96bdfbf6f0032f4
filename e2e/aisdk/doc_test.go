package aisdk

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

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

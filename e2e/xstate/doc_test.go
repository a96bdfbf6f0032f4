package xstate

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
	shown := regexp.MustCompile("(?s)<!-- region: (\\w+) of e2e/xstate/(\\w+\\.mjs) -->\n```js\n(.*?)```").FindAllStringSubmatch(doc, -1)
	regions := strings.Count(read(t, "plan.mjs")+read(t, "run.mjs"), "// #region ")
	if len(shown) != regions {
		t.Errorf("the page has %d regions of the files, want all %d", len(shown), regions)
	}
	for _, m := range shown {
		_, rest, found := strings.Cut(read(t, m[2]), "// #region "+m[1]+"\n")
		want, _, _ := strings.Cut(rest, "// #endregion\n")
		if want = strings.ReplaceAll(want, "export ", ""); !found || m[3] != want {
			t.Errorf("region %s of the page is\n%s\nbut %s has\n%s", m[1], m[3], m[2], want)
		}
	}
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

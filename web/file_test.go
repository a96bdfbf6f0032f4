package web_test

import (
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/redact"
	"github.com/sequent-dev/sequent/web"
)

// A file is the article with its styles and nothing that runs: a title of its own, every text, and what was masked.
func TestFile(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	think(t, e, "s", "Why </title><script>alert(1)</script> here? Because.", "The key is [redacted].")
	s, err := e.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	file, err := web.File(t.Context(), s, []redact.Finding{{Thought: 2, Field: "thought", Pattern: "aws", Count: 3}})
	if err != nil {
		t.Fatal(err)
	}
	got := string(file)
	for _, want := range []string{
		`<title>Why &lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; here?</title>`, `content="default-src 'none'; style-src 'sha256-`,
		`<p>Because.</p>`, `<p>The key is [redacted].</p>`, `<tr><td><a href="#t2">@2</a><td>thought<td>aws<td>3`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the file lacks %s", want)
		}
	}
	if strings.Contains(got, "<script") || strings.Contains(got, "script-src") {
		t.Error("the file has a script")
	}
	if again, _ := web.File(t.Context(), s, nil); strings.Contains(string(again), "masked") {
		t.Error("a file without masked texts lists some")
	}
}

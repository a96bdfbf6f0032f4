package brief

import (
	"slices"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                          nil,
		"One. Two! Three? Four":     {"One.", "Two!", "Three?", "Four"},
		"e.g. this, 0.5 and go.mod": {"e.g. this, 0.5 and go.mod"},
		"(Is it?) Yes.":             {"(Is it?)", "Yes."},
		"a\n\n b  c \r\nd":          {"a", "b c", "d"},
		"真的吗？是的。好":                  {"真的吗？", "是的。", "好"},
	} {
		if got := Sentences(text); !slices.Equal(got, want) {
			t.Errorf("Sentences(%q) = %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("word, ", 100)
	for _, s := range Sentences(long) {
		if len(s) > 300 || !strings.HasSuffix(s, ",") {
			t.Errorf("a part of a long sentence is %q", s)
		}
	}
	for _, s := range Sentences(strings.Repeat("é", 500)) {
		if len(s) > 300 || strings.ContainsRune(s, '\ufffd') {
			t.Errorf("a part of a long word is %q", s)
		}
	}
}

func TestLead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		bytes int
		want  string
	}{
		{"Short.", 20, "Short."},
		{"A first sentence. A second one that does not fit.", 30, "A first sentence. …"},
		{"Fix. A second one that does not fit.", 30, "Fix. A second one that …"},
		{"one_word_that_is_longer_than_that", 20, "one_word_that_is …"},
		{"éééééééééé", 10, "ééé …"},
		{"é", 1, "é"[:0] + " …"},
	} {
		if got := Lead(c.text, c.bytes); got != c.want {
			t.Errorf("Lead(%q, %d) = %q, want %q", c.text, c.bytes, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"so fix-a it is": true, "(fix-a)": true, "fix-ab": false, "prefix-a": false, "fix-a": true, "fix-ab fix-a": true, "é fix-aé": false,
	} {
		if got := names(text, "fix-a"); got != want {
			t.Errorf("names(%q) = %v", text, got)
		}
	}
	if names("a b", "a") {
		t.Error("a label of one letter is found")
	}
}

// Blocks of code are parts of their own, in the lines in which they were written.
func TestParts(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two.\nThree": {"One.", "Two.", "Three"},
		"See:\n```go\nif x {\n\treturn\n}\n```\nDone. So.": {"See:", "\n```go\nif x {\n\treturn\n}\n```\n", "Done.", "So."},
		"~~~\na\n\nb\n":                     {"\n~~~\na\n\nb\n"},
		"A:\n    x = 1\n    y = 2\nB.\n\tz": {"A:", "\n    x = 1\n    y = 2\n", "B.", "\n\tz\n"},
		"```one``` word":                    {"```one``` word"},
		"":                                  nil,
	} {
		if got := parts(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

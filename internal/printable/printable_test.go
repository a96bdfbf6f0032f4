package printable_test

import (
	"testing"

	"github.com/sequent-dev/sequent/internal/printable"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		"plain é 日本 😀\n\tend": "plain é 日本 😀\n\tend",
		"a\r\nb\rc":           "a\nb\nc",
		"\x00\x1b[1m\x7f":     "␀␛[1m␡",
		"\u0085\ufeff\xff":    "\ufffd\ufffd\ufffd",
	} {
		if got := printable.Text(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöüß", 3, "äö…"}, {"a bc", 3, "a…"}} {
		if got := printable.Short(tt.text, tt.n); got != tt.want {
			t.Errorf("Short(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

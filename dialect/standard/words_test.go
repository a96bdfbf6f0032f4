package standard

import (
	"strings"
	"testing"
)

// FuzzAppendWords checks that texts have the same hashes if they have the same
// words, and others else.
func FuzzAppendWords(f *testing.F) {
	f.Add("Some WORDS,\tand more\u00a0words \xff", "some words, AND more words \ufffd")
	f.Add(" a  b ", "A\u2003B")
	f.Add("\u0130 K", "i\u0307 k")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := strings.Fields(strings.ToLower(a)), strings.Fields(strings.ToLower(b))
		p, q := appendWords(nil, a), appendWords(nil, b)
		if len(p) != len(x) || len(q) != len(y) {
			t.Fatalf("%q has %d words, want %d; %q has %d, want %d", a, len(p), len(x), b, len(q), len(y))
		}
		for i := range min(len(x), len(y)) {
			if (p[i] == q[i]) != (x[i] == y[i]) {
				t.Errorf("words %q and %q have the hashes %d and %d", x[i], y[i], p[i], q[i])
			}
		}
	})
}

package wikilink_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault/wikilink"
)

// sluggish reports whether f takes more than linear time for a text: far more than four
// times the time for a quarter of it. The time alone would depend on the machine's load.
func sluggish(text string, f func(string)) (time.Duration, bool) {
	const while = time.Second // for what mostly takes a tenth of a second
	took := func(text string) time.Duration {
		start := time.Now()
		f(text)
		return time.Since(start)
	}
	d := took(text)
	if d < while {
		return d, false
	}
	quarter := text[:len(text)/4]
	return d, d > 5*(took(quarter)+took(quarter))+while/2
}

// Without limits, some of these take a minute, and hours with SEQUENT_LONG.
func TestHostile(t *testing.T) {
	t.Parallel()
	size := 64 << 10
	if os.Getenv("SEQUENT_LONG") != "" {
		size = 1 << 20
	}
	parse := func(text string) {
		wikilink.Parse([]byte(text))
		wikilink.InText(text)
		wikilink.Normalize(text)
	}
	units := []string{
		"[", "]", "[[", "]]", "[[a", "[[]", "[[a]] ", "[[a]]\n", "[[a#", "[[a|", "[a[[b]]", "![[", "!", `\`, `\[[`,
		">", "> ", "- ", "-\t", "1. ", "  - a\n", "* a\n\n", "# ", "\t", " ", "\n", "---\n", "===\n", "a\n===\n",
		"`", "``", "`a``b", "~~~\n", "```\n", "*", "**", "*a_ ", "**a*b", "_a_", "~~a~", "a**b__",
		"<", "<a ", "<a href=\"", "<!--", "<!-- a\n", "<![CDATA[", "<?", "<!A", "</a", "<a@b.c>", "&", "&amp;", "&#",
		"|", "|a", "|a\n|-\n", "|`a\\|b`|", "a|b\n", "[a](b", "[](", "[a](", "![a](b) ", "[a](<b", "[a](b \"", "[a]: b\n",
		"[a]:\n", "[a][b] ", "[a][", "[a] `b` ", "\x00", "\xff", "é", "\u0301", "思", "[[思", "a\u2028",
	}
	for _, unit := range units {
		t.Run(strings.ToValidUTF8(unit, "?"), func(t *testing.T) {
			text := strings.Repeat(unit, size/len(unit))
			if unit == "|`a\\|b`|" {
				text = "|a\n|-\n" + strings.Repeat(unit+"\n", 2000)
			}
			if d, bad := sluggish(text, parse); bad {
				t.Errorf("%q again and again: Parse takes %s", unit, d)
			}
		})
	}
	for _, n := range []int{size / 4, size} {
		for _, text := range []string{
			strings.Repeat("[", n/2) + strings.Repeat("]", n/2),
			strings.Repeat("[", 1000) + strings.Repeat("`a` ", n/4) + strings.Repeat("]", 1000),
		} {
			parse(text) // must come to an end before the tests are given up
		}
	}
}

// Text beyond the limits is still searched for links.
func TestBeyondTheBounds(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"depth":      strings.Repeat("> ", 150) + "[[found]]",
		"lists":      strings.Repeat("- ", 150) + "[[found]]",
		"emphasis":   strings.Repeat("*a ", 1000) + "[[found]]",
		"brackets":   strings.Repeat("[a] ", 1000) + "[[found]]",
		"references": strings.Repeat("[a]: b\n", 2000) + "[[found]]",
		"table":      "|a|\n|-|\n" + strings.Repeat("| b |\n", 2000) + "| [[found]] |",
	} {
		if got := wikilink.Concepts(wikilink.Parse([]byte(text))); !slices.Equal(got, []string{"found"}) {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

package wikilink_test

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A long text takes no longer than its length explains. Without bounds some of
// these take a minute, and minutes with SEQUENT_LONG.
func TestHostile(t *testing.T) {
	t.Parallel()
	size, most := 128<<10, 5*time.Second // on a busy machine; mostly it takes a tenth of a second
	if os.Getenv("SEQUENT_LONG") != "" {
		size, most = 1<<20, 20*time.Second
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
			start := time.Now()
			wikilink.Parse([]byte(text))
			wikilink.InText(text)
			wikilink.Normalize(text)
			if d := time.Since(start); d > most {
				t.Errorf("%q again and again: Parse takes %s", unit, d)
			} else if d > time.Second {
				t.Logf("%q: %s", unit, d)
			}
			start = time.Now()
			if err := wikilink.NewMarkdown(nil).Convert([]byte(text), io.Discard); err != nil {
				t.Error(err)
			}
			if d := time.Since(start); d > most {
				t.Errorf("%q again and again: a page takes %s", unit, d)
			}
		})
	}
	for _, text := range []string{
		strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		strings.Repeat("[", 1000) + strings.Repeat("`a` ", size/4) + strings.Repeat("]", 1000),
		strings.Repeat("> ", 60) + strings.Repeat("- ", 60) + "[[a]]",
	} {
		start := time.Now()
		wikilink.Parse([]byte(text))
		if d := time.Since(start); d > most {
			t.Errorf("%.20q… takes %s", text, d)
		}
	}
}

// What lies beyond the bounds is still searched for links.
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

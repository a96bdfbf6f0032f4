package wikilink_test

import (
	"os"
	"runtime"
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
		strings.Repeat("[", size/2) + strings.Repeat("]", size/2), strings.Repeat("> ", 150), strings.Repeat("- ", 150),
		"[", "]", "[[", "]]", "[[a", "[[]", "[[a]] ", "[[a]]\n", "[[a#", "[[a|", "[a[[b]]", "![[", "!", `\`, `\[[`,
		">", "> ", "- ", "-\t", "1. ", "  - a\n", "* a\n\n", "# ", "\t", " ", "\n", "---\n", "===\n", "a\n===\n",
		"`", "``", "`a``b", "~~~\n", "```\n", "*", "**", "*a_ ", "**a*b", "_a_", "~~a~", "a**b__",
		"|", "|a", "|a\n|-\n", "|`a\\|b`|", "a|b\n", "[a](b", "[](", "[a](", "![a](b) ", "[a](<b", "[a](b \"", "[a]: b\n",
		"[a]:\n", "[a][b] ", "[a][", "[a] `b` ", "\x00", "\xff", "é", "\u0301", "思", "[[思", "a\u2028",
	}
	for _, unit := range units {
		t.Run(strings.ToValidUTF8(unit, "?"), func(t *testing.T) {
			text := strings.Repeat(unit, size/len(unit))
			if d, bad := sluggish(text, parse); bad {
				t.Errorf("%q again and again: Parse takes %s", unit, d)
			}
		})
	}
}

// A megabyte of these took from 130 to 490 MB when all of CommonMark was parsed.
func TestMemory(t *testing.T) {
	for _, unit := range []string{"[", "- a\n", "> a\n\n", "# a\n", "[[a]] ", "`a` ", "``` `"} {
		text := []byte(strings.Repeat(unit, (1<<20)/len(unit)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		wikilink.Parse(text)
		runtime.ReadMemStats(&after)
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 120 {
			t.Errorf("%q again and again: Parse takes %d MiB", unit, mib)
		}
	}
}

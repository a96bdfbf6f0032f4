package wikilink_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/sequent-dev/sequent/vault/wikilink"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "[[a]]", "![[a#b|c]]", "[[[a]]]", "`[[a]]`", "> - [[a\n```\n[[b]]", "| a |\n|---|\n| [[x\\|y]] |", "<!-- [[a]] -->",
		"[x](y \"[[a]]\")", "\\[[a]]", "[[a]](b)", "\t[[a]]\n>\t[[b]]", "[[\xff]]\x00", "~~[[a]]~~ **[[b]]**", "[[#h]] ![[", "1. [[a]]\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, l := range wikilink.Parse([]byte(text)) {
			if l.Start < last || l.Stop <= l.Start || l.Stop > len(text) {
				t.Fatalf("%q: link %+v after %d", text, l, last)
			}
			last = l.Stop
			covered := text[l.Start:l.Stop]
			// The text that a link covers is the same link on its own.
			again := wikilink.InText(covered)
			if len(again) != 1 {
				t.Fatalf("%q: %q holds links %+v", text, covered, again)
			}
			if a := again[0]; a.Target != l.Target || a.Fragment != l.Fragment || a.Alias != l.Alias || a.Embed != l.Embed {
				t.Fatalf("%q: %+v, but alone %+v", text, l, a)
			}
			if l.Target == "" && l.Fragment == "" || strings.ContainsAny(l.Target, "[]|\n") || l.Target != "" && l.Concept() == "" {
				t.Fatalf("%q: %+v", text, l)
			}
		}
	})
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"", "A b_c/d-e", "İ", "ẞß", "ΑΣ", "\u212A\u2126\uFB01", "a\u0301\u0323", "\xff", "ǅ ᾳ", "か\u3099", "\u1E9E", "-\u0338-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name := wikilink.Normalize(text)
		if again := wikilink.Normalize(name); again != name {
			t.Fatalf("%q became %q, and that %q", text, name, again)
		}
		if !utf8.ValidString(name) || !norm.NFC.IsNormalString(name) ||
			strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || strings.Contains(name, "--") || strings.ContainsAny(name, " _/\t\n") {
			t.Fatalf("%q became %q", text, name)
		}
	})
}

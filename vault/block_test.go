package vault_test

import (
	"slices"
	"testing"

	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

var hostileTexts = []string{
	"plain", "```\nopen", "~~~\nopen", "- ```\n  open", "> ```\nopen", "<!-- open", "<script>", "<?php", "<![CDATA[", "`", "``x`",
	"%% open", "$$ open", "# x\n---", "    code", "\tcode", "a\n\n\n", " a", "```\nclosed\n```", "a\x00\x1b[31m\u0085", "a\r\nb\rc", "中文", "",
	"> quote", "- list\n- list", "1. x\n   ```\n   y\n   ```", "| a |\n|---|", "[x]: y", "\\", "*", "<details>", "***", "[[x]]\n```",
}

// No text affects what follows it, and every text can be parsed again.
func TestBlock(t *testing.T) {
	for _, text := range hostileTexts {
		for name, written := range map[string]string{"text": vault.Block(text), "remarks": vault.Remarks(text)} {
			note := written + "\n\n[[after]]\n"
			if links := wikilink.Concepts(wikilink.Parse([]byte(note))); !slices.Contains(links, "after") {
				t.Errorf("%q as %s swallows what follows:\n%s", text, name, note)
			}
		}
		if got := vault.Plain(vault.Block(text)); got != printable.Text(text) {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
	if got := vault.Block("a [[b]]\n\n- c"); got != "a [[b]]\n\n- c" {
		t.Errorf("an ordinary text is written as %q", got)
	}
}

func FuzzBlock(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := vault.Plain(vault.Block(text)); got != printable.Text(text) {
			t.Fatalf("%q comes back as %q", text, got)
		}
	})
}

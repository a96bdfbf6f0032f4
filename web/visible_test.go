package web_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/printable"
)

// The viewer shows hidden characters as printable does, each of them.
func TestVisible(t *testing.T) {
	node := needtest.Program(t, "node", "install Node.js")
	texts := []string{
		"a\r\nb\rc\u2028d\u2029e\u0085f\tg\nh", "\u202a\u202e\u2066\u2069\u200e\u200f\u061c", "👩‍👩‍👧‍👦 ❤️ 1️⃣ 👩🏽‍🚒 🏴‍☠️ ©️ ↔️",
		"می\u200cخواهم क्\u200dष क्\u200d", "葛\U000e0100飾", "a\ufe0f😀\ufe0f\ufe0f", "😀\u200d", "م\u200c\u200c\u200dم\u200d\u202e", "a\u200db\u200cc",
	}
	for r := range rune(0xe01f0) {
		if printable.Hidden(r) && r != '\r' || r >= 0x2600 && r < 0x2700 {
			texts = append(texts, "x"+string(r)+"y", "😀"+string(r)+"\ufe0f")
		}
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", `
		import { visible } from './ui/dom.js';
		import { readFileSync } from 'node:fs';
		console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(visible)));`)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v", err)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(texts) {
		t.Fatalf("%d texts of %d, %v", len(got), len(texts), err)
	}
	differences := 0
	for i, text := range texts {
		if want := printable.Text(text); got[i] != want && differences < 20 {
			differences++
			t.Errorf("%+q: got %+q, want %+q", text, got[i], want)
		}
	}
}

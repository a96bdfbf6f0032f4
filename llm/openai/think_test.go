package openai

import (
	"strings"
	"testing"
)

// split splits a complete answer.
func split(s string) (reasoning, text string) {
	var sp splitter
	reasoning, text = sp.add(s)
	r, t := sp.end()
	return reasoning + r, text + t
}

func TestSplit(t *testing.T) {
	tests := []struct{ in, reasoning, text string }{
		{"", "", ""},
		{"plain", "", "plain"},
		{"  plain ", "", "  plain "},
		{"<think>\nhm\n</think>\n\nplain", "\nhm\n", "plain"},
		{"\n <think>hm</think>plain", "hm", "plain"},
		{"<think></think>plain", "", "plain"},
		{"<think>never ends", "never ends", ""},
		{"<think>hm</think", "hm</think", ""},
		{"<thin", "", "<thin"},
		{"<thinking>plain", "", "<thinking>plain"},
		{"plain <think>no</think>", "", "plain <think>no</think>"},
		{"<think>a</think>b</think>c", "a", "b</think>c"},
	}
	for _, tt := range tests {
		if reasoning, text := split(tt.in); reasoning != tt.reasoning || text != tt.text {
			t.Errorf("split(%q) = %q, %q, want %q, %q", tt.in, reasoning, text, tt.reasoning, tt.text)
		}
	}
}

// The result does not depend on how the answer is cut into pieces.
func FuzzSplitter(f *testing.F) {
	f.Add("<think>hm\n</think>\n plain", uint8(3))
	f.Add(" <thi<think></thi</think></think>", uint8(1))
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		wantReasoning, wantText := split(s)
		var sp splitter
		var reasoning, text strings.Builder
		for rest, n := s, int(size)+1; rest != ""; {
			r, x := sp.add(rest[:min(n, len(rest))])
			reasoning.WriteString(r)
			text.WriteString(x)
			rest = rest[min(n, len(rest)):]
		}
		r, x := sp.end()
		reasoning.WriteString(r)
		text.WriteString(x)
		if reasoning.String() != wantReasoning || text.String() != wantText {
			t.Errorf("%q in pieces of %d: got %q, %q, want %q, %q", s, size+1, &reasoning, &text, wantReasoning, wantText)
		}
	})
}

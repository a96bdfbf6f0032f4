package textsearch_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/textsearch"
)

var seeds = []string{
	"", "foo bar", "Crème brûlée", "思考链", "ที่นี่", "\u1109\u1162\u11BC", "か\u3099", "\uFDFA ½ K İ ῼ",
	`"a b" -c dep* --x "open`, "foo -FOO", "NEAR(a b) ^x : +y", "a\xffb", "ﬁ ß İ ẞ", "pools caching notes not",
	strings.Repeat("x", 130), "-\"foo\"* -日*", "日*", "v1.2* -v1.3*", "“a„b”", "x" + strings.Repeat("\u0301", 50),
}

func FuzzTokens(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens := textsearch.Tokens(text)
		joined := strings.Join(tokens, " ")
		if !utf8.ValidString(joined) {
			t.Fatalf("Tokens(%q) = %q: not UTF-8", text, tokens)
		}
		if again := textsearch.Tokens(joined); !slices.Equal(again, tokens) {
			t.Fatalf("Tokens(%q) = %q, and cut again %q", text, tokens, again)
		}
		var index []string
		for _, token := range tokens {
			index = append(index, token)
			stem := textsearch.Stem(token)
			if stem != token {
				index = append(index, stem)
			}
			if stem[0] != token[0] || len(stem) > len(token) || len(token) > 128 {
				t.Fatalf("Stem(%q) = %q", token, stem)
			}
		}
		if got := string(textsearch.AppendTokens([]byte("… "), text)); got != "… "+strings.Join(index, " ") {
			t.Fatalf("AppendTokens(%q) = %q, want %q", text, got, index)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		size %= 1000
		q, err := textsearch.Parse(text)
		if err != nil {
			if !utf8.ValidString(err.Error()) {
				t.Fatalf("Parse(%q): %q is not UTF-8", text, err)
			}
			return
		}
		const most = 4096 // bytes of a query; String may have more, with its quotation marks
		if again, err := textsearch.Parse(q.String()); len(q.String()) <= most && (err != nil || again.String() != q.String()) {
			t.Fatalf("Parse(%q) = %s, and parsed again %s, %v", text, q, again, err)
		}
		// One text for each term: no phrase reaches from one to the next.
		var texts []string
		for _, term := range q.Wanted() {
			texts = append(texts, strings.Join(term.Tokens, " "))
		}
		r := q.Rank()
		added := r.Add(0, 1, texts...)
		if best, _ := r.Best(0, 1); !added && len(q.Unwanted()) == 0 || len(best) > 0 && !best[0].All {
			t.Fatalf("Parse(%q) = %s, which does not match its own terms %q", text, q, texts)
		}
		piece, at := textsearch.Excerpt(text, q, size)
		if n := utf8.RuneCountInString(piece); n > max(size, 0) || !utf8.ValidString(piece) {
			t.Fatalf("Excerpt(%q, %s, %d) = %q, of %d characters", text, q, size, piece, n)
		}
		end := 0
		for _, r := range at {
			if r.Start < end || r.End <= r.Start || r.End > len(piece) || !utf8.ValidString(piece[r.Start:r.End]) {
				t.Fatalf("Excerpt(%q, %s, %d) = %q, %v", text, q, size, piece, at)
			}
			end = r.End
		}
	})
}

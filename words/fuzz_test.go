package words_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/words"
)

var seeds = []string{
	"", "foo bar", "Crème brûlée", "思考链", "ที่นี่", "\u1109\u1162\u11BC", "か\u3099",
	`"a b" -c dep* --x "open`, "foo -FOO", "NEAR(a b) ^x : +y", "a\xffb", "ﬁ ß İ ẞ",
	strings.Repeat("x", 130), "-\"foo\"* -日*", "日*", "v1.2* -v1.3*", "“a„b”",
}

func FuzzTokens(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens := words.Tokens(text)
		joined := strings.Join(tokens, " ")
		if !utf8.ValidString(joined) {
			t.Fatalf("Tokens(%q) = %q: not UTF-8", text, tokens)
		}
		if again := words.Tokens(joined); !slices.Equal(again, tokens) {
			t.Fatalf("Tokens(%q) = %q, and cut again %q", text, tokens, again)
		}
		if b, n := words.AppendTokens(nil, text); string(b) != joined || n != len(tokens) {
			t.Fatalf("AppendTokens(%q) = %q, %d, want %q", text, b, n, joined)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		size %= 1000
		q, err := words.Parse(text)
		if err != nil {
			if !utf8.ValidString(err.Error()) {
				t.Fatalf("Parse(%q): %q is not UTF-8", text, err)
			}
			return
		}
		const most = 4096 // bytes of a query; String may have more, with its quotation marks
		if again, err := words.Parse(q.String()); len(q.String()) <= most && (err != nil || again.String() != q.String()) {
			t.Fatalf("Parse(%q) = %s, and parsed again %s, %v", text, q, again, err)
		}
		// One part for each term: no phrase reaches from one to the next.
		var parts []string
		for _, term := range q.Wanted() {
			part := strings.Join(term.Tokens, " ")
			if term.Prefix {
				part += "qzqzjx0"
			}
			parts = append(parts, part)
		}
		if _, _, ok := words.NewMatcher(q).Match(parts...); !ok {
			t.Fatalf("Parse(%q) = %s, which does not match its own terms %q", text, q, parts)
		}
		piece, at := words.Excerpt(text, q, size)
		if n := utf8.RuneCountInString(piece); n > max(size, 0) || !utf8.ValidString(piece) {
			t.Fatalf("Excerpt(%q, %s, %d) = %q, of %d characters", text, q, size, piece, n)
		}
		end := 0
		for _, r := range at {
			if r.Start < end || r.End <= r.Start || r.End > len(piece) ||
				!utf8.ValidString(piece[r.Start:r.End]) {
				t.Fatalf("Excerpt(%q, %s, %d) = %q, %v", text, q, size, piece, at)
			}
			end = r.End
		}
	})
}

package words_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/words"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       string // tokens with spaces between them
	}{
		{"empty", "", ""},
		{"no words", " -- …!? \x00\xff", ""},
		{"plain", "The quick, brown fox.", "the quick brown fox"},
		{"digits", "HTTP 404 at 10:45, v1.2", "http 404 at 10 45 v1 2"},
		{"code", "snake_case camelCase don't", "snake case camelcase don t"},
		{"diacritics", "Crème Brûlée ÅNGSTRÖM İstanbul Łódź smørrebrød", "creme brulee angstrom istanbul lodz smorrebrod"},
		{"decomposed", "Cre\u0300me Bru\u0302le\u0301e", "creme brulee"},
		{"more than one letter", "Straße STRAẞE Æther œuvre ﬁle", "strasse strasse aether oeuvre file"},
		{"Greek", "Σίσυφος ΣΊΣΥΦΟΣ", "σισυφοσ σισυφοσ"},
		{"Cyrillic", "ёлка Йод и\u0306од", "елка иод иод"},
		{"Vietnamese", "Tiếng Việt", "tieng viet"},
		{"Hebrew points", "שָׁלוֹם", "שלום"},
		{"Arabic marks", "مُحَمَّد", "محمد"},
		{"Devanagari keeps its vowels", "हिन्दी", "हिन्दी"},
		{"Han", "思考链,很长", "思 考 链 很 长"},
		{"Kana", "サーバー再起動", "サ ー バ ー 再 起 動"},
		{"Kana decomposed", "か\u3099は\u309Aは\u3099う\u3099", "が ぱ ば ゔ"},
		{"Hangul", "생각 하다", "생 각 하 다"},
		{"Hangul decomposed", "\u1109\u1162\u11BC\u1100\u1161\u11A8", "생 각"},
		{"Thai", "ที่นี่", "ท ี ่ น ี ่"},
		{"Khmer, Lao, Myanmar", "ភា ລາວ မြ", "ភ ា ລ າ ວ မ ြ"},
		{"mixed", "用Go写的server2号", "用 go 写 的 server2 号"},
		{"full width", "ＡＢＣ１２", "abc12"},
		{"soft hyphen and joiners", "soft\u00ADware zero\u200Bwidth", "software zerowidth"},
		{"emoji", "done ✅ 👍🏽", "done"},
		{"bad bytes", "a\xffb\xc3", "a b"},
		{"long", strings.Repeat("x", 300), strings.Repeat("x", 128) + " " + strings.Repeat("x", 128) + " " + strings.Repeat("x", 44)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(words.Tokens(test.text), " "); got != test.want {
				t.Errorf("Tokens(%q)\n got %q\nwant %q", test.text, got, test.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"foo", "foo"},
		{"  Foo\tBAR\n", "foo bar"},
		{"foo foo FÖÖ", "foo"},
		{`"quoted Phrase" x`, `"quoted phrase" x`},
		{`“curly quotes”`, `"curly quotes"`},
		{`"never closed`, `"never closed"`},
		{`"" foo`, "foo"},
		{`foo"bar baz"qux`, `foo "bar baz" qux`},
		{"well-known", "well-known"},
		{"user@example.com", "user-example-com"},
		{"dep*", "dep*"},
		{"dep*.", "dep*"},
		{"v1.2*", "v1-2*"},
		{"*dep **", "dep"},
		{`"dep*"`, `"dep"`},
		{"日*", "日"},
		{"日本*", "日-本"},
		{"foo -bar", "foo -bar"},
		{`foo -"bar baz" -qux*`, `foo -"bar baz" -qux*`},
		{"foo - bar", "foo bar"},
		{"--foo", "foo"},
		{"foo -", "foo"},
		{"foo -!", "foo"},
		{"deploy* -deploy", "deploy* -deploy"},
		{`foo bar -"foo bar"`, `foo bar -"foo bar"`},
		// The syntax of FTS5 is plain text here.
		{"foo AND bar", "foo and bar"},
		{"NOT foo", "not foo"},
		{"NEAR(foo bar, 5)", "near-foo bar 5"},
		{"(foo OR", "foo or"},
		{"text:foo ^bar +baz {x} : 'a'", "text-foo bar baz x a"},
		{"foo;DROP TABLE thoughts", "foo-drop table thoughts"},
		{"用Go写", "用-go-写"},
		{strings.Repeat("z", 129), strings.Repeat("z", 128) + "-z"},
	} {
		q, err := words.Parse(test.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.text, err)
			continue
		}
		if got := q.String(); got != test.want {
			t.Errorf("Parse(%q)\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestParseKeepsQuotation(t *testing.T) {
	t.Parallel()
	q, err := words.Parse(`a "b" "c d" e-f g "g" -"h" -i`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, term := range slices.Concat(q.Wanted(), q.Unwanted()) {
		if term.Quoted {
			got = append(got, term.String())
		}
	}
	if want := []string{`"b"`, `"c d"`, `"g"`, `"h"`}; !slices.Equal(got, want) {
		t.Errorf("quoted are %q, want %q", got, want)
	}
}

func TestUnspaced(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]bool{"": false, "a": false, "链": true, "が": true, "ab": false, "ก": true, "ж": false} {
		if got := words.Unspaced(token); got != want {
			t.Errorf("Unspaced(%q) = %v, want %v", token, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", "the query holds no word: write at least one word of letters or digits"},
		{" \x00 ?! 👍", "the query holds no word: write at least one word of letters or digits"},
		{"-foo", "the query only says what to leave out: write at least one word to look for"},
		{"de*", "de* is too short: write at least 3 letters or digits before the *"},
		{"x -d*", "d* is too short: write at least 3 letters or digits before the *"},
		{"foo -FOO", "nothing can match: foo is asked for and foo left out: drop one of the two"},
		{`"a b c" -"b c"`, `nothing can match: "a b c" is asked for and "b c" left out: drop one of the two`},
		{"foobar* -foo*", "nothing can match: foobar* is asked for and foo* left out: drop one of the two"},
		{strings.Repeat("a", 5000), "the query has 5000 bytes, the limit is 4096: search for fewer words"},
		{manyWords(65), "the query has 65 terms, the limit is 64: search for fewer words"},
	} {
		q, err := words.Parse(test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("Parse(%.40q)\n got %v, %v\nwant %s", test.text, q, err, test.want)
		}
	}
}

func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("w")
		b.WriteString(strings.Repeat("x", i))
		b.WriteByte(' ')
	}
	return b.String()
}

func TestMatch(t *testing.T) {
	t.Parallel()
	const text = "The cache of the cache server was stale; the café's DNS answered."
	for _, test := range []struct {
		query, text, note string
		want              []int // occurrences of each term; nil for no match
	}{
		{"cache", text, "", []int{2}},
		{"CAFE dns", text, "", []int{1, 1}},
		{"cache missing", text, "", nil},
		{`"cache server"`, text, "", []int{1}},
		{`"server cache"`, text, "", nil},
		{`"the cache"`, text, "", []int{2}},
		{"serv*", text, "", []int{1}},
		{"server-w*", text, "", []int{1}},
		{"cache -stale", text, "", nil},
		{"cache -fresh", text, "", []int{2}},
		{`cache -"stale server"`, text, "", []int{2}},
		{"stale note", text, "a note", []int{1, 1}},
		{`"answered a"`, text, "a note", nil}, // no phrase crosses from text to note
		{"考链", "长思考链条", "", []int{1}},
		{"链考", "长思考链条", "", nil},
		{"aa", "aa aa aa", "aa", []int{4}},
		{`"a a"`, "a a a", "", []int{2}},
	} {
		q, err := words.Parse(test.query)
		if err != nil {
			t.Fatalf("Parse(%q): %v", test.query, err)
		}
		got, length, ok := words.NewMatcher(q).Match(test.text, test.note)
		if ok != (test.want != nil) || ok && !slices.Equal(got, test.want) {
			t.Errorf("Match(%q, %q, %q) = %v, %t, want %v", test.query, test.text, test.note, got, ok, test.want)
		}
		if want := len(words.Tokens(test.text)) + len(words.Tokens(test.note)); length != want {
			t.Errorf("Match(%q, %q, %q): length %d, want %d", test.query, test.text, test.note, length, want)
		}
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	// Checked against bm25() of SQLite's FTS5 over the same three documents:
	// "a b c", "a a", "d e f g", asked for a. The sign is ours.
	c := words.Corpus{Docs: 3, Tokens: 9, Hits: []int64{2}}
	once, twice := c.Score([]int{1}, 3), c.Score([]int{2}, 2)
	if math.Abs(once-1e-6) > 1e-12 || math.Abs(twice-2e-6*2.2/(2+1.2*(0.25+0.75*2/3))) > 1e-12 {
		t.Errorf("scores %g and %g", once, twice)
	}
	rare := words.Corpus{Docs: 1000, Tokens: 100_000, Hits: []int64{3, 400}}
	if a, b := rare.Score([]int{1, 0}, 100), rare.Score([]int{0, 1}, 100); a <= b {
		t.Errorf("a rare word scores %g, a common one %g", a, b)
	}
	if a, b := rare.Score([]int{1, 1}, 50), rare.Score([]int{1, 1}, 500); a <= b {
		t.Errorf("a short document scores %g, a long one %g", a, b)
	}
	var none words.Corpus
	if s := none.Score(nil, 0); s != 0 {
		t.Errorf("the empty corpus scores %g", s)
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("before that ", 20) + "the needle lay" + strings.Repeat(" and after", 20)
	for _, test := range []struct {
		query, text string
		max         int
		want        string // with [ and ] around matches
	}{
		{"fox", "The quick\n\n brown\tfox", 80, "The quick brown [fox]"},
		{"fox", "\x1b[31mred\x07 fox\u202e", 80, "[31mred [fox]"},
		{"needle", long, 40, "…that the [needle] lay and after and…"},
		{"before", long, 20, "[before] that [before]…"},
		{"after", long, 30, "…and [after] and [after] and…"},
		{"nothing", "short", 10, "short"},
		{"nothing", long, 20, "before that before…"},
		{"考", strings.Repeat("思", 50) + "考" + strings.Repeat("链", 50), 12, "…思思[考]链链链链链链链…"},
		{"needle", long, 1, "…"},
		{"needle", long, 0, ""},
		{"needle", long, -1, ""},
	} {
		q, err := words.Parse(test.query)
		if err != nil {
			t.Fatal(err)
		}
		got, at := words.Excerpt(test.text, q, test.max)
		if n := utf8.RuneCountInString(got); n > max(test.max, 0) {
			t.Errorf("Excerpt(%.30q, %s, %d) has %d characters", test.text, test.query, test.max, n)
		}
		if got := mark(got, at); got != test.want {
			t.Errorf("Excerpt(%.30q, %s, %d)\n got %s\nwant %s", test.text, test.query, test.max, got, test.want)
		}
	}
}

func mark(s string, at []words.Range) string {
	for _, r := range slices.Backward(at) {
		s = s[:r.Start] + "[" + s[r.Start:r.End] + "]" + s[r.End:]
	}
	return s
}

func TestCursor(t *testing.T) {
	t.Parallel()
	q, err := words.Parse("foo bar")
	if err != nil {
		t.Fatal(err)
	}
	digest := words.Digest(q, "owner")
	c := words.Cursor{
		Query: digest, Corpus: words.Corpus{Docs: 10, Tokens: 99, Hits: []int64{1, 2}},
		Score: math.Pi, ID: 7, Bound: 9, Owner: "o", Name: "日本",
	}
	got, err := words.ParseCursor(c.String(), q, digest)
	if err != nil || got.String() != c.String() || got.Score != c.Score {
		t.Errorf("got %+v, %v, want %+v", got, err, c)
	}
	wrong := c
	wrong.Corpus.Hits = []int64{1}
	for _, s := range []string{"x", "", "e30", "{}", wrong.String(), strings.ToUpper(c.String())} {
		if got, err := words.ParseCursor(s, q, digest); err == nil {
			t.Errorf("ParseCursor(%q) = %+v, want an error", s, got)
		}
	}
	if _, err := words.ParseCursor(c.String(), q, words.Digest(q, "another")); err == nil {
		t.Error("a cursor of another search was taken")
	}
}

func BenchmarkMatch(b *testing.B) {
	text := strings.Repeat("The cache of the cache server was stale, and its café answered. ", 11)
	q, err := words.Parse("stale cafe")
	if err != nil {
		b.Fatal(err)
	}
	m := words.NewMatcher(q)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := m.Match(text); !ok {
			b.Fatal("no match")
		}
	}
}

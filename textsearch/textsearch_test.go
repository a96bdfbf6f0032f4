package textsearch_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/textsearch"
)

func parse(t testing.TB, text string) textsearch.Query {
	t.Helper()
	q, err := textsearch.Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return q
}

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
			if got := strings.Join(textsearch.Tokens(test.text), " "); got != test.want {
				t.Errorf("Tokens(%q)\n got %q\nwant %q", test.text, got, test.want)
			}
		})
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"token", "tokens"},
		{"store", "stores", "stored", "storing"},
		{"run", "runs", "running"},
		{"query", "queries", "queried", "querying"},
		{"retry", "retried"},
		{"cache", "caches", "cached", "caching"},
		{"index", "indexes", "indexed"},
		{"note", "notes", "noted", "noting"},
		{"use", "uses", "used", "using"},
		{"cookie", "cookies"},
		{"setting", "settings"},
		{"process", "processes", "processed"},
		{"status", "statuses"},
		{"hypothesis", "hypotheses"},
		{"id", "ids"},
		{"key", "keys"},
	} {
		for _, word := range same {
			if got, want := textsearch.Stem(word), textsearch.Stem(same[0]); got != want {
				t.Errorf("Stem(%q) = %q, and Stem(%q) = %q", word, got, same[0], want)
			}
		}
	}
	for _, different := range [][2]string{
		{"string", "str"}, {"thing", "th"}, {"bus", "bu"}, {"dns", "dn"}, {"need", "ne"}, {"note", "not"}, {"indexer", "index"},
	} {
		if a, b := textsearch.Stem(different[0]), textsearch.Stem(different[1]); a == b {
			t.Errorf("%q and %q both have the stem %q", different[0], different[1], a)
		}
	}
	for _, word := range []string{"", "a", "the", "does", "b2bs", "größes", "令", "v1"} {
		if s := textsearch.Stem(word); s != word {
			t.Errorf("Stem(%q) = %q", word, s)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"foo", "foo"},
		{"  Foo\tBAR\n", "foo bar"},
		{"foo foo FÖÖ", "foo"},
		{"retry retries \"retries\" retr*", `retry "retries" retr*`},
		{"why was the pool empty", "pool empty"},
		{"what is the", "what is the"},
		{`"the" pool`, `"the" pool`},
		{`"quoted Phrase" x`, `"quoted phrase" x`},
		{`“curly quotes”`, `"curly quotes"`},
		{`"never closed`, `"never closed"`},
		{`"" foo`, "foo"},
		{`foo"bar baz"qux`, `foo "bar baz" qux`},
		{"state-of-the-art", "state art"},
		{"user@example.com", "user example com"},
		{"dep*.", "dep*"},
		{"de* -d*", "de -d"},
		{"foo bar -FOOS", "foo bar -foos"},
		{"pkg/depl*", "pkg depl*"},
		{"v1.2*", "v1 2"},
		{"*dep **", "dep"},
		{`"dep*"`, `"dep"`},
		{"日*", "日"},
		{"思考链 思", "思-考 考-链 思"},
		{"再起動について", "再-起 起-動 動-に"},
		{"について", "に-つ つ-い い-て"},
		{"用Go写", "用 go 写"},
		{"foo -bar", "foo -bar"},
		{`foo -"bar baz" -qux* -a-b -思考`, `foo -"bar baz" -qux* -"a b" -"思 考"`},
		{"foo - bar", "foo bar"},
		{"--foo", "foo"},
		{"foo -!", "foo"},
		{"deploy* -deploy", "deploy* -deploy"},
		{`foo -"foo"`, `foo -"foo"`},
		// The syntax of FTS5 is plain text here.
		{"NEAR(foo bar, 5)", "near foo bar 5"},
		{"text:foo ^bar +baz {x} : 'q'", "text foo bar baz x q"},
		{strings.Repeat("z", 129), strings.Repeat("z", 128) + " z"},
	} {
		if got := parse(t, test.text).String(); got != test.want {
			t.Errorf("Parse(%q)\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", "the query asks for no word: write at least one word of letters or digits to look for"},
		{" \x00 ?! 👍", "the query asks for no word: write at least one word of letters or digits to look for"},
		{"-foo", "the query asks for no word: write at least one word of letters or digits to look for"},
		{strings.Repeat("a", 5000), "the query has 5000 bytes, the limit is 4096: search for fewer words"},
	} {
		q, err := textsearch.Parse(test.text)
		if _, ok := errors.AsType[*textsearch.Error](err); !ok || err.Error() != test.want {
			t.Errorf("Parse(%.40q)\n got %v, %v\nwant %s", test.text, q, err, test.want)
		}
	}
	if q := parse(t, strings.Repeat("思考链条", 300)); len(q.Wanted()) > 64 {
		t.Errorf("%d terms", len(q.Wanted()))
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	const text = "The cache of the cache server was stale; the café's DNS answered."
	for _, test := range []struct {
		query, text, note string
		words             int // -1 for all
	}{
		{"cache", text, "", -1},
		{"caches serving", text, "", 1},
		{"CAFE dns", text, "", -1},
		{"cache missing", text, "", 1},
		{"missing", text, "", 0},
		{`"cache server"`, text, "", -1},
		{`"server cache"`, text, "", 0},
		{`"server cache" stale`, text, "", 0}, // a match has the phrase
		{`"the cache server" missing`, text, "", 1},
		{`"caches"`, text, "", 0},
		{"serv*", text, "", -1},
		{"cache -stale", text, "", 0},
		{"cache -servers", text, "", 0},
		{`cache -"servers"`, text, "", -1},
		{"cache -serv*", text, "", 0},
		{`cache -"stale server"`, text, "", -1},
		{"stale note", text, "a note", -1},
		{`"answered a"`, text, "a note", 0}, // no phrase crosses from text to note
		{"考链", "长思考链条", "", -1},
		{"思链", "长思考链条", "", 0},
		{"思考表", "长思考链条", "", 1},
		{`"a b a b c"`, "a b a b a b c", "", -1},
		{`"a a b"`, "a a a b", "", -1},
		{"not", "a note", "", 0},
	} {
		q := parse(t, test.query)
		r := q.Rank()
		ok := r.Add(0, 7, test.text, test.note)
		want := test.words
		if want < 0 {
			want = len(q.Wanted())
		}
		best, _ := r.Best(0, 9)
		if ok != (want > 0) || r.Len() != len(best) || r.Partial() != (ok && test.words > 0) ||
			ok && (best[0].Words != want || best[0].All == r.Partial() || best[0].ID != 7) {
			t.Errorf("%s in %q, %q: %t, %+v, want %d words", test.query, test.text, test.note, ok, best, want)
		}
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	q := parse(t, "heron stork -crow")
	r := q.Rank()
	docs := []string{ // the id is the place
		"heron", "heron heron", "stork", "a heron far away", "heron and crow", "stork and heron", "nothing", "heron",
	}
	for id, text := range slices.Backward(docs) {
		if r.Add(0, int64(id), text) && id == 5 {
			r.Add(0, int64(id), "heron") // is there already
		}
	}
	var ids []int64
	for offset := 0; offset < 9; offset += 2 {
		page, more := r.Best(offset, 2)
		if more != (offset < 4) {
			t.Errorf("more after %d: %t", offset, more)
		}
		for _, m := range page {
			ids = append(ids, m.ID)
			if m.Score < float64(m.Words) || m.Score >= float64(m.Words+1) {
				t.Errorf("%+v", m)
			}
		}
	}
	if want := []int64{5, 2, 1, 7, 0, 3}; !slices.Equal(ids, want) { // storks are rarer
		t.Errorf("the order is %v, want %v", ids, want)
	}
	for _, at := range [][3]int{{-1, -1, 0}, {math.MaxInt, math.MaxInt, 0}, {0, math.MaxInt, 6}} {
		if page, _ := r.Best(at[0], at[1]); len(page) != at[2] {
			t.Errorf("Best(%d, %d) has %d matches, want %d", at[0], at[1], len(page), at[2])
		}
	}
	if r := (textsearch.Query{}).Rank(); r.Add(0, 1, "text") || r.Len() != 0 || r.Partial() {
		t.Error("the zero Query matches")
	}
}

// The best match of each group counts, on whatever page the others would be.
func TestGroups(t *testing.T) {
	t.Parallel()
	r := parse(t, "heron stork").Rank()
	for id, d := range []struct {
		group int64
		text  string
	}{{1, "heron"}, {2, "stork"}, {1, "heron and stork"}, {0, "heron"}, {2, "heron stork"}, {0, "heron"}} {
		r.Add(d.group, int64(id), d.text)
	}
	var ids []int64
	for offset, more := 0, true; more; offset += 3 {
		var page []textsearch.Match
		page, more = r.Best(offset, 3)
		for _, m := range page {
			ids = append(ids, m.ID)
		}
	}
	if want := []int64{4, 2, 3, 5}; !slices.Equal(ids, want) {
		t.Errorf("the best of each group are %v, want %v", ids, want)
	}
}

// Documents with all words are ranked before newer ones with some.
func TestMaxCandidates(t *testing.T) {
	t.Parallel()
	r := parse(t, "heron stork").Rank()
	for id := int64(3 * textsearch.MaxCandidates); id > 0; id-- {
		if id <= 10 {
			r.Add(0, id, "heron stork")
		} else {
			r.Add(0, id, "heron")
		}
	}
	best, _ := r.Best(0, math.MaxInt)
	if r.Len() != textsearch.MaxCandidates || len(best) != r.Len() || r.Partial() {
		t.Fatalf("%d candidates, %d matches", r.Len(), len(best))
	}
	if best[0].ID != 10 || best[9].ID != 1 || best[10].ID != 3*textsearch.MaxCandidates {
		t.Errorf("the first are %v", best[:11])
	}
}

// No text and query take quadratic time.
func TestLinear(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a ", 200_000)
	q := parse(t, `"`+strings.Repeat("a ", 1900)+`b"`)
	begun := time.Now()
	q.Rank().Add(0, 1, text)
	textsearch.Excerpt(text, q, 100)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("%v", took)
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
		{"fox", "The quick brown fox", 19, "The quick brown [fox]"},
		{"last", strings.Repeat("before that ", 20) + "the last word", 30, "…before that the [last] word"},
		{`"brown fox"`, "The quick brown fox, a brown bear and a brown fox", 80, "The quick [brown fox], a brown bear and a [brown fox]"},
		{`"quick brown" "brown fox"`, "The quick brown fox", 80, "The [quick brown fox]"},
		{`fox "quick brown" brown`, "The quick brown fox", 80, "The [quick brown] [fox]"},
		{"needle", long, 1, "…"},
		{"needle", long, 0, ""},
		{"needle", long, -1, ""},
	} {
		got, at := textsearch.Excerpt(test.text, parse(t, test.query), test.max)
		if n := utf8.RuneCountInString(got); n > max(test.max, 0) {
			t.Errorf("Excerpt(%.30q, %s, %d) has %d characters", test.text, test.query, test.max, n)
		}
		if got := mark(got, at); got != test.want {
			t.Errorf("Excerpt(%.30q, %s, %d)\n got %s\nwant %s", test.text, test.query, test.max, got, test.want)
		}
	}
}

func mark(s string, at []textsearch.Range) string {
	for _, r := range slices.Backward(at) {
		s = s[:r.Start] + "[" + s[r.Start:r.End] + "]" + s[r.End:]
	}
	return s
}

func TestCursor(t *testing.T) {
	t.Parallel()
	q := parse(t, "foo bar")
	c := textsearch.Cursor{Newest: math.MinInt64, Offset: 20}
	s := c.String(q, "owner", "")
	if got, err := textsearch.ParseCursor(s, parse(t, "FOO the bars"), "owner", ""); err == nil {
		t.Errorf("%s is taken for a query of another spelling: %+v", s, got)
	}
	if got, err := textsearch.ParseCursor(s, parse(t, " foo the BAR"), "owner", ""); err != nil || got != c {
		t.Errorf("got %+v, %v, want %+v", got, err, c)
	}
	for _, s := range []string{"x", "", "..", s + " ", "0" + s, textsearch.Cursor{Offset: 2001}.String(q, "owner", "")} {
		if got, err := textsearch.ParseCursor(s, q, "owner", ""); err == nil {
			t.Errorf("ParseCursor(%q) = %+v, want an error", s, got)
		}
	}
	for _, narrowing := range [][]string{{"another", ""}, {"owner"}, {"", "owner"}} {
		if _, err := textsearch.ParseCursor(s, q, narrowing...); err == nil {
			t.Errorf("a cursor of another search is taken for %q", narrowing)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	text := strings.Repeat("The cache of the cache server was stale, and its café answered. ", 11)
	q := parse(b, "stale cafe")
	r := q.Rank()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for id := int64(0); b.Loop(); id++ {
		if id%textsearch.MaxCandidates == 0 {
			r = q.Rank()
		}
		if !r.Add(0, id, text) {
			b.Fatal("no match")
		}
	}
}

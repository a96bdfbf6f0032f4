package index_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault/index"
)

var library = map[string]string{
	"tech/auth.md": "---\ntitle: Authentication\ntags: [security, web/api]\naliases: [Sign-in]\n---\n" +
		"# Authentication\n\nTokens are signed. The [[token-refresh]] uses [[JWT]] and a rotating secret.\n",
	"tech/limits.md":    "# Limits\n\nA [[sliding window]] for [[Rate Limiting]] keeps clients fair. Tokens fill a bucket.\n",
	"tech/cache.md":     "---\ntags: web\n---\nCaches forget. A cache of answers, a cache of tokens, a cache of nothing.\n",
	"journal/monday.md": "Talked about [[JWT]] and [[rate limiting]] with Ana. The refresh of tokens was late.\n",
	"journal/中文.md":     "我们讨论了令牌刷新机制，以及限流算法。见 [[令牌]]。\n",
	"journal/日本語.md":    "認証トークンの更新について話した。サーバーは再起動が必要。\n",
	"empty.md":          "",
	"only title.md":     "# Zebra crossing\n",
}

func TestFullText(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, library)
	for _, test := range []struct{ query, want string }{
		{"zebra", "only title"},
		{"ZEBRA", "only title"},
		{"cache", "tech/cache"},
		{"sign-in", "tech/auth"},
		{"security", "tech/auth"},
		{"unheard-of caches", "tech/cache"}, // one word suffices, but not "of"
		{"of caches in the tech", "tech/cache"},
		{"cache zebra", "only title tech/cache"},
		{"xyzzy", ""},
		{"refresh tokens", "journal/monday tech/auth tech/cache tech/limits"},
		{`"refresh of tokens"`, "journal/monday"},
		{`tokens "sliding window"`, "tech/limits"},
		{"tokens -refresh", "tech/cache tech/limits"},
		{`tokens -"a cache"`, "tech/auth journal/monday tech/limits"},
		{"authen*", "tech/auth"},
		{"[[Rate Limiting]]", "tech/limits journal/monday"},
		{"令牌刷新", "journal/中文"},
		{"限流", "journal/中文"},
		{"如何设计令牌的刷新", "journal/中文"},
		{"再起動", "journal/日本語"},
		{"トークン更新", "journal/日本語"},
		{"only", "only title"},
		{"caching", "tech/cache"}, // another form of the word
		{`"caching"`, ""},
		{"the of", "journal/monday tech/cache tech/auth"}, // function words alone
		{"empty", "empty"},
	} {
		if got := b.text(test.query); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.query, got, test.want)
		}
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, library)
	for _, test := range []struct {
		name  string
		query index.Query
		want  string
	}{
		{"folder", index.Query{Folder: "journal"}, "journal/monday"},
		{"folder as a URI", index.Query{Folder: "memory://journal/"}, "journal/monday"},
		{"part of a folder's name", index.Query{Folder: "jour"}, ""},
		{"no such folder", index.Query{Folder: "../journal"}, ""},
		{"tag", index.Query{Tags: []string{"security"}}, "tech/auth"},
		{"tag with its mark", index.Query{Tags: []string{"#Security"}}, "tech/auth"},
		{"tag above", index.Query{Tags: []string{"web"}}, "tech/auth tech/cache"},
		{"all of the tags", index.Query{Tags: []string{"web", "security"}}, "tech/auth"},
		{"no such tag", index.Query{Tags: []string{"web", "nothing"}}, ""},
		{"folder and tag", index.Query{Folder: "journal", Tags: []string{"web"}}, ""},
		{"score", index.Query{MinScore: 0.71}, "tech/auth journal/monday"},
	} {
		test.query.Text, test.query.Mode = "tokens", index.FullText
		if got := b.find(test.query); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestHybrid(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, library)
	// limits links to rate limiting; so does monday; auth is related by JWT alone.
	if got, want := b.find(index.Query{Text: "[[rate limiting]]"}), "tech/limits journal/monday"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// No note has the words, but two link to the concept.
	b.write("a.md", "See [[Quux Frob|that thing]].")
	b.write("b.md", "It goes on with [[quux-frob]].")
	b.sync()
	if got, want := b.find(index.Query{Text: "quux frob"}), "a b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r := b.search(index.Query{Text: "tokens for JWT", Mode: "hybrid"})
	if r.Mode != index.Hybrid || r.Warning != "" || r.Total != 4 {
		t.Errorf("got %+v", r)
	}
	for i, h := range r.Hits {
		if h.Score <= 0 || h.Score > 1 || i > 0 && h.Score > r.Hits[i-1].Score || h.Snippet == "" || h.Title == "" {
			t.Errorf("hit %d: %+v", i, h)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, library)
	for _, text := range []string{"", " \n", "?! 👍", "[[]]", "-a", strings.Repeat("a", 5000)} {
		_, err := b.Search(t.Context(), index.Query{Text: text}, nil)
		wantCode(t, err, sequent.CodeInvalidQuery, "query")
	}
	_, err := b.Search(t.Context(), index.Query{Text: "a", Mode: "Fuzzy"}, nil)
	wantCode(t, err, sequent.CodeInvalidQuery, "mode")
	_, err = b.Search(t.Context(), index.Query{Text: "a", Mode: index.Semantic}, nil)
	wantCode(t, err, index.CodeNoEmbeddings, "mode")
	for _, concept := range []string{"", " [[ - ]] "} {
		_, err := b.Context(t.Context(), index.ContextQuery{Concept: concept})
		wantCode(t, err, sequent.CodeInvalidQuery, "conceptName")
	}
}

// Every matching note is on exactly one page, however many there are.
func TestPages(t *testing.T) {
	t.Parallel()
	const notes, size = 700, 100
	files := map[string]string{"other.md": "something else"}
	for i := range notes {
		files[fmt.Sprintf("n%04d.md", i)] = "the same words in the note, linked to [[same]]"
	}
	b := newBox(t, index.Config{}, files)
	for _, mode := range []index.Mode{index.FullText, index.Hybrid} {
		var all []string
		for _, page := range []int{1, 2, 3, 4, 5, 6, 7, 8, math.MaxInt} {
			r := b.search(index.Query{Text: "same", Mode: mode, PageSize: size, Page: page})
			if r.Total != notes || r.Page != page || r.PageSize != size || len(r.Hits) != size && page <= notes/size {
				t.Fatalf("%s: total %d, %d hits on page %d of %d", mode, r.Total, len(r.Hits), r.Page, r.PageSize)
			}
			for _, h := range r.Hits {
				all = append(all, h.URI.Path())
			}
		}
		if !slices.IsSorted(all) || len(slices.Compact(all)) != notes {
			t.Errorf("%s: %d notes on all pages, want %d in the order of their paths", mode, len(all), notes)
		}
	}
	// Function words that every note has find them all.
	if r := b.search(index.Query{Text: "the in", Mode: index.FullText}); r.Total != notes {
		t.Errorf("function words find %d notes, want %d", r.Total, notes)
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("filling words without end ", 200)
	b := newBox(t, index.Config{}, map[string]string{
		"a.md": "# Title\n\n" + long + "\n\nhere is the **needle** of it\n\n" + long,
		"b.md": long + "限流算法" + strings.Repeat("字", 500),
		"c.md": "## Thought 1/3 [agent]\n\nraise the limit ^ it\n\n*2026-11-21 17:27:06 UTC* ^thought-2\n\n## Thought 2/3 [agent]\n\n2 ^x ^b-1\n",
	})
	for query, want := range map[string]string{
		"needle": "**needle** of it", "限流": "限流算法", "filling": "Title filling",
		"limit": "Thought 1/3 [agent] raise the limit ^ it Thought 2/3 [agent] 2 ^x",
		"27":    "Thought 1/3 [agent]", // the time is found, but not shown
	} {
		h := b.search(index.Query{Text: query, Mode: index.FullText}).Hits[0]
		if !strings.Contains(h.Snippet, want) || utf8.RuneCountInString(h.Snippet) > 200 {
			t.Errorf("%s: snippet %q lacks %q or is too long", query, h.Snippet, want)
		}
	}
}

func TestInlineTags(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, map[string]string{
		"a.md": "---\ntags: [front]\n---\n# Heading\n\n#one and #Two/three, (#none) x#none #123 #4th\n- #list-tag.\n`#code` ``a #code ` b`` [[note#heading]] ##none\n\n```\n#fenced\n```\n\n    #indented-is-no-tag-of-a-code-block\n",
	})
	for tag, want := range map[string]int{
		"front": 1, "one": 1, "two": 1, "two/three": 1, "#ONE": 1, "4th": 1, "list-tag": 1,
		"none": 0, "123": 0, "code": 0, "fenced": 0, "heading": 0, "three": 0,
	} {
		if got := b.search(index.Query{Text: "heading", Tags: []string{tag}}).Total; got != want {
			t.Errorf("%s: %d notes, want %d", tag, got, want)
		}
	}
}

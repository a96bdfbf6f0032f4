package wikilink_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"

	"github.com/sequent-dev/sequent/vault/wikilink"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	resolve := func(l wikilink.Link) string {
		switch l.Target {
		case "missing":
			return ""
		case "bad":
			return "javascript:alert(1)"
		}
		return "/notes/" + l.Concept()
	}
	for _, test := range []struct{ text, want string }{
		{"see [[Some Note]].", `see <a class="wikilink" href="/notes/some-note">Some Note</a>.`},
		{"[[a|shown]]", `<a class="wikilink" href="/notes/a">shown</a>`},
		{"[[a#part]] [[#here]]", `<a class="wikilink" href="/notes/a">a &gt; part</a> <a class="wikilink" href="/notes/">here</a>`},
		{"![[a]]", `<a class="wikilink embed" href="/notes/a">a</a>`},
		{"[[missing]]", `<span class="wikilink missing">missing</span>`},
		{"[[bad]]", `<span class="wikilink missing">bad</span>`},
		{"[[a\"><script>]]", `<a class="wikilink" href="/notes/a%22%3E%3Cscript%3E">a&quot;&gt;&lt;script&gt;</a>`},
		{"[[思考]]", `<a class="wikilink" href="/notes/%E6%80%9D%E8%80%83">思考</a>`},
		{"[to [[a]]](/x)", `<a href="/x">to [[a]]</a>`},
		{"[to [[a]] b](/x)", `<a href="/x">to a b</a>`},
		{"![to [[a]] b](/x)", `<img src="/x" alt="to a b">`},
		{"*[[a|b*]]*", `<em><a class="wikilink" href="/notes/a">b*</a></em>`},
		{`\[[a]] [[a]`, `[[a]] [[a]`},
	} {
		var b strings.Builder
		md := goldmark.New(goldmark.WithExtensions(&wikilink.Extender{Resolve: resolve}))
		if err := md.Convert([]byte(test.text), &b); err != nil {
			t.Fatal(err)
		}
		if want := "<p>" + test.want + "</p>\n"; b.String() != want {
			t.Errorf("%q\n got %swant %s", test.text, b.String(), want)
		}
	}
}

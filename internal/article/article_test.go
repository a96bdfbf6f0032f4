package article

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

func recorded(t *testing.T, f func(c *sequent.Change) error) *sequent.Session {
	t.Helper()
	e := sequent.New(sequent.Config{})
	s, err := e.Begin(t.Context(), "s", f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func appended(drafts ...sequent.Draft) func(*sequent.Change) error {
	return func(c *sequent.Change) error {
		for _, d := range drafts {
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	}
}

func htmlOf(t *testing.T, s *sequent.Session, o Options) string {
	t.Helper()
	b, err := HTML(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func proseOf(text string) string {
	var b bytes.Buffer
	prose(&b, text, 4)
	return strings.TrimSpace(b.String())
}

func TestProse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"One\ntwo *three* `x<y>`", "<p>One<br>\ntwo <em>three</em> <code>x&lt;y&gt;</code></p>"},
		{"# A\n\n## B", "<h4>A</h4>\n<h5>B</h5>"},
		{"A\n---\nB", "<p>A</p>\n<hr>\n<p>B</p>"},
		{"<b onclick=x>Vec<T></b> &lt;", "<p>&lt;b onclick=x&gt;Vec&lt;T&gt;&lt;/b&gt; &lt;</p>"},
		{"<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"},
		{"[a](javascript:alert(1))", `<p>a <span class="at">(javascript:alert(1))</span></p>`},
		{"[a](data:text/html,x) [b](/c)", `<p>a <span class="at">(data:text/html,x)</span> b <span class="at">(/c)</span></p>`},
		{"[a](https://user:pw@b.example/)", `<p>a <span class="at">(https://user:pw@b.example/)</span></p>`},
		{`[a](https://b.example/"onx=1)`, `<p><a href="https://b.example/%22onx=1" rel="noopener noreferrer nofollow">a</a> <span class="at">(b.example)</span></p>`},
		{"https://b.example/x", `<p><a href="https://b.example/x" rel="noopener noreferrer nofollow">https://b.example/x</a></p>`},
		{"![alt](https://b.example/x.png)", `<p><a href="https://b.example/x.png" rel="noopener noreferrer nofollow">Image: alt</a> <span class="at">(b.example)</span></p>`},
		{"- [x] a\n- [ ] b", "<ul>\n<li>☑ a</li>\n<li>☐ b</li>\n</ul>"},
		{"```go\n<a>\n```", `<figure class="code"><figcaption>go</figcaption><pre tabindex="0"><code>&lt;a&gt;` + "\n</code></pre></figure>"},
		{"a\u202eb", "<p>a⟨U+202E⟩b</p>"},
	} {
		if got := proseOf(c.text); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	if got := proseOf("```\n" + strings.Repeat("x\n", 29) + "```"); !strings.Contains(got, `<span class="c">9 more lines</span>`) || strings.Count(got, "x\n") != 29 {
		t.Errorf("long code is %s", got)
	}
	if got := proseOf("|a|b|\n|:-|-:|\n|1|2|"); !strings.Contains(got, `<div class="wide" tabindex="0"`) || !strings.Contains(got, `<td align="right">2</td>`) {
		t.Errorf("a table is %s", got)
	}
}

// Texts whose rendering would take quadratic time or space are shown as they are; those near the limits have a size
// in proportion to theirs.
func TestBounds(t *testing.T) {
	rep := func(s string) string { return strings.Repeat(s, maxText/len(s)) }
	var nested, quotes strings.Builder
	for i := 0; nested.Len() < maxText-800; i++ {
		nested.WriteString(strings.Repeat(" ", i%300*2) + "- a\n")
		quotes.WriteString(strings.Repeat(">", i%400) + " a\n")
	}
	for name, text := range map[string]string{
		"quotes": rep("> "), "quotes without space": rep(">"), "lists": rep("- "), "numbers": rep("1. "), "links": rep("[a](<b"), "brackets": rep("[a]("),
		"emphasis": rep("*a_ "), "indented": nested.String(), "many quotes": quotes.String(),
		"cells": strings.Repeat("a|", 200) + "\n" + strings.Repeat("-|", 200) + "\n" + strings.Repeat("b\n", 3000),
		"long":  rep("a") + "bc",
	} {
		if got := proseOf(text); !strings.HasPrefix(got, `<p class="plain">`) {
			t.Errorf("%s is rendered", name)
		}
	}
	for name, text := range map[string]string{
		"prose": rep("The **pool** has `x` at [a](https://b.example). *So it is*, as it was on the Monday before the release.\n\n"), "code": "```\n" + rep("[[*_`\n")[:maxText-8] + "\n```",
		"quoted": strings.Repeat(strings.Repeat("> ", maxNested)+"a\n\n", maxMarks/maxNested),
		"runs":   strings.Repeat(strings.Repeat("[a](", maxBrackets)+"\n\n", maxMarks/8/maxBrackets), "stars": strings.Repeat(strings.Repeat("*a_ ", maxDelimiters/2)+"\n\n", maxMarks/maxDelimiters),
		"references": strings.Repeat("[a]: bbbbbbbbbbbbbbbbb\n\n", maxMarks/8), "list": rep("- aaaaaaaaaaaaaaaa\n"),
	} {
		got := proseOf(text)
		if strings.Contains(got, `class="plain"`) {
			t.Errorf("%s is not rendered", name)
		}
		if len(got) > 16*maxText {
			t.Errorf("%s has %d bytes", name, len(got))
		}
	}
}

func TestHTML(t *testing.T) {
	to := sequent.To
	s := recorded(t, func(c *sequent.Change) error {
		return errors.Join(appended(
			sequent.Draft{Number: 1, Text: "Checkout times out at busy hours. What did Tuesday change?"},
			sequent.Draft{Number: 2, Text: "The query is the slowest span. Suspect the database."},
			sequent.Draft{Number: 3, Text: "The database is idle.", Revises: to(2), Revision: true},
			sequent.Draft{Number: 4, Text: "Raise the pool.", Branch: "bigger-pool", From: to(3)},
			sequent.Draft{Number: 5, Text: "Four times 40 is too many. This moves the wall.", Branch: "bigger-pool"},
			sequent.Draft{Number: 4, Text: "Check first.", Branch: "early", From: to(3)},
			sequent.Draft{Number: 5, Text: "Deeper.", Branch: "deeper", From: to(4)},
			sequent.Draft{Number: 4, Text: "Conclusion: move the check.\n\n1. Ship it.", Final: true})(c),
			c.Decide("bigger-pool", sequent.Rejected), c.Decide("early", sequent.Chosen),
			c.AddNote(sequent.Note{Seq: 1, Kind: sequent.Wrong, Text: "Not **so**.", From: "eve <e>"}))
	})
	got := htmlOf(t, s, Options{})
	for _, want := range []string{
		`<h1 id="title" dir="auto">Checkout times out at busy hours</h1>`, `<p>What did Tuesday change?</p>`, `<b class="settled">Completed</b>`,
		`<h2 id="answer">Conclusion <a href="#t8"><bdi>#4</bdi></a></h2>` + "\n<p>Move the check.</p>\n<dl",
		`<span><a href="#t4"><bdi>bigger-pool</bdi></a> <span class="fate rejected">rejected</span></span>`, `<a href="#t3"><bdi>#3</bdi></a> replaces <a href="#t2"><bdi>#2</bdi></a>`,
		`<summary dir="auto"><span class="v">The query is the slowest span.</span></summary><div class="prose" dir="auto"><p>Suspect the database.</p>`,
		`replaced by <a href="#t3">`, `replaces <a href="#t2">`, `<li class="branch rejected" id="b4"><details><summary>`, `<p dir="auto">This moves the wall.</p></summary>`,
		`<li class="branch chosen" id="b6"><details open><summary>`, `<div class="verdict prose" dir="auto"><h4 class="label">Conclusion</h4><p>Move the check.</p>`,
		`<span class="open">! disputed</span>`, `✎ <b><bdi>eve &lt;e&gt;</bdi></b> <span class="open">! wrong</span>`, `<p>Not <strong>so</strong>.</p>`,
		`8 thoughts · 3 branches · 1 revision · 1 note`, `<a href="#t7"><span class="sr">Thought deeper </span>5</a>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the article lacks %s", want)
		}
	}
	balanced(t, got)
	if got := htmlOf(t, s, Options{Public: true}); strings.Contains(got, "eve") {
		t.Error("a public article says who wrote a note")
	}
	short := htmlOf(t, s, Options{Short: true})
	if n := strings.Count(short, `<li class="thought`); n != latest || !strings.Contains(short, `id="t8"`) {
		t.Errorf("a short article has %d thoughts", n)
	}
	balanced(t, short)
	lean := htmlOf(t, s, Options{Text: func(t *sequent.Thought) bool { return t.Seq > 7 }})
	if !strings.Contains(lean, `<li class="thought later" id="t6"`) || strings.Contains(lean, "Check first") {
		t.Error("an article has texts that were not asked for")
	}
	part, err := Thoughts(t.Context(), s, 2, 3, Options{})
	if err != nil || strings.Count(string(part), "<li class=") != 2 {
		t.Errorf("two thoughts are %s, %v", part, err)
	}
	// What a page compares does not depend on whether the text is there.
	if state := regexp.MustCompile(`id="t6" data-state="\w+"`); state.FindString(got) != state.FindString(lean) || state.FindString(got) == "" {
		t.Error("the state of a thought differs without its text")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := HTML(ctx, s, Options{}); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("a caller that has left gets %v", err)
	}
}

// Branches of branches are indented to a depth, then stay in their lane; a long session is shown in part.
func TestLarge(t *testing.T) {
	drafts := []sequent.Draft{{Number: 1, Text: "One."}}
	for i := 2; i < 30; i++ {
		drafts = append(drafts, sequent.Draft{Number: i, Text: "More.", Branch: fmt.Sprint("b", i), From: sequent.To(i - 1)})
	}
	got := htmlOf(t, recorded(t, appended(drafts...)), Options{})
	balanced(t, got)
	if n := strings.Count(got, `<ol class="log">`); n != maxDepth+1 || strings.Count(got, `<li class="turn"`) != 28-maxDepth {
		t.Errorf("%d lists", n)
	}
	for i := 30; i < MaxThoughts+200; i++ {
		drafts = append(drafts, sequent.Draft{Number: i, Text: "More."})
	}
	s := recorded(t, appended(drafts...))
	for at, want := range map[int]string{0: "199 thoughts after these", MaxThoughts + 199: "199 thoughts before these", 600: "thoughts before these"} {
		got := htmlOf(t, s, Options{At: at, Text: func(*sequent.Thought) bool { return false }})
		if n := strings.Count(got, `<li class="thought`); n != MaxThoughts || !strings.Contains(got, want) {
			t.Errorf("at %d: %d thoughts", at, n)
		}
		balanced(t, got)
	}
}

// balanced checks that elements are closed in their order.
func balanced(t *testing.T, text string) {
	t.Helper()
	var open []string
	for _, m := range regexp.MustCompile(`<(/?)([a-z]+[0-9]?)[^>]*>`).FindAllStringSubmatch(text, -1) {
		switch name := m[2]; {
		case name == "br" || name == "hr":
		case m[1] == "":
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			t.Fatalf("</%s> within %v", name, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Fatalf("open: %v", open)
	}
}

func TestHead(t *testing.T) {
	for _, c := range []struct {
		text, sentence, rest string
	}{
		{"Why does it fail? It is Monday.", "Why does it fail?", "It is Monday."},
		{"# The problem\n\nIt fails.", "The problem", "It fails."},
		{"The `pool` is full. So wait.", "The pool is full.", "So wait."},
		{"- a list of things. More.", "- a list of things.", "- a list of things. More."},
		{"Read **this. And** that.", "Read this.", "Read **this. And** that."},
		{"e.g. 3.5 s of it is long. Yes.", "e.g. 3.5 s of it is long.", "Yes."},
		{strings.Repeat("long ", 60), strings.TrimSpace(strings.Repeat("long ", 39)+"long") + "…", strings.TrimSpace(strings.Repeat("long ", 60))},
		{"為什麼夜間的構建在星期一會失敗？日誌是空的。", "為什麼夜間的構建在星期一會失敗？", "日誌是空的。"},
	} {
		sentence, rest := head(c.text, maxSentence)
		if sentence != c.sentence || rest != c.rest {
			t.Errorf("%q: got %q, %q", c.text, sentence, rest)
		}
	}
	if got := lastSentence("One thing. The other thing.\n\nThis moves the wall. And it does not `end`."); got != "And it does not end." {
		t.Errorf("the last sentence is %q", got)
	}
}

func TestCompare(t *testing.T) {
	to := sequent.To
	s := recorded(t, appended(
		sequent.Draft{Number: 1, Text: "The problem. Where is it?"},
		sequent.Draft{Number: 2, Text: "A guess."},
		sequent.Draft{Number: 3, Text: "The cause. It is the *pool*."},
		sequent.Draft{Number: 2, Text: "A better guess. With reasons.", Revises: to(2), Revision: true},
		sequent.Draft{Number: 4, Text: "Raise it.", Branch: "raise", From: to(3)},
		sequent.Draft{Number: 4, Text: "Release it.", Branch: "release", From: to(3)},
		sequent.Draft{Number: 5, Text: "It works.", Branch: "release"},
		sequent.Draft{Number: 4, Text: "Conclusion: release it.", Final: true},
	))
	compare := func(one, other string) string {
		b, err := Compare(t.Context(), s, one, other, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	text := regexp.MustCompile(`<[^>]*>|\s+`)
	for _, c := range []struct{ one, other, want string }{
		{"release", "raise", "Both start from Thought 1 Where is it? Thought 2 replaces #2 A better guess. With reasons. Thought 3 The cause. It is the pool . " +
			"release undecided 2 thoughts Thought release 4 Release it. Thought release 5 It works. " +
			"raise undecided 1 thought Thought raise 4 Raise it. Conclusion #4 Release it."},
		{"", "raise", "Both start from Thought 1 Where is it? Thought 2 replaces #2 A better guess. With reasons. Thought 3 The cause. It is the pool . " +
			"main line 1 thought Thought 4 Conclusion Release it. raise undecided 1 thought Thought raise 4 Raise it."},
	} {
		got := compare(c.one, c.other)
		_, got, _ = strings.Cut(got, "</header>")
		if got = strings.Join(strings.Fields(text.ReplaceAllString(got, " ")), " "); got != c.want {
			t.Errorf("%q beside %q:\n%s\nwant\n%s", c.one, c.other, got, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compare(ctx, s, "release", "raise", Options{}); err == nil {
		t.Error("a cancelled comparison has no error")
	}
}

// A browser takes a time that is quadratic for a word that no line can end in.
func TestLongWords(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("A", 64<<10), strings.Repeat("日", 20_000), strings.Repeat("&", 10_000), strings.Repeat("A", 1<<20),
		strings.Repeat("*a*b", 240), "`" + strings.Repeat("x", 5000) + "`", "[" + strings.Repeat("x", 5000) + "](https://example.com)",
	} {
		s, err := sequent.New(sequent.Config{Limits: sequent.Limits{Text: 2 << 20}}).Append(t.Context(), "s", sequent.Draft{Text: "First."}, sequent.Draft{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		page, err := HTML(t.Context(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		tags := regexp.MustCompile(`</?(?:em|code|a|strong)\b[^>]*>`).ReplaceAll(page, nil)
		for _, word := range regexp.MustCompile(`[^<>\s]+`).FindAllString(string(tags), -1) {
			if n := utf8.RuneCountInString(html.UnescapeString(word)); n > 256 {
				t.Errorf("%.20q: a word has %d characters", text, n)
			}
		}
		if plain := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(page), ""); len(text) > 60<<10 && !strings.Contains(html.UnescapeString(plain), text) {
			t.Errorf("%.20q: the text is another", text)
		}
	}
}

// The title is what was asked; a revision of the first thought is beside it and does not replace it.
func TestAsked(t *testing.T) {
	revised := htmlOf(t, recorded(t, appended(
		sequent.Draft{Number: 1, Text: "Why is it slow? Since Tuesday."},
		sequent.Draft{Number: 2, Text: "Why is it slow <at noon>? The batch job runs then.", Revises: sequent.To(1)},
	)), Options{})
	titled := htmlOf(t, recorded(t, func(c *sequent.Change) error {
		c.SetTitle("Why is it slow?")
		return appended(sequent.Draft{Number: 1, Text: "First look at the pool. Then at the disk."})(c)
	}), Options{})
	for _, c := range []struct{ page, want string }{
		{revised, `<h1 id="title" dir="auto">Why is it slow?</h1>`},
		{revised, `<p class="meta">Asked at <a href="#t1"><bdi>#1</bdi></a>. Now <a href="#t2"><bdi>#2</bdi></a>: <bdi>Why is it slow &lt;at noon&gt;?</bdi></p>`},
		{titled, `<h1 id="title" dir="auto">Why is it slow?</h1>`},
		{titled, "<p>First look at the pool. Then at the disk.</p>"},
	} {
		if !strings.Contains(c.page, c.want) {
			t.Errorf("no %s in\n%s", c.want, c.page)
		}
	}
	if strings.Contains(titled, "Asked at") {
		t.Errorf("nothing was revised:\n%s", titled)
	}
}

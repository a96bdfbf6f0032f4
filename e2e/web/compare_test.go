package web

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// TestCompare reads two lines beside each other, and below each other where there is no room: whole, without holes, and
// what both share once. It has a URL and grows with the session.
func TestCompare(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	program := programtest.Build(t)
	store, file := newStore(t, t.TempDir())
	e := sequent.New(sequent.Config{Store: store})
	story(t, e)
	p := b.open(t, startView(t, program, file, "story"))
	p.size(1280, 800)
	p.wait(`document.querySelectorAll('[role=tab]').length === 3`)
	p.tree("story", `navigation Sessions
heading 2 Today
list
main
article Double charges, 1 in 40,000 orders
heading 1 Double charges, 1 in 40,000 orders
region Conclusion #5
heading 2 Conclusion #5
heading 2 Thoughts
list
heading 3 Thought 1
heading 3 Thought 2
heading 3 Thought 3
heading 3 fix-a
heading 3 fix-b
list
heading 4 Thought fix-b 4
heading 4 Thought fix-b 5
heading 3 Thought 4
heading 3 Thought 5
heading 4 Conclusion
status`)

	// A selection of several thoughts is copied as Markdown, a number as a link.
	copied := func(from, to string) string {
		t.Helper()
		return eval[string](p, `(() => {
			getSelection().setBaseAndExtent(document.querySelector('`+from+`').firstChild, 0, document.querySelector('`+to+`').lastChild, 1);
			const data = new DataTransfer();
			document.querySelector('#t2 p').dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true }));
			return data.getData('text/plain');
		})()`)
	}
	address, _, _ := strings.Cut(eval[string](p, `location.href`), "?")
	p.wait(`performance.getEntriesByName('complete').length > 0`)
	if got, want := copied("#t2 .n a", "#t2 .n a"), "[#2]("+address+"?at=2)"; got != want {
		t.Errorf("a number is copied as %q, want %q", got, want)
	}
	if got, want := copied("#t1 .prose p", "#t2 .prose p"), "[#1]("+address+"?at=1)\n\nDouble charges, 1 in 40,000 orders. Two layers to separate: the guard in code and the index.\n\n"+
		"[#2]("+address+"?at=2)\n\nDoes INVALID mean not enforced? The log shows no conflict since March."; got != want {
		t.Errorf("two thoughts are copied as %q, want %q", got, want)
	}

	p.keys("c")
	p.wait(`document.querySelectorAll('.pair .thought').length === 4 && document.querySelectorAll('.choose option').length === 6`)
	if got := eval[string](p, `location.search`); got != "?view=compare&line=fix-b&other=fix-a" {
		t.Errorf("the address has %s", got)
	}
	p.tree("compare", `main
article Double charges, 1 in 40,000 orders
heading 1 Double charges, 1 in 40,000 orders
combobox Line
combobox Other line
region Both start from
heading 2 Both start from
list
heading 3 Thought 1
heading 3 Thought 2
heading 3 Thought 3
region fix-b chosen 2 thoughts
heading 2 fix-b chosen 2 thoughts
list
heading 3 Thought fix-b 4
heading 3 Thought fix-b 5
region fix-a rejected 2 thoughts
heading 2 fix-a rejected 2 thoughts
list
heading 3 Thought fix-a 4
heading 3 Thought fix-a 5
region Conclusion #5
heading 2 Conclusion #5
status`)
	const columns = `(() => { const [a, b] = [...document.querySelectorAll('.pair > section')].map((e) => e.getBoundingClientRect()); return `
	p.wait(columns + `a.top === b.top && a.right < b.left && a.width > 400; })()`)
	p.size(1000, 800)
	p.wait(columns + `a.bottom < b.top && a.left === b.left; })()`)
	if hole := eval[float64](p, `Math.max(...[...document.querySelectorAll('.pair .thought + .thought')].map((e) => e.getBoundingClientRect().top - e.previousElementSibling.querySelector('.prose').getBoundingClientRect().bottom))`); hole > 40 {
		t.Errorf("there is a hole of %g pixels between two thoughts", hole)
	}
	p.everywhere("compare")
	p.run(reload())
	p.wait(`document.querySelectorAll('.pair .thought').length === 4 && performance.getEntriesByName('following').length > 0`)
	record(t, e, "story", sequent.Draft{Number: 6, Text: "It was built in **four** minutes.", Branch: "fix-b"})
	p.wait(`document.querySelector('.pair section strong')?.textContent === 'four'`)

	// Other lines, with the keys; a link to what is on neither line leads to the article.
	eval[bool](p, `document.querySelector('select[aria-label=Line]').focus(), true`)
	p.keys("m")
	p.wait(`location.search === '?view=compare&other=fix-a' && document.querySelector('#left').textContent.startsWith('main line')`)
	eval[bool](p, `document.querySelector('#t8 .rel a').click(), true`)
	p.wait(`location.search === '?view=compare&other=fix-a&at=3' && document.querySelector('#right + .log #t3.here')`)
	eval[bool](p, `document.querySelector('select[aria-label=Line]').focus(), true`)
	p.keys("↓")
	p.wait(`document.querySelector('#left').textContent.startsWith('fix-a') && document.activeElement.matches('select[aria-label=Line]')`)
	p.keys("↓")
	p.wait(`document.querySelector('#left').textContent.startsWith('fix-b') && document.querySelector('.shared #t3')`)
	eval[bool](p, `document.querySelector('#t3 .rel a').click(), true`)
	p.wait(`location.search === '?line=fix-b&other=fix-a&at=8' && document.querySelector('#t8.here')`)
	eval[bool](p, `history.back(), true`)
	p.wait(`document.querySelector('.pair')`)

	// The list makes room for the columns, and comes back.
	p.wait(`!document.querySelector('.list').checkVisibility({ visibilityProperty: true })`)
	p.keys("s")
	p.wait(`document.activeElement.matches('a.session[aria-current]')`)
	p.clean()
}

// tree compares the landmarks, headings, lists and live regions that a screen reader finds with the wanted ones.
func (p *tab) tree(what, want string) {
	p.t.Helper()
	var lines []string
	p.run(chromedp.Func(func(ctx context.Context, s *target) error {
		all, err := cdp.Call(ctx, s, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		text := func(v *accessibility.Value) (text string) {
			if v == nil || json.Unmarshal([]byte(v.Value), &text) != nil {
				return ""
			}
			return text
		}
		nodes := make(map[accessibility.NodeID]*accessibility.Node)
		for _, n := range all.Nodes {
			nodes[n.NodeID] = n
		}
		var walk func(n *accessibility.Node)
		walk = func(n *accessibility.Node) {
			role, name := text(n.Role), strings.Join(strings.Fields(text(n.Name)), " ")
			level := ""
			for _, property := range n.Properties {
				if property.Name == "level" {
					level = " " + string(property.Value.Value)
				}
			}
			switch role {
			case "heading", "navigation", "main", "article", "region", "list", "status", "combobox", "grid":
				if !n.Ignored {
					lines = append(lines, strings.TrimSpace(role+level+" "+name))
				}
			}
			for _, id := range n.ChildIDs {
				if child := nodes[id]; child != nil {
					walk(child)
				}
			}
		}
		walk(all.Nodes[0])
		return nil
	}))
	if got := strings.Join(lines, "\n"); got != want {
		p.t.Errorf("a screen reader finds in %s:\n%s\nwant\n%s", what, got, want)
	}
}

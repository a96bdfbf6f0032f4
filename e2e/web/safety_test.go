package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// hostile are texts that do something where they are taken for more than text.
var hostile = []string{
	`<script>document.title = "owned"; fetch("https://evil.example/script")</script>`,
	`<img src="https://evil.example/img.png" onerror="alert(1)"><svg onload="alert(2)"><iframe src="https://evil.example/frame"></iframe>`,
	`[click](javascript:alert(3)) ![x](https://evil.example/x.png) <a href="javascript:alert(4)">go</a> https://evil.example/link`,
	"\u202eevil\u202c \u2066isolate\u2069 \u200fmark e\u0301\u0301\u0301\u0301",
	"\x1b[2J\x1b]0;owned\x07 \x00 \x7f \u009b31m",
	`</style><style>body { display: none; background: url(https://evil.example/css) }</style><link rel="stylesheet" href="https://evil.example/x.css">`,
	`{{constructor.constructor('alert(5)')()}} ${alert(6)} "};alert(7);//  --><!--`,
	`<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/refresh"><form action="https://evil.example/form"><input name=x autofocus onfocus=alert(8)>`,
}

// The page shows hostile texts, titles, branches and ids as text: nothing runs, nothing is
// asked of another server, and the policy has nothing to refuse.
func TestHostile(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	program := programtest.Build(t)
	store, file := newStore(t, t.TempDir())
	// One thought has a line of 1 MB, which the engine accepts from a program that sets its limits so.
	e := sequent.New(sequent.Config{Store: store, Limits: sequent.Limits{Text: 2 << 20}})
	const id = `../<b onclick=alert(9)>"'?#&%2e`
	drafts := []sequent.Draft{{Number: 1, Text: hostile[0]}}
	for i, text := range hostile {
		drafts = append(drafts, sequent.Draft{Number: i + 2, Text: text, Note: text, Branch: fmt.Sprintf(`<img src=x onerror=alert(%d)>`, i), From: sequent.To(1)})
	}
	drafts = append(drafts, sequent.Draft{Number: 20, Text: strings.Repeat("A", 1<<20)})
	drafts = append(drafts, sequent.Draft{Number: 21, Text: hostile[1], Revises: sequent.To(1), Revision: true, Final: true})
	record(t, e, id, drafts...)
	_, err := e.Update(t.Context(), id, func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 1, Text: hostile[1], From: `<img src=x onerror=alert(10)>`})
	})
	if err != nil {
		t.Fatal(err)
	}
	home := startView(t, program, file)
	p := b.open(t, home)
	p.wait(`document.querySelectorAll('a.session').length === 1`)
	eval[bool](p, `window.violations = 0, document.addEventListener('securitypolicyviolation', () => window.violations++), true`)
	p.run(clickOn("a.session"))
	p.wait(`document.querySelectorAll('.thought').length === 11 && performance.getEntriesByName('following').length > 0`)
	for _, view := range []string{"1", "2", "3", "1"} {
		p.keys(view)
		p.wait(fmt.Sprintf(`document.querySelectorAll('[role=tab]')[%s - 1].getAttribute('aria-selected') === 'true' && document.querySelector('.row, .thought')`, view))
	}
	p.keys("g", "z")
	for range 11 {
		p.keys("\r", "j")
	}
	p.keys("G", "d")
	p.wait(`document.querySelector('.pane .changes')`)
	p.wait(`document.querySelector('.notes .note')?.textContent.includes('onerror')`)
	p.keys("/")
	p.write("evil")
	p.wait(`document.querySelectorAll('a.hit').length > 0`)
	if got := eval[string](p, `document.querySelector('#t2 .prose > p').textContent.trim()`); got != hostile[0] {
		t.Errorf("the first thought is shown as %q", got)
	}
	if n := eval[int](p, `document.querySelectorAll('img, iframe, object, embed, base, form, body script, body style, body link, .page input, a[href^="javascript:"]').length`); n != 0 {
		t.Errorf("%d elements come from thoughts", n)
	}
	if n := eval[int](p, `[...document.querySelectorAll('.page a:not([href^="#t"])')].filter((a) => a.rel !== 'noopener noreferrer nofollow' || !a.href.startsWith('https://evil.example/')).length`); n != 0 {
		t.Errorf("%d links are not as they should be", n)
	}
	if text := eval[string](p, `document.body.textContent`); strings.ContainsAny(text, "\u202e\u2066\x1b\x00") {
		t.Error("control characters are in the page")
	}
	if n := eval[int](p, `window.violations`); n != 0 {
		t.Errorf("%d violations of the policy", n)
	}
	if wide := eval[bool](p, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page scrolls sideways")
	}
	own, err := url.Parse(home)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	for _, r := range p.requests {
		if u, err := url.Parse(r); err != nil || u.Host != own.Host {
			t.Errorf("the page has asked for %s", r)
		}
		if strings.Contains(r, "key=") || strings.Contains(r, "code=") {
			t.Errorf("a request has the key: %s", r)
		}
	}
	p.mu.Unlock()
	p.clean()
}

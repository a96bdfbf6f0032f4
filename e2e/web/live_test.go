package web

import (
	"fmt"
	"net"
	"strconv"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// A browser has six connections to a server, and many tabs open with sessions of it: those in the
// background take none, and have missed nothing when they are shown.
func TestManyTabs(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	store, file := newStore(t, t.TempDir())
	url := serveAll(t, app.Config{Store: file})
	e := sequent.New(sequent.Config{Store: store})
	record(t, e, "one", sequent.Draft{Number: 1, Text: "1"})

	const both = `document.querySelectorAll('.thought').length === 1 && document.querySelectorAll('.sessions a').length === 1`
	tabs := []*tab{newBrowser(t).open(t, url+"/ui/s/one")}
	for tabs[0].wait(both); len(tabs) < 8; {
		p := tabs[0].beside(url + "/ui/s/one")
		p.wait(both)
		tabs = append(tabs, p)
	}
	if !eval[bool](tabs[0], `document.hidden`) {
		t.Fatal("the first tab is not hidden")
	}
	for i, p := range []*tab{tabs[7], tabs[0], tabs[4]} {
		record(t, e, "one", sequent.Draft{Number: i + 2, Text: "while others are shown"})
		p.show()
		p.wait(fmt.Sprintf(`document.querySelectorAll('.thought').length === %d`, i+2))
		p.wait(fmt.Sprintf(`document.querySelector('.sessions a').textContent.includes('%d thoughts')`, i+2))
		p.wait(`document.querySelector('.banner').hidden`)
	}
	for _, p := range tabs {
		p.clean()
	}
}

// While 1,000 thoughts are recorded the server is stopped and started again, several times.
// The page connects again by itself and shows every thought once.
func TestReconnect(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	b := newBrowser(t)
	store, file := newStore(t, t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close() // the server takes the port
	e := sequent.New(sequent.Config{Store: store})
	record(t, e, "long", sequent.Draft{Number: 1, Text: "1"})

	serve := func() (stop func()) {
		_, stop = startServer(t, app.Config{Store: file, HTTP: app.HTTPConfig{Addr: port}})
		return stop
	}
	stop := serve()
	p := b.open(t, "http://127.0.0.1:"+port+"/ui/s/long?view=overview")
	p.wait(`document.querySelectorAll('.row').length === 1`)
	// Every row that is ever added is counted by the position of its thought.
	const rounds, each = 5, 200
	for round := range rounds {
		var drafts []sequent.Draft
		for i := range each {
			drafts = append(drafts, sequent.Draft{Number: round*each + i + 2, Text: fmt.Sprint("thought ", round*each+i+2)})
		}
		record(t, e, "long", drafts[:each/2]...)
		stop()
		record(t, e, "long", drafts[each/2:]...)
		if round == 2 {
			p.wait(`document.querySelector('.banner')?.textContent.startsWith('Reconnecting; shown up to')`)
		}
		stop = serve()
	}
	defer stop()
	p.wait(fmt.Sprintf(`document.querySelector('.grid').getAttribute('aria-rowcount') === '%d'`, rounds*each+1))
	p.wait(`document.querySelector('.banner').hidden`)
	p.wait(`(() => { const g = document.querySelector('.grid'); return g.scrollHeight > 20000 && g.scrollTop + g.clientHeight >= g.scrollHeight - 1; })()`) // it has followed to the end
	if n := eval[int](p, `document.querySelectorAll('.row').length`); n > 80 {
		t.Errorf("%d rows in the document, want at most 80", n)
	}
	// Scroll through everything: the rows are 1, 2, 3, …
	got := eval[string](p, `(async () => {
		const grid = document.querySelector('.grid'), seen = new Map();
		for (let y = 0; ; y += grid.clientHeight / 2) {
			grid.scrollTop = y;
			await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
			for (const row of document.querySelectorAll('.row')) seen.set(Number(row.dataset.index), row.querySelector('.text').textContent);
			if (grid.scrollTop + grid.clientHeight >= grid.scrollHeight - 1) break;
		}
		const wrong = [...seen].filter(([i, text]) => text !== (i === 0 ? '1' : 'thought ' + (i + 1)));
		return seen.size + ' rows, wrong: ' + wrong.join(' ');
	})()`)
	if want := fmt.Sprintf("%d rows, wrong: ", rounds*each+1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.clean("net::ERR_", "503 (Service Unavailable)") // the server was away, or stopped
}

// The overview follows to its end while the texts of the article cannot be read, as when the server
// stops right after it has told of a change.
func TestFollowWithoutTexts(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	store, file := newStore(t, t.TempDir())
	url := serveAll(t, app.Config{Store: file})
	e := sequent.New(sequent.Config{Store: store})
	record(t, e, "one", sequent.Draft{Number: 1, Text: "1"})
	p := newBrowser(t).open(t, url+"/ui/s/one?view=overview")
	p.wait(`document.querySelectorAll('.row').length === 1`)
	eval[bool](p, `(() => {
		const whole = fetch;
		window.fetch = (u, o) => String(u).includes('/article') ? Promise.reject(new TypeError('no texts')) : whole(u, o);
		return true;
	})()`)
	for n := 1; n < 300; {
		var drafts []sequent.Draft
		for range 100 {
			n++
			drafts = append(drafts, sequent.Draft{Number: n, Text: fmt.Sprint(n)})
		}
		record(t, e, "one", drafts...)
		p.wait(fmt.Sprintf(`document.querySelector('.grid').getAttribute('aria-rowcount') === '%d'`, n))
		p.wait(`(() => { const g = document.querySelector('.grid'); return g.scrollHeight > 2000 && g.scrollTop + g.clientHeight >= g.scrollHeight - 1; })()`)
	}
	p.wait(`document.querySelector('.pill').hidden`)
	p.clean()
}

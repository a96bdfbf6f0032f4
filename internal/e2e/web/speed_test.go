package web

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/e2e/programtest"
	"github.com/sequent-dev/sequent/store/sqlite"
)

var benchPage = flag.String("page", "", "Markdown file for the measured figures; needs SEQUENT_LONG=1")

// A figures is what a browser measures of one session.
type figures struct {
	Thoughts           int
	First              float64 // milliseconds from the first byte of the outline to the first rows
	All                float64 // milliseconds from the start of the navigation until every row is known
	P95, Worst         float64 // milliseconds of a frame while scrolling
	LiveP95, LiveWorst float64 // the same while 200 thoughts a second arrive
	IdleP95, IdleWorst float64 // the same of a page that does nothing
	Jump               float64 // milliseconds until a thought far away is in the document, at most
	Heap               float64 // MB after a collection of garbage
	Rows               int     // in the document, at most
}

// frames moves a box for a while, or does nothing, and returns the durations of frames and
// the most rows that were in the document. A box has a position, at, between 0 and end, both
// in pixels.
const frames = `(ms, step, box) => new Promise((done) => {
	const times = [], end = box.end;
	let rows = 0, last = 0, begun = 0, by = step;
	const frame = (now) => {
		begun ||= now;
		if (last) times.push(now - last);
		last = now;
		if (by) {
			if (box.at >= end - 2) by = -step;
			else if (box.at <= 0) by = step;
			box.at += by;
		}
		rows = Math.max(rows, box.rows?.() ?? 0);
		if (now - begun < ms) return requestAnimationFrame(frame);
		times.sort((a, b) => a - b);
		done([times[Math.floor(times.length * 0.95)], times[times.length - 1], rows]);
	};
	requestAnimationFrame(frame);
})`

// grid is the box of the viewer.
const grid = `{
	grid: document.querySelector('.grid'),
	get at() { return this.grid.scrollTop },
	set at(v) { this.grid.scrollTop = v },
	get end() { return this.grid.scrollHeight - this.grid.clientHeight },
	rows: () => document.querySelectorAll('.row').length,
}`

// TestSpeed measures the page of a long session, and other viewers if it writes a page.
func TestSpeed(t *testing.T) {
	if os.Getenv("SEQUENT_LONG") == "" {
		t.Skip("it measures; run make benchweb")
	}
	program := programtest.Build(t)
	var all []figures
	for _, n := range []int{10_000, 100_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { // its browser ends with it
			all = append(all, measure(t, program, n))
			t.Logf("%+v", all[len(all)-1])
		})
	}
	if *benchPage != "" {
		load := loadAverage()
		writePage(t, all, load, beside(t, program))
	}
}

func measure(t *testing.T, program string, n int) figures {
	file := filepath.Join(t.TempDir(), "sequent.db")
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := sequent.New(sequent.Config{Store: store, Limits: sequent.Limits{Thoughts: -1}})
	recordLong(t, e, n)
	f := figures{Thoughts: n}
	p := newBrowser(t).open(t, startView(t, program, file, "long"))
	p.wait(fmt.Sprintf(`document.querySelector('.grid')?.getAttribute('aria-rowcount') === '%d'`, n))
	times := eval[[]float64](p, `[performance.getEntriesByName('rows')[0].startTime - performance.getEntriesByType('resource').find((r) => r.name.includes('/outline')).responseStart, performance.getEntriesByName('complete')[0].startTime]`)
	f.First, f.All = times[0], times[1]
	p.wait(`document.querySelector('.conclusion h2')`)
	idle := eval[[]float64](p, `(`+frames+`)(3000, 0, `+grid+`)`)
	f.IdleP95, f.IdleWorst = idle[0], idle[1]
	scrolled := eval[[]float64](p, `(`+frames+`)(10000, 60, `+grid+`)`)
	f.P95, f.Worst, f.Rows = scrolled[0], scrolled[1], int(scrolled[2])
	f.Jump = eval[float64](p, `(async () => {
		const grid = document.querySelector('.grid');
		let most = 0;
		for (let i = 0; i < 20; i++) {
			const index = (i * 7919 * 13) % `+fmt.Sprint(n)+`, begun = performance.now();
			grid.scrollTop = index * 28;
			while (!document.querySelector('.row[data-index="' + index + '"]')) await new Promise(requestAnimationFrame);
			most = Math.max(most, performance.now() - begun);
		}
		return most;
	})()`)
	f.Heap = heap(p)

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() {
		defer close(done)
		for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; {
			_, err := e.Update(t.Context(), "long", func(c *sequent.Change) error {
				for range 10 {
					if _, err := c.Append(sequent.Draft{Number: 1, Text: "A thought that arrives.", More: true}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			<-tick.C
		}
	}()
	live := eval[[]float64](p, `(`+frames+`)(10000, 60, `+grid+`)`)
	cancel()
	<-done
	f.LiveP95, f.LiveWorst, f.Rows = live[0], live[1], max(f.Rows, int(live[2]))
	return f
}

// heap returns the MB of the heap of a page after a collection of garbage.
func heap(p *tab) float64 {
	p.t.Helper()
	p.run(func(ctx context.Context, s *target) (void, error) {
		_, err := cdp.Call(ctx, s, heapprofiler.CollectGarbage, cdp.Empty{})
		return void{}, err
	})
	return eval[float64](p, `performance.memory.usedJSHeapSize / 1e6`)
}

// recordLong records the session of longSession.
func recordLong(t *testing.T, e *sequent.Engine, n int) {
	t.Helper()
	for drafts := range slices.Chunk(longSession(n), 5000) {
		record(t, e, "long", drafts...)
	}
}

// longSession returns the drafts of a session with up to 300 branches and about 800 revisions.
func longSession(n int) []sequent.Draft {
	var drafts []sequent.Draft
	for i := range n {
		d := sequent.Draft{Number: i + 1, Text: fmt.Sprintf("Thought %d of many. It has a second sentence, as thoughts do, and some more words.", i+1), More: true}
		if i%33 >= 28 && i < 33*300 { // 300 branches of five thoughts
			d.Branch = fmt.Sprint("branch-", i/33)
			if i%33 == 28 {
				d.From = sequent.To(i)
			}
		} else if i%12 == 11 && i < 9600 { // 800 revisions, less those that fall on branches
			d.Revises, d.Revision = sequent.To(i-4), true
			if (i-5)%33 >= 28 {
				d.Revises, d.Revision = sequent.Ref{}, false
			}
		}
		drafts = append(drafts, d)
	}
	return drafts
}

// loadAverage returns the load averages of the machine, on Linux only.
func loadAverage() string {
	data, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(data))
	return strings.Join(fields[:min(3, len(fields))], ", ")
}

// writePage writes the figures into the documentation. The load is that after them.
func writePage(t *testing.T, all []figures, load, others string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `# How fast the viewer is

`+"`make benchweb`"+` records sessions with 300 branches and about 800 revisions, opens them in Debian's Chromium, headless and
without a GPU, with a window of 1,400 by 900 pixels, and writes this page. A frame is the time between two calls of
requestAnimationFrame; the page that does nothing shows what the machine itself adds. Server, recorder and browser share
%d processors; the load average after the run was %s.

| | wanted |`, runtime.NumCPU(), load)
	for _, f := range all {
		fmt.Fprintf(&b, " %d thoughts |", f.Thoughts)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("--:|", len(all)) + "\n")
	row := func(name, wanted string, value func(f figures) string) {
		fmt.Fprintf(&b, "| %s | %s |", name, wanted)
		for _, f := range all {
			fmt.Fprintf(&b, " %s |", value(f))
		}
		b.WriteByte('\n')
	}
	ms := func(v float64) string { return fmt.Sprintf("%.1f ms", v) }
	row("First rows after the first byte of the outline", "300 ms; 1 s for 100,000", func(f figures) string { return ms(f.First) })
	row("Every row is known, after the navigation", "", func(f figures) string { return ms(f.All) })
	row("Frame of an idle page, 95 % and longest", "", func(f figures) string { return ms(f.IdleP95) + ", " + ms(f.IdleWorst) })
	row("Frame while scrolling for 10 s, 95 % and longest", "16.7 ms, 50 ms", func(f figures) string { return ms(f.P95) + ", " + ms(f.Worst) })
	row("The same while 200 thoughts a second arrive", "16.7 ms, 50 ms", func(f figures) string { return ms(f.LiveP95) + ", " + ms(f.LiveWorst) })
	row("Jump to a thought, longest of 20", "100 ms", func(f figures) string { return ms(f.Jump) })
	row("Heap", "60 MB for 10,000", func(f figures) string { return fmt.Sprintf("%.1f MB", f.Heap) })
	row("Rows in the document, at most", "80", func(f figures) string { return fmt.Sprint(f.Rows) })
	b.WriteString("\n" + others)
	if err := os.WriteFile(*benchPage, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

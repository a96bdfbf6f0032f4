package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// drawLimit is the time that a viewer has to draw a session.
const drawLimit = time.Minute

// viewers holds the npm packages of other viewers.
const viewers = "../../bench/viewers/node_modules"

// A viewer is a program that draws a session in a browser. A page has drawn it when
// its global variable drawn is the time since the navigation, in milliseconds.
type viewer struct {
	name string
	page func(t *testing.T, s *sequent.Session) string // HTML
	box  string                                        // what frames moves, and how
}

// A drawing is what a browser measures of a page that shows a session.
type drawing struct {
	viewer     string
	thoughts   int
	drawn      float64 // milliseconds from the start of the navigation to the picture
	elements   int     // in the document
	heap       float64 // MB after a collection of garbage
	p95, worst float64 // milliseconds of a frame while the picture is moved
	failed     string  // why there is no picture
}

// windowBox moves the window to the right. The other axis stays in the middle.
const windowBox = `{
	page: document.scrollingElement,
	get at() { return this.page.scrollLeft },
	set at(v) { this.page.scrollLeft = v; this.page.scrollTop = (this.page.scrollHeight - this.page.clientHeight) / 2 },
	get end() { return this.page.scrollWidth - this.page.clientWidth },
}`

// beside draws the session of TestSpeed in other viewers, in steps up to 10,000 thoughts until
// one is not drawn in time, and returns a section of the page.
func beside(t *testing.T, program string) string {
	t.Helper()
	sizes := []int{100, 500, 1000, 2000, 5000, 10_000}
	version, script := mermaid(t)
	chart := func(write func(*sequent.Session) string, config string) func(*testing.T, *sequent.Session) string {
		return func(_ *testing.T, s *sequent.Session) string {
			return `<!doctype html><meta charset="utf-8"><script src="mermaid.js"></script><pre id="chart" hidden>` + html.EscapeString(write(s)) + `</pre>
<div id="picture"></div><script>addEventListener('load', () => setTimeout(async () => {
	try {
		mermaid.initialize({ startOnLoad: false, flowchart: { useMaxWidth: false }` + config + ` });
		document.getElementById('picture').innerHTML = (await mermaid.render('session', document.getElementById('chart').textContent)).svg;
		requestAnimationFrame(() => requestAnimationFrame((now) => window.drawn = now));
	} catch (err) { window.failed = String(err).slice(0, 200) }
}))</script>`
		}
	}
	whole := viewer{name: "Mermaid " + version + ", every thought", box: windowBox, page: chart(archive.MermaidWhole, ", maxEdges: 1e6, maxTextSize: 1e9")}
	folded := viewer{name: "Mermaid " + version + ", folded as exported", box: windowBox, page: chart(archive.Mermaid, "")}
	rows := []drawing{drawOwn(t, program, 1000), drawOwn(t, program, 10_000)}
	rows = append(rows, drawUntil(t, whole, script, sizes)...)
	rows = append(rows, drawUntil(t, folded, script, sizes[len(sizes)-1:])...)
	note := "thought-graph-mcp was not measured: npm does not find it, and THOUGHT_GRAPH named no folder with its sources."
	if folder := os.Getenv("SEQUENT_THOUGHT_GRAPH"); folder != "" {
		v := thoughtGraph(t, folder)
		rows = append(rows, drawUntil(t, v, script, sizes)...)
		note = "thought-graph-mcp is not in the npm registry; `make benchweb THOUGHT_GRAPH=FOLDER` measures a folder in which its\nsources were built. Its own program writes the page, and its picture is moved at a zoom of 1."
	}
	return besideTable(rows, note)
}

// besideTable returns the section of the page.
func besideTable(rows []drawing, note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `## Beside other viewers

Each draws the first thoughts of the same session of 10,000 in the same browser, in steps until one takes longer than %.0f s.
Mermaid gets the diagram that `+"`sequent export --format mermaid`"+` writes, folded into the 500 edges of its defaults, and the same
one with a node for each thought, for which its limits maxEdges and maxTextSize are raised. The time until the first rows, or
until two frames after the picture entered the document, counts from the navigation. Then the page is scrolled or panned by 60
pixels a frame for 5 s. The heap is that of JavaScript after a collection, without the document.
The load average after this part was %s. %s

| | Thoughts | Picture or first rows | Elements | Heap | Frame while moving, 95 %% and longest |
|---|--:|--:|--:|--:|--:|
`, drawLimit.Seconds(), loadAverage(), note)
	for _, d := range rows {
		if d.failed != "" {
			fmt.Fprintf(&b, "| %s | %d | %s | | | |\n", d.viewer, d.thoughts, d.failed)
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %.0f ms | %d | %.1f MB | %.1f ms, %.1f ms |\n", d.viewer, d.thoughts, d.drawn, d.elements, d.heap, d.p95, d.worst)
	}
	return b.String()
}

// mermaid returns the version of Mermaid and its script.
func mermaid(t *testing.T) (version string, script []byte) {
	t.Helper()
	var about struct{ Version string }
	data, err := os.ReadFile(filepath.Join(viewers, "mermaid", "package.json"))
	if err != nil {
		needtest.Missing(t, "Mermaid is not installed", "run make benchweb")
	}
	if err := json.Unmarshal(data, &about); err != nil {
		t.Fatal(err)
	}
	script, err = os.ReadFile(filepath.Join(viewers, "mermaid", "dist", "mermaid.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return about.Version, script
}

// thoughtGraph returns the viewer of thought-graph-mcp, whose sources were built in a folder.
// Its nodes are thoughts and its edges lead to what follows them; revised thoughts are dimmed.
func thoughtGraph(t *testing.T, folder string) viewer {
	t.Helper()
	var about struct{ Version string }
	data, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err == nil {
		err = json.Unmarshal(data, &about)
	}
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		ID         string   `json:"id"`
		Title      string   `json:"title"`
		Content    string   `json:"content"`
		Type       string   `json:"type"`
		Parents    []string `json:"parents"`
		Status     string   `json:"status"`
		RevisionOf string   `json:"revisionOf,omitempty"`
		Branch     string   `json:"branch,omitempty"`
	}
	name := func(seq int) string { return fmt.Sprint("n", seq+1) } // n1 is the problem
	page := func(t *testing.T, s *sequent.Session) string {
		nodes := []node{{ID: name(0), Title: "Problem", Content: "A long session.", Type: "root", Parents: []string{}, Status: "active"}}
		for th := range s.All() {
			n := node{ID: name(th.Seq), Title: fmt.Sprint("Thought ", th.Number), Content: th.Text, Type: "evidence", Parents: []string{name(th.After)}, Status: "active", Branch: th.Branch}
			if th.Supersedes > 0 {
				n.Type, n.RevisionOf = "revision", name(th.Supersedes)
				nodes[th.Supersedes].Status = "superseded"
			}
			nodes = append(nodes, n)
		}
		input, err := json.Marshal(map[string]any{"id": "long-session", "title": "long", "problem": "A long session.", "nodes": nodes})
		if err != nil {
			t.Fatal(err)
		}
		render := exec.CommandContext(t.Context(), "node", "--input-type=module", "--eval", `
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';
const { renderHtml } = await import(pathToFileURL(process.argv[1]));
process.stdout.write(renderHtml(JSON.parse(await text(process.stdin))));`, filepath.Join(folder, "dist", "graph.js"))
		render.Stdin = bytes.NewReader(input)
		out, err := render.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out) + `<script>requestAnimationFrame(function look() {
	if (document.querySelectorAll('.gnode').length < SESSION.nodes.length) return requestAnimationFrame(look);
	requestAnimationFrame((now) => window.drawn = now);
})</script>`
	}
	return viewer{name: "thought-graph-mcp " + about.Version, page: page, box: `(() => {
	cy.zoom(1);
	const all = cy.elements().boundingBox(), x = cy.width() / 2 - cy.nodes()[0].position().x;
	return { get at() { return all.y1 - cy.pan().y }, set at(v) { cy.pan({ x, y: all.y1 - v }) }, end: all.h - cy.height() };
})()`}
}

// drawUntil measures a viewer with growing sessions until it fails.
func drawUntil(t *testing.T, v viewer, script []byte, sizes []int) (all []drawing) {
	t.Helper()
	for _, n := range sizes {
		d := drawing{viewer: v.name, thoughts: n}
		t.Run(fmt.Sprintf("%s %d", v.name, n), func(t *testing.T) {
			e := sequent.New(sequent.Config{Limits: sequent.Limits{Thoughts: -1}})
			recordLong(t, e, n)
			s, err := e.Session(t.Context(), "long")
			if err != nil {
				t.Fatal(err)
			}
			text := v.page(t, s)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, ".js") {
					w.Header().Set("Content-Type", "text/javascript")
					_, _ = w.Write(script) // the browser may have left
					return
				}
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = w.Write([]byte(text))
			}))
			t.Cleanup(server.Close)
			p := newBrowser(t).open(t, "about:blank")
			if d.failed = drawn(p, server.URL); d.failed == "" {
				d.drawn = eval[float64](p, `window.drawn`)
				d.measure(p, v.box)
			}
			t.Logf("%+v", d)
		})
		if all = append(all, d); d.failed != "" {
			break
		}
	}
	return all
}

// drawn opens a page and waits until it has drawn a session. It returns why it has not.
func drawn(p *tab, url string) (failed string) {
	ctx, cancel := context.WithTimeout(p.ctx, drawLimit)
	defer cancel()
	err := chromedp.Do(ctx, chromedp.Navigate(url))
	for err == nil {
		var state string
		state, err = chromedp.Run(ctx, chromedp.Evaluate[string](`window.failed ?? (window.drawn ? 'drawn' : '')`))
		switch state {
		case "":
			time.Sleep(20 * time.Millisecond)
		case "drawn":
			return ""
		default:
			return state
		}
	}
	if ctx.Err() != nil {
		return fmt.Sprintf("none in %.0f s", drawLimit.Seconds())
	}
	return err.Error()
}

// measure measures a page that shows a session.
func (d *drawing) measure(p *tab, box string) {
	p.t.Helper()
	moved := eval[[]float64](p, `(`+frames+`)(5000, 60, `+box+`)`)
	d.p95, d.worst = moved[0], moved[1]
	d.elements = eval[int](p, `document.querySelectorAll('*').length`)
	d.heap = heap(p)
}

// drawOwn measures the viewer of sequent.
func drawOwn(t *testing.T, program string, n int) drawing {
	t.Helper()
	d := drawing{viewer: "sequent view", thoughts: n}
	t.Run(fmt.Sprint("sequent ", n), func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "sequent.db")
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: file})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		recordLong(t, sequent.New(sequent.Config{Store: store, Limits: sequent.Limits{Thoughts: -1}}), n)
		p := newBrowser(t).open(t, startView(t, program, file, "long"))
		p.wait(fmt.Sprintf(`document.querySelector('.grid')?.getAttribute('aria-rowcount') === '%d'`, n))
		p.wait(`document.querySelector('.conclusion h2')`)
		d.drawn = eval[float64](p, `performance.getEntriesByName('rows')[0].startTime`)
		d.measure(p, grid)
		t.Logf("%+v", d)
	})
	return d
}

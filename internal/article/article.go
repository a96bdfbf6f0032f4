// Package article writes a session as HTML that a person reads like an article: the title, the conclusion, every
// thought in full with its Markdown, branches with what became of them, and what people noted. The page of the
// viewer, the exported file, the page behind a link and the card in a chat show the same.
//
// Texts are of unknown origin. They become elements of Markdown and nothing else: no HTML of theirs, no image, no
// link but to http and https.
package article

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/findings"
	"github.com/sequent-dev/sequent/internal/printable"
)

const (
	// MaxThoughts limits the thoughts of an article; of a longer session it has those around one of them.
	MaxThoughts = 1000
	// maxDepth is how deep branches are indented. Deeper ones stay in the lane of their parent, as in sequent show.
	maxDepth = 6
	maxFacts = 50 // of a kind at the top
	latest   = 3  // thoughts of a short article
)

// Options say what an article has.
type Options struct {
	// Text reports whether the text of a thought is in the article, otherwise it has a place for it; nil means all.
	Text   func(t *sequent.Thought) bool
	At     int  // Seq around which a long session is shown; 0 means its beginning
	Short  bool // the title, the conclusion and the last thoughts
	Public bool // not whose the session is and where it was recorded
	All    bool // more than MaxThoughts
}

// A writer writes one session.
type writer struct {
	bytes.Buffer
	*findings.Reading
	ctx  context.Context
	o    Options
	rest string // of thought 1, after the title
}

func newWriter(ctx context.Context, s *sequent.Session, o Options) *writer {
	w := &writer{ctx: ctx, o: o, Reading: findings.Read(s)}
	first, _ := s.At(1)
	w.rest = first.Text
	if asked, _ := s.Asked(); asked == first.Text {
		_, rest := head(first.Text, maxTitle)
		w.rest = cmp.Or(rest, first.Text)
	}
	return w
}

// HTML returns the article of a session. It ends with an error when ctx is done.
func HTML(ctx context.Context, s *sequent.Session, o Options) ([]byte, error) {
	w := newWriter(ctx, s, o)
	w.WriteString(`<article class="page" aria-labelledby="title">` + "\n")
	w.header()
	w.abstract()
	w.WriteString(`<h2 class="sr">Thoughts</h2>` + "\n")
	err := w.log()
	w.footer()
	w.WriteString("</article>\n")
	return w.Bytes(), err
}

// Thoughts returns the elements of the thoughts from one Seq to another, without the branches around them.
func Thoughts(ctx context.Context, s *sequent.Session, from, to int, o Options) ([]byte, error) {
	w := newWriter(ctx, s, o)
	for t := range s.Since(from - 1) {
		if t.Seq > to {
			break
		}
		depth := 0
		if t.Branch != "" {
			depth = 1
		}
		if err := w.thought(&t, depth); err != nil {
			return nil, err
		}
	}
	return w.Bytes(), nil
}

// words has the words for the states of a session.
var words = map[sequent.State]string{
	sequent.Active: "Unfinished", sequent.Completed: "Completed", sequent.Cancelled: "Cancelled", sequent.Abandoned: "Abandoned",
}

// header writes the title, the state and where the session comes from.
func (w *writer) header() {
	h, class := w.Session.Header(), "settled"
	if h.State != sequent.Completed {
		class = "open"
	}
	fmt.Fprintf(w, `<header class="head"><h1 id="title" dir="auto">%s</h1>`+"\n"+`<p class="meta"><b class="%s">%s</b>`, line(Title(w.Session)), class, line(cmp.Or(words[h.State], string(h.State))))
	from := cmp.Or(h.Origin.Agent, h.Origin.Client)
	if w.o.Public {
		from = h.Origin.Client
	} else if h.Origin.GitBranch != "" {
		from = cmp.Or(from, "recorded") + " on " + h.Origin.GitBranch
		if c := h.Origin.Commit; c != "" {
			from += "@" + c[:min(len(c), 7)]
		}
	}
	if from != "" {
		fmt.Fprintf(w, " · <bdi>%s</bdi>", line(from))
	}
	if h.State == sequent.Active {
		fmt.Fprintf(w, " · since %s, last thought %s</p>", clock(h.Created), clock(h.Updated))
	} else {
		fmt.Fprintf(w, " · %s to %s</p>", clock(h.Created), clock(h.Updated))
	}
	if _, now := w.Session.Asked(); now.Seq > 0 {
		sentence, _ := head(now.Text, maxSentence)
		fmt.Fprintf(w, `<p class="meta">Asked at %s. Now %s: <bdi>%s</bdi></p>`, w.link(1, ""), w.link(now.Seq, ""), line(sentence))
	}
	if f := w.Session.Fault(); f != nil {
		fmt.Fprintf(w, `<p class="fault" role="note">! This session is not what was recorded: %s. It takes no more thoughts.</p>`, line(f.String()))
	}
	w.WriteString("</header>\n")
}

func clock(t time.Time) string {
	return fmt.Sprintf(`<time datetime="%s">%s</time>`, t.UTC().Format(time.RFC3339), t.UTC().Format("2 January 2006, 15:04 UTC"))
}

// abstract writes how the session ended, and what was weighed, changed and noted.
func (w *writer) abstract() {
	text := w.Session.Conclusion()
	if t, ok := w.Session.At(w.Concluded); ok && text == "" {
		text = t.Text
	}
	last, _ := w.Session.Last()
	switch {
	case text != "":
		w.WriteString(`<section class="abstract" aria-labelledby="answer"><div class="verdict"><h2 id="answer">Conclusion`)
		if w.Concluded > 0 {
			w.WriteString(" " + w.link(w.Concluded, ""))
			if w.Standings[w.Concluded-1].State == sequent.Disputed {
				w.WriteString(` <span class="open">! disputed</span>`)
			}
		}
		w.WriteString("</h2>\n")
		prose(&w.Buffer, firstParagraph(conclusion(text)), 3)
	default:
		title := words[w.Session.State()] + " without a conclusion"
		if w.Session.State() == sequent.Active {
			title = "No conclusion yet"
		}
		sentence, _ := head(last.Text, maxSentence)
		fmt.Fprintf(w, `<section class="abstract" aria-labelledby="answer"><div class="verdict pending"><h2 id="answer">%s</h2><p dir="auto">At %s: %s</p>`, title, w.link(last.Seq, ""), line(sentence))
	}
	var weighed, changed, noted []string
	for _, l := range w.Session.Lines() {
		if l.Label != "" {
			weighed = append(weighed, fmt.Sprintf(`<a href="#t%d"><bdi>%s</bdi></a>%s`, l.First, line(l.Label), fate(l.Verdict)))
		}
	}
	for _, r := range w.Revisions {
		changed = append(changed, w.link(r[1], "")+" replaces "+w.link(r[0], ""))
	}
	for _, n := range w.Session.Notes() {
		noted = append(noted, fmt.Sprintf("✎ %s at %s", w.from(n), w.link(n.Seq, "")))
	}
	if len(weighed)+len(changed)+len(noted) > 0 && !w.o.Short {
		w.WriteString(`<dl class="facts">`)
		w.fact("Weighed", weighed)
		w.fact("Changed", changed)
		w.fact("Notes", noted)
		w.WriteString("</dl>")
	}
	w.WriteString("</div></section>\n")
}

func (w *writer) fact(name string, list []string) {
	if len(list) == 0 {
		return
	}
	w.WriteString("<dt>" + name + "</dt><dd>")
	for _, item := range list[:min(len(list), maxFacts)] {
		w.WriteString("<span>" + item + "</span> ")
	}
	if n := len(list) - maxFacts; n > 0 {
		fmt.Fprintf(w, "<span>and %d more</span>", n)
	}
	w.WriteString("</dd>")
}

// fate returns the word for what became of a branch, after a space.
func fate(v sequent.Verdict) string {
	class := string(v)
	switch v {
	case "":
		return ""
	case sequent.Chosen:
		class = "settled"
	case sequent.Undecided:
		class = "open"
	}
	return fmt.Sprintf(` <span class="fate %s">%s</span>`, class, v)
}

// link returns a link to a thought, with its line if that is not the given one.
func (w *writer) link(seq int, seen string) string {
	t, ok := w.Session.At(seq)
	if !ok {
		return ""
	}
	name := fmt.Sprintf("#%d", t.Number)
	if t.Branch != seen {
		name = cmp.Or(line(t.Branch), "main line") + " " + name
	}
	return fmt.Sprintf(`<a href="#t%d"><bdi>%s</bdi></a>`, seq, name)
}

func (w *writer) from(n sequent.Note) string {
	if w.o.Public || n.From == "" {
		return "a person"
	}
	return "<bdi>" + line(n.From) + "</bdi>"
}

// log writes the thoughts in reading order: each branch after the thought at which it leaves.
func (w *writer) log() error {
	w.WriteString(`<ol class="log">` + "\n")
	defer w.WriteString("</ol>\n")
	if w.o.Short {
		for t := range w.Session.Since(max(w.Session.Len()-latest, 0)) {
			if err := w.thought(&t, 0); err != nil {
				return err
			}
		}
		return nil
	}
	entries := w.Session.Outline()
	from, to := 0, len(entries)
	if to > MaxThoughts && !w.o.All {
		at := slices.IndexFunc(entries, func(e sequent.OutlineEntry) bool { return e.Seq == w.o.At })
		from = min(max(0, at-MaxThoughts/2), to-MaxThoughts)
		to = from + MaxThoughts
	}
	w.gap(from, "before")
	var open []string // branches that are not closed
	for _, e := range entries[from:to] {
		for len(open) > e.Depth || len(open) > 0 && len(open) == e.Depth && open[e.Depth-1] != e.Branch {
			w.close(len(open))
			open = open[:len(open)-1]
		}
		for len(open) < e.Depth {
			open = append(open, e.Branch)
			w.branch(e.Branch, len(open))
		}
		if err := w.thought(&e.Thought, min(e.Depth, maxDepth)); err != nil {
			return err
		}
	}
	for ; len(open) > 0; open = open[:len(open)-1] {
		w.close(len(open))
	}
	w.gap(len(entries)-to, "after")
	return nil
}

// gap says how many thoughts the article of a long session does not have. The page reads them when it comes there.
func (w *writer) gap(n int, where string) {
	if n > 0 {
		fmt.Fprintf(w, `<li class="gap %s" data-state="%d">%s %s these; the overview and an exported file have all</li>`+"\n", where, n, printable.Count(n, "thought", "thoughts"), where)
	}
}

// branch begins a branch at a depth.
func (w *writer) branch(name string, depth int) {
	l := w.Lines[name]
	first, _ := w.Session.At(l.First)
	from := ""
	if number, named := first.From.Number(); named && l.Origin == 0 {
		from = fmt.Sprintf(` <small>from %d, which is not recorded</small>`, number)
	}
	class := cmp.Or(string(l.Verdict), "going")
	level := min(depth+2, 5)
	if depth > maxDepth {
		fmt.Fprintf(w, `<li class="turn" id="b%d"><h%d><bdi>%s</bdi></h%d>%s <small>leaves %s</small></li>`+"\n", l.First, level, line(name), level, fate(l.Verdict), w.link(l.Origin, ""))
		return
	}
	last, _ := w.Session.At(l.Last)
	sentence, attribute := "", " open"
	if l.Verdict == sequent.Rejected {
		sentence, attribute = `<p dir="auto">`+html.EscapeString(lastSentence(last.Text))+"</p>", ""
	}
	fmt.Fprintf(w, `<li class="branch %s" id="b%d"><details%s><summary><h%d><bdi>%s</bdi></h%d>%s <small class="v">%s</small>%s%s</summary>`+"\n"+`<ol class="log">`+"\n",
		class, l.First, attribute, level, line(name), level, fate(l.Verdict), printable.Count(w.Lengths[name], "thought", "thoughts"), from, sentence)
}

// close ends the innermost of some open branches.
func (w *writer) close(depth int) {
	if depth <= maxDepth {
		w.WriteString("</ol></details></li>\n")
	}
}

// footer writes how much there is.
func (w *writer) footer() {
	var facts strings.Builder
	facts.WriteString(printable.Count(w.Session.Len(), "thought", "thoughts"))
	for i, n := range []int{len(w.Lines) - 1, len(w.Revisions), len(w.Session.Notes())} {
		if noun := []string{"branch", "revision", "note"}[i]; n > 0 {
			facts.WriteString(" · " + printable.Count(n, noun, []string{"branches", "revisions", "notes"}[i]))
		}
	}
	fmt.Fprintf(w, `<footer class="foot"><p>%s</p></footer>`+"\n", facts.String())
}

// Title returns the title of a session's article: the problem as it was first put.
func Title(s *sequent.Session) string {
	asked, _ := s.Asked()
	title, _ := head(asked, maxTitle)
	return cmp.Or(strings.TrimSuffix(title, "."), "Untitled")
}

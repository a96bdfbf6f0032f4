package article

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html"
	"strings"

	"github.com/sequent-dev/sequent"
)

// thought writes a thought that is depth branches deep.
func (w *writer) thought(t *sequent.Thought, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the article was cancelled", Err: err}
	}
	class := w.class(t)
	rel := w.Relations(t, func(other sequent.Thought) string { return w.link(other.Seq, t.Branch) })
	for _, text := range w.Found[t.Seq] {
		rel = append(rel, "! "+line(text))
	}
	for i, text := range rel {
		if text[0] == '!' {
			rel[i] = `<span class="open">` + text + "</span>"
		}
	}
	level := min(depth+3, 6)
	name := "Thought "
	if t.Branch != "" {
		name += line(t.Branch) + " "
	}
	before := fmt.Sprintf(`<h%d class="n"><a href="#t%d"><span class="sr">%s</span>%d</a></h%d>`, level, t.Seq, name, t.Number, level)
	if len(rel) > 0 {
		before += "\n" + `<p class="rel">` + strings.Join(rel, " · ") + "</p>"
	}
	after := ""
	for _, n := range w.Notes[t.Seq] {
		after += w.note(n, t)
	}
	if after != "" {
		after = `<div class="notes">` + after + "</div>\n"
	}
	state := fnv.New32a() // what the page has is old when this has changed
	_, _ = state.Write([]byte(class + before + after))
	shown := w.o.Text == nil || w.o.Text(t)
	if !shown {
		class += " later"
	}
	fmt.Fprintf(w, `<li class="thought%s" id="t%d" data-state="%x">%s`+"\n", class, t.Seq, state.Sum32(), before)
	if shown {
		w.text(t, min(level+1, 6))
	}
	w.WriteString(after + "</li>\n")
	return nil
}

// class returns the classes of a thought, each after a space.
func (w *writer) class(t *sequent.Thought) (class string) {
	if w.Standing(t).State == sequent.Superseded {
		return " replaced"
	}
	if _, named := t.Revises.Number(); named || t.Revision {
		class = " revises"
	}
	if w.Standing(t).State == sequent.Disputed {
		class += " disputed"
	}
	if t.Seq == w.Concluded {
		class += " concludes"
	}
	return class
}

// text writes the text of a thought. What was replaced is folded to its first sentence.
func (w *writer) text(t *sequent.Thought, level int) {
	text, dir := t.Text, ` dir="auto"`
	if t.Seq == 1 && !w.o.Short {
		text = w.rest
	}
	switch {
	case w.Standing(t).State == sequent.Superseded:
		sentence, rest := head(text, maxSentence)
		if rest == "" && t.Note == "" {
			fmt.Fprintf(w, `<div class="prose"%s><p>%s</p></div>`+"\n", dir, html.EscapeString(sentence))
			return
		}
		fmt.Fprintf(w, `<details><summary dir="auto"><span class="v">%s</span></summary><div class="prose"%s>`, html.EscapeString(sentence), dir)
		prose(&w.Buffer, rest, level)
		w.aside(t, level)
		w.WriteString("</div></details>\n")
		return
	case t.Seq == w.Concluded:
		fmt.Fprintf(w, `<div class="verdict prose"%s><h%d class="label">Conclusion</h%d>`, dir, level, level)
		prose(&w.Buffer, conclusion(text), level)
	default:
		w.WriteString(`<div class="prose"` + dir + ">")
		prose(&w.Buffer, text, level)
	}
	w.aside(t, level)
	w.WriteString("</div>\n")
}

// aside writes what the author noted besides.
func (w *writer) aside(t *sequent.Thought, level int) {
	if t.Note != "" {
		w.WriteString(`<div class="aside">`)
		prose(&w.Buffer, t.Note, level)
		w.WriteString("</div>")
	}
}

// note writes what a person said about a thought.
func (w *writer) note(n sequent.Note, t *sequent.Thought) string {
	class, word := "", ""
	switch n.Kind {
	case sequent.Wrong:
		class, word = " disputes", ` <span class="open">! wrong</span>`
	case sequent.Approval:
		class, word = " approves", ` <span class="settled">approved</span>`
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<aside class="note%s" aria-label="Note at thought %d"><header>✎ <b>%s</b>%s <small>%s</small></header>`, class, t.Number, w.from(n), word, clock(n.At))
	prose(&b, n.Text, 6)
	b.WriteString("</aside>\n")
	return b.String()
}

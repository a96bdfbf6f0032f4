package command

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/llm"
)

// A draft is a thought that a model is writing as an argument of a tool call. It is
// not recorded before the answer is complete.
type draft struct {
	call    int              // position of the call in the answer
	thought *jsonscan.Pieces // takes the thought out of the arguments
	text    string           // end of the text so far, at most maxDraft bytes
	broken  bool             // the answer broke off
}

// maxDraft limits what is kept of a draft. It is longer than a row of any terminal.
const maxDraft = 4 << 10

// piece adds a piece of a call to its draft. Calls of other tools have none.
func (t *screenReporter) piece(p llm.CallPiece) {
	t.restart()
	if p.Name != app.ThinkTool {
		return
	}
	i := 0
	for i < len(t.drafts) && t.drafts[i].call != p.Index {
		i++
	}
	if i == len(t.drafts) {
		t.drafts = append(t.drafts, draft{call: p.Index, thought: jsonscan.NewPieces("thought")})
	}
	d := &t.drafts[i]
	d.text += d.thought.Add(p.Args)
	if cut := len(d.text) - maxDraft; cut > 0 {
		for !utf8.RuneStart(d.text[cut]) {
			cut++
		}
		d.text = d.text[cut:]
	}
}

// breakOff marks the drafts of an answer that broke off.
func (t *screenReporter) breakOff() {
	for i := range t.drafts {
		t.drafts[i].broken = true
	}
}

// restart discards the drafts of an answer that broke off, when the next one begins.
func (t *screenReporter) restart() {
	if len(t.drafts) > 0 && t.drafts[0].broken {
		t.drafts = nil
	}
}

// draftRows returns the number of rows for drafts. At least one row is left for the
// drawing.
func (s *screen) draftRows() int { return max(0, min(len(s.drafts), s.height-3)) }

// draftLines returns a row for each draft: the number that follows those of the session,
// and the end of the text.
func (s *screen) draftLines() []draw.Line {
	number := 0
	if last, ok := s.session.Last(); ok {
		number = last.Number
	}
	o := draw.Options{Width: s.width, Charset: s.p.charset()}
	var lines []draw.Line
	for i, d := range s.drafts[:s.draftRows()] {
		line := draw.Line{{Text: strconv.Itoa(number+i+1) + " ", Role: draw.Number}}
		if d.broken {
			line = append(line, draw.Span{Text: "broken off, not recorded: ", Role: draw.Meta})
		}
		room := o.Width
		for _, span := range line {
			room -= draw.Width(span.Text)
		}
		lines = append(lines, draw.Cut(append(line, draw.Span{Text: end(draw.One(d.text, o.Charset), room, draw.Ellipsis(o.Charset))}), o))
	}
	return lines
}

// end returns the end of a text that fits into width columns, after mark if it is cut.
func end(text string, width int, mark string) string {
	if draw.Width(text) <= width {
		return text
	}
	start, room := len(text), width-draw.Width(mark)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if room -= draw.Width(string(r)); room < 0 {
			break
		}
		start -= size
	}
	return mark + strings.TrimLeft(text[start:], " ")
}

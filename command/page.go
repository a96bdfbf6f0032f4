package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A page collects what a command prints, as lines for the width and characters of the output.
type page struct {
	*program
	draw.Options
	lines []draw.Line
}

// page returns an empty page.
func (p *program) page() *page { return &page{program: p, Options: p.drawing()} }

// add adds lines; nil is a blank one.
func (pg *page) add(lines ...draw.Line) { pg.lines = append(pg.lines, lines...) }

// say adds plain text, which is not wrapped. Commands that the format tells to run can be run as
// they stand, and nothing in the arguments is acted upon.
func (pg *page) say(format string, args ...any) {
	for line := range strings.SplitSeq(printable.Text(fmt.Sprintf(runnable(format), args...)), "\n") {
		pg.add(draw.Line{{Text: line}})
	}
}

// beside adds text that is wrapped to the right of a lead.
func (pg *page) beside(lead, text string, role draw.Role) {
	var begin draw.Line
	if lead != "" {
		begin = draw.Line{{Text: lead}}
	}
	pg.add(draw.Beside(begin, text, role, pg.Options)...)
}

// heading adds a title after a blank line.
func (pg *page) heading(text string) { pg.add(nil, draw.Line{{Text: text, Role: draw.Title}}) }

// one returns text as one line that is safe to print.
func (pg *page) one(text string) string { return printable.Line(text) }

// paragraphs adds a text, each paragraph wrapped, unless one of its lines is indented. Blank lines
// separate paragraphs.
func (pg *page) paragraphs(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			pg.add(nil)
		}
		lines := strings.Split(paragraph, "\n")
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "\t") || strings.HasPrefix(l, " ") }) {
			lines = []string{strings.Join(lines, " ")}
		}
		for _, line := range lines {
			pg.beside("", line, draw.Text)
		}
	}
}

// columns adds names and descriptions in two columns, or below each other on a narrow terminal.
func (pg *page) columns(rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = max(width, draw.Width(r[0]))
	}
	for _, r := range rows {
		name := draw.Span{Text: "  " + r[0], Role: draw.Number}
		if width > pg.Width/2 {
			pg.add(draw.Line{name})
			pg.beside(strings.Repeat(" ", 8), r[1], draw.Text)
			continue
		}
		name.Text += strings.Repeat(" ", width-draw.Width(r[0])+2)
		pg.add(draw.Beside(draw.Line{name}, r[1], draw.Text, pg.Options)...)
	}
}

// A cell is a part of a row of a table.
type cell struct {
	text string
	role draw.Role
}

// table adds rows in columns. Those that are numbers are aligned right, and the last one gets what
// is left of the width.
func (pg *page) table(rows [][]cell) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], draw.Width(c.text))
		}
	}
	o := pg.Options
	o.Width = pg.tableColumns()
	last := len(widths) - 1
	for n, row := range rows {
		var line draw.Line
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-draw.Width(c.text))
			switch {
			case i == last:
			case isNumber(rows[len(rows)-1][i].text):
				c.text = pad + c.text + "  "
			default:
				c.text += pad + "  "
			}
			if n == 0 {
				c.role = draw.Meta
			}
			line = append(line, draw.Span{Text: c.text, Role: c.role})
		}
		if pg.tabular() {
			line = draw.Cut(line, o)
		}
		pg.add(line)
	}
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// A document is a result that is text already, in every form of the output.
type document string

func (document) text(*page) {}

// printResult prints a result in the form of the output.
func (p *program) printResult(r result) {
	if text, ok := r.(document); ok {
		p.failed(p.write("", string(text)))
		return
	}
	if p.json {
		p.emit(r)
		return
	}
	pg := p.page()
	r.text(pg)
	p.failed(p.paginate(p.render(pg.lines), len(pg.lines)))
}

// put writes lines of a command that prints as it goes.
func (p *program) put(lines ...draw.Line) { p.failed(p.print(lines...)) }

// emit writes a line of JSON.
func (p *program) emit(v any) { p.failed(writeJSON(p.out, v)) }

// failed ends the command if its output cannot be written.
func (p *program) failed(err error) {
	if err != nil && p.writing == nil {
		p.writing = err
		p.cancel(err)
	}
}

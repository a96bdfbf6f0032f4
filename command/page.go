package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault/index"
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
	for line := range strings.SplitSeq(said(format, args), "\n") {
		pg.add(draw.Line{{Text: line}})
	}
}

func said(format string, args []any) string {
	return printable.Text(fmt.Sprintf(runnable(format), args...))
}

// tell writes a line to standard error as say does.
func (p *program) tell(format string, args ...any) { fmt.Fprintln(p.err, said(format, args)) }

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

// columns adds names and descriptions in two columns.
func (pg *page) columns(rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = max(width, draw.Width(r[0]))
	}
	for _, r := range rows {
		name := "  " + r[0] + strings.Repeat(" ", width-draw.Width(r[0])+2)
		pg.add(draw.Beside(draw.Line{{Text: name, Role: draw.Number}}, r[1], draw.Text, pg.Options)...)
	}
}

// A cell is a part of a row of a table.
type cell struct {
	text string
	role draw.Role
}

// head returns the titles of the columns of a table.
func head(titles ...string) (row []cell) {
	for _, title := range titles {
		row = append(row, cell{title, draw.Meta})
	}
	return row
}

// table adds rows in columns. The last one gets what is left of the width.
func (pg *page) table(rows [][]cell) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], draw.Width(c.text))
		}
	}
	o := pg.Options
	o.Width = pg.columnsUpTo(maxColumns)
	for _, row := range rows {
		var line draw.Line
		for i, c := range row {
			if i < len(row)-1 {
				c.text += strings.Repeat(" ", widths[i]-draw.Width(c.text)+2)
			}
			line = append(line, draw.Span{Text: c.text, Role: c.role})
		}
		if pg.tabular() {
			line = draw.Cut(line, o)
		}
		pg.add(line)
	}
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

func (p *program) render(lines []draw.Line) string {
	if p.colored(p.out) {
		return draw.Styled(lines)
	}
	return draw.Plain(lines)
}

// print writes lines, in colour if enabled.
func (p *program) print(lines ...draw.Line) error {
	_, err := io.WriteString(p.out, p.render(lines))
	return err
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

// write writes a document to a file with mode 0600, or to standard output, for a terminal in
// its characters.
func (p *program) write(file, text string) error {
	if file != "" && file != "-" {
		return os.WriteFile(file, []byte(text), 0o600)
	}
	if isTerminal(p.out) {
		text = strings.Join(draw.Lines(text), "\n")
	}
	_, err := io.WriteString(p.out, text)
	return err
}

// paginate writes text: in the pager of PAGER, or less, if a person reads it, it has more lines than the
// terminal, and the pager is there. The pager cat means none, as in git. How a pager ends is no error, and it
// may end before it has read everything.
func (p *program) paginate(text string, lines int) error {
	pager := strings.Fields(p.getenv("PAGER"))
	if len(pager) == 0 {
		pager = []string{"less"}
	}
	if _, height := sizeOf(p.out); p.pages && !p.json && height > 0 && lines >= height && pager[0] != "cat" && p.getenv("TERM") != "dumb" {
		cmd := exec.Command(pager[0], pager[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), p.out, p.err
		if cmd.Env = os.Environ(); p.getenv("LESS") == "" {
			cmd.Env = append(cmd.Env, "LESS=FRX") // as git does
		}
		// Ctrl-C is for the pager, which stays: the terminal would be left to the shell and
		// the pager together.
		if err := cmd.Start(); err == nil {
			signal.Ignore(os.Interrupt)
			_ = cmd.Wait()
			return nil
		}
	}
	_, err := io.WriteString(p.out, text)
	return err
}

// The most columns of text, whose rows are hard to read if they are longer, and of tables, whose rows
// may be as wide as the terminal.
const (
	maxProseColumns = 120
	maxColumns      = 1000
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// sizeOf returns the width and the height of a terminal; of another stream 0.
func sizeOf(stream any) (columns, rows int) {
	if f, ok := stream.(*os.File); ok {
		columns, rows, _ = term.GetSize(f.Fd())
	}
	return columns, rows
}

// columnsUpTo returns the width of the output: that of --width, of the terminal, or 80.
func (p *program) columnsUpTo(most int) int {
	columns, _ := sizeOf(p.out)
	return cmp.Or(min(p.width, maxColumns), min(columns, most), 80)
}

// drawing returns the options of drawings.
func (p *program) drawing() draw.Options {
	return draw.Options{Width: p.columnsUpTo(maxProseColumns), Now: p.now()}
}

// tabular reports whether a list is laid out as a table, for people.
func (p *program) tabular() bool {
	return isTerminal(p.out) || p.width > 0 || p.color == "always"
}

// colored reports whether to use colour on a stream.
func (p *program) colored(stream any) bool {
	f, ok := stream.(*os.File)
	can := ok && isTerminal(f) && canStyle(f) // which enables escape sequences on Windows
	return p.color == "always" || p.color == "auto" && can && p.getenv("NO_COLOR") == ""
}

// A meter shows progress in one line of a terminal, which it overwrites. Without a
// terminal it shows nothing.
type meter struct {
	out   io.Writer // nil shows nothing
	last  time.Time // last update
	shown bool
}

// newMeter returns a meter on standard error.
func (p *program) newMeter() *meter {
	m := &meter{last: time.Now()}
	if isTerminal(p.err) && !p.json {
		m.out = p.err
	}
	return m
}

// show shows a line. It limits the rate of updates, so that short operations do not flicker.
func (m *meter) show(format string, args ...any) {
	const interval = 200 * time.Millisecond
	if m.out == nil || time.Since(m.last) < interval {
		return
	}
	m.last, m.shown = time.Now(), true
	columns, _ := sizeOf(m.out)
	fmt.Fprintf(m.out, "\r\x1b[K%s", draw.Truncate(printable.Line(fmt.Sprintf(format, args...)), max(columns-1, 20)))
}

// bytes returns a function that shows how many bytes are done.
func (m *meter) bytes(what string) func(done, total int64) {
	return func(done, total int64) { m.show("%s of %s %s", mebibytes(done), mebibytes(max(done, total)), what) }
}

// stage shows the progress of a stage.
func (m *meter) stage(p index.Progress) { m.show("%s %d of %d", p.Stage, p.Done, p.Total) }

// clear removes the line.
func (m *meter) clear() {
	if m.shown {
		fmt.Fprint(m.out, "\r\x1b[K")
		m.shown = false
	}
}

// mebibytes formats a size in bytes.
func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

package picture

import (
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/draw"
)

// Sizes of a terminal, in pixels.
const (
	cellWidth  = 8.0
	cellHeight = 19.0
	fontSize   = 13.0
	barHeight  = 34.0
	margin     = 16.0
)

// A Recording is what a terminal has shown.
type Recording struct {
	Title       string        // of its window
	Description string        // for readers who do not see it
	Columns     int           // width of the terminal
	Frames      [][]draw.Line // one after the other; the last one stays
	Pause       time.Duration // between two frames
}

// SVG draws a recording. It plays once; the last frame alone is shown where pictures do not
// move or the reader prefers that they do not.
func (r Recording) SVG(t Theme) string {
	rows := 0
	for _, f := range r.Frames {
		rows = max(rows, len(f))
	}
	width, height := float64(r.Columns)*cellWidth+2*margin, float64(rows)*cellHeight+barHeight+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" aria-labelledby="d">`+"\n", num(width), num(height))
	fmt.Fprintf(&b, "<title id=\"d\">%s</title>\n<style>\n", escape(r.Description))
	fmt.Fprintf(&b, "text{font:%spx ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;fill:%s;white-space:pre}\n", num(fontSize), t.text)
	fmt.Fprintf(&b, ".m{fill:%s}.b{font-weight:600}.i{font-style:italic}.n{fill:%s;font-weight:600}\n", t.faint, t.bright)
	for i, color := range t.lanes {
		fmt.Fprintf(&b, ".l%d{fill:%s}.s%[1]d{stroke:%[2]s;fill:none;stroke-width:1.5}", i, color)
	}
	b.WriteString("\n@media (prefers-reduced-motion:no-preference){.f{animation:1s step-end backwards wait}@keyframes wait{from{visibility:hidden}}}\n</style>\n")
	fmt.Fprintf(&b, `<rect x=".5" y=".5" width="%s" height="%s" rx="8" fill="%s" stroke="%s"/>`+"\n", num(width-1), num(height-1), t.background, t.line)
	fmt.Fprintf(&b, `<path d="M0 %s H%s" stroke="%s"/><text class="m" x="%s" y="22">%s</text>`+"\n", num(barHeight-6), num(width), t.line, num(margin), escape(r.Title))
	for i, f := range r.Frames {
		if i > 0 {
			fmt.Fprintf(&b, `<g class="f" style="animation-duration:%.1fs">`, r.Pause.Seconds()*float64(i))
			fmt.Fprintf(&b, `<rect x="1" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", num(barHeight-4), num(width-2), num(height-barHeight-4), t.background)
		} else {
			b.WriteString("<g>\n")
		}
		for n, line := range f {
			drawLine(&b, line, barHeight+float64(n)*cellHeight)
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawLine draws a row whose top is at y.
func drawLine(b *strings.Builder, line draw.Line, y float64) {
	column := 0
	drawn := false
	for _, s := range line {
		var text strings.Builder
		start := column
		flush := func() {
			if kept := strings.TrimRight(text.String(), " "); kept != "" {
				lead := len(kept) - len(strings.TrimLeft(kept, " "))
				kept = kept[lead:]
				fmt.Fprintf(b, `<text%s x="%s" y="%s" textLength="%s" lengthAdjust="spacingAndGlyphs">%s</text>`,
					class(s), num(margin+float64(start+lead)*cellWidth), num(y+14), num(float64(draw.Width(kept))*cellWidth), escape(kept))
				drawn = true
			}
			text.Reset()
			start = column
		}
		for _, r := range s.Text {
			w := draw.Width(string(r))
			if shape := glyph(r, margin+float64(column)*cellWidth, y, s); shape != "" {
				flush()
				b.WriteString(shape)
				drawn = true
				column += w
				start = column
				continue
			}
			text.WriteRune(r)
			column += w
		}
		flush()
	}
	if drawn {
		b.WriteByte('\n')
	}
}

// class returns the attribute with the style of a span.
func class(s draw.Span) string {
	lane := fmt.Sprintf("l%d", s.Lane%6)
	c := map[draw.Role]string{
		draw.Superseded: "m", draw.Meta: "m", draw.Fold: "m", draw.Lane: lane, draw.Number: lane + " b", draw.Label: lane + " i",
		draw.Tag: "l3", draw.Final: "l4 b", draw.Newest: "n", draw.Match: "l3 b", draw.Title: "b",
	}[s.Role]
	if c == "" {
		return ""
	}
	return ` class="` + c + `"`
}

// glyph draws a character of a tree as a shape, so that lanes have no gaps; it returns
// nothing for other characters. The cell's left upper corner is at x, y.
func glyph(r rune, x, y float64, s draw.Span) string {
	const half = cellWidth / 2
	cx, cy := x+half, y+cellHeight/2
	line := func(format string, args ...any) string {
		return fmt.Sprintf(`<path class="s%d" d="`+format+`"/>`, append([]any{s.Lane % 6}, args...)...)
	}
	n := num
	switch r {
	case '│':
		return line("M%s %sV%s", n(cx), n(y), n(y+cellHeight))
	case '┊':
		return line(`M%s %sV%s" stroke-dasharray="2 3`, n(cx), n(y), n(y+cellHeight))
	case '─':
		return line("M%s %sH%s", n(x), n(cy), n(x+cellWidth))
	case '├':
		return line("M%s %sV%sM%s %sH%s", n(cx), n(y), n(y+cellHeight), n(cx), n(cy), n(x+cellWidth))
	case '╴':
		return line("M%s %sH%s", n(x), n(cy), n(cx))
	case '╮':
		return line("M%s %sQ%s %s %s %s", n(x), n(cy), n(cx), n(cy), n(cx), n(y+cellHeight))
	case '╰':
		return line("M%s %sQ%s %s %s %s", n(cx), n(y), n(cx), n(cy), n(x+cellWidth), n(cy))
	case '●':
		return fmt.Sprintf(`<circle%s cx="%s" cy="%s" r="3.6"/>`, class(s), n(cx), n(cy))
	case '○':
		return fmt.Sprintf(`<circle class="s%d" cx="%s" cy="%s" r="3.2"/>`, s.Lane%6, n(cx), n(cy))
	case '◆':
		return fmt.Sprintf(`<path%s d="M%s %sl4.4 4.4 -4.4 4.4 -4.4 -4.4z"/>`, class(s), n(cx), n(cy-4.4))
	case '■':
		return fmt.Sprintf(`<path%s d="M%s %sh7v7h-7z"/>`, class(s), n(cx-3.5), n(cy-3.5))
	}
	return ""
}

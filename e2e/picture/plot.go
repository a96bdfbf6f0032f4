package picture

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Plot is a chart of horizontal bars, in groups with one bar for each series.
type Plot struct {
	Title  string
	Axis   string // what is measured, with its unit and whether more is better
	Series []string
	Groups []Group
}

// A Group is the bars of one row.
type Group struct {
	Name   string
	Values []float64 // one for each series; NaN means that there is none
}

// Sizes of a plot, in pixels.
const (
	plotWidth   = 760.0
	barThick    = 15.0
	barGap      = 3.0
	groupGap    = 14.0
	valueRoom   = 64.0 // to the right of the longest bar
	labelLetter = 7.3  // mean width of a letter
)

// SVG draws a plot.
func (p Plot) SVG(t Theme) string {
	longest, top := 0, 0.0
	for _, g := range p.Groups {
		longest = max(longest, utf8.RuneCountInString(g.Name))
		for _, v := range g.Values {
			if !math.IsNaN(v) {
				top = max(top, v)
			}
		}
	}
	step := tick(top)
	end := math.Ceil(top/step) * step
	left := margin + float64(longest)*labelLetter + 12
	scale := (plotWidth - left - valueRoom) / end
	gap := groupGap
	if len(p.Series) == 1 {
		gap = barGap + 2
	}
	head := 48.0
	if len(p.Series) > 1 {
		head = 68
	}
	group := float64(len(p.Series))*(barThick+barGap) - barGap
	body := float64(len(p.Groups))*(group+gap) + 4
	height := head + body + 52

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" aria-labelledby="d">`+"\n", num(plotWidth), num(height))
	fmt.Fprintf(&b, "<title id=\"d\">%s: %s</title>\n<style>\n", escape(p.Title), escape(p.Axis))
	fmt.Fprintf(&b, "text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif;fill:%s}.h{font-size:15px;font-weight:600}.v{font-size:12px}.m{font-size:12px;fill:%s}.e{text-anchor:end}.c{text-anchor:middle}\n</style>\n", t.text, t.faint)
	fmt.Fprintf(&b, `<rect width="%s" height="%s" fill="%s"/><text class="h" x="%s" y="26">%s</text>`+"\n", num(plotWidth), num(height), t.background, num(margin), escape(p.Title))
	if len(p.Series) > 1 {
		x := margin
		for i, name := range p.Series {
			fmt.Fprintf(&b, `<rect x="%s" y="40" width="12" height="12" rx="2" fill="%s"/><text x="%s" y="51">%s</text>`+"\n", num(x), t.lanes[i%6], num(x+18), escape(name))
			x += 18 + float64(utf8.RuneCountInString(name))*labelLetter + 22
		}
	}
	bottom := head + body
	for v := 0.0; v <= end*1.0001; v += step {
		x := left + v*scale
		fmt.Fprintf(&b, `<path d="M%s %sV%s" stroke="%s"/><text class="m c" x="%s" y="%s">%s</text>`+"\n", num(x), num(head-4), num(bottom), t.line, num(x), num(bottom+18), figure(v, step))
	}
	fmt.Fprintf(&b, `<text class="m c" x="%s" y="%s">%s</text>`+"\n", num(left+end*scale/2), num(bottom+40), escape(p.Axis))
	y := head + gap/2
	for _, g := range p.Groups {
		fmt.Fprintf(&b, `<text class="e" x="%s" y="%s">%s</text>`, num(left-8), num(y+group/2+4.5), escape(g.Name))
		for i, v := range g.Values {
			at := y + float64(i)*(barThick+barGap)
			if math.IsNaN(v) {
				fmt.Fprintf(&b, `<text class="m" x="%s" y="%s">–</text>`, num(left+6), num(at+12))
				continue
			}
			fmt.Fprintf(&b, `<rect x="%s" y="%s" width="%s" height="%s" rx="2" fill="%s"/>`, num(left), num(at), num(max(v*scale, 1)), num(barThick), t.lanes[i%6])
			fmt.Fprintf(&b, `<text class="v" x="%s" y="%s">%s</text>`, num(left+v*scale+6), num(at+12), figure(v, v/100))
		}
		b.WriteByte('\n')
		y += group + gap
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// tick returns the distance between two marks of an axis up to a value: 1, 2 or 5 with a power
// of ten, so that there are four to eight.
func tick(top float64) float64 {
	if top <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(top/4)))
	for _, n := range []float64{1, 2, 5, 10} {
		if top/(n*power) <= 7 {
			return n * power
		}
	}
	return 10 * power
}

// figure returns a value as precisely as the distance between two values that differ needs,
// with commas between thousands.
func figure(v, precision float64) string {
	decimals := 0
	if precision > 0 && precision < 1 {
		decimals = min(int(math.Ceil(-math.Log10(precision)-1e-9)), 2)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}

var leading = regexp.MustCompile(`^\**([0-9][0-9,]*(?:\.[0-9]+)?)`)

// Table returns the cells of the first Markdown table in a text whose first row has all the
// given columns: the first row, then the others. It is nil if there is none.
func Table(text string, columns ...string) [][]string {
	var rows [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if rows != nil {
				return rows
			}
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		switch {
		case rows != nil:
			if strings.Trim(line, "|-: ") != "" {
				rows = append(rows, cells)
			}
		case hasAll(cells, columns):
			rows = [][]string{cells}
		}
	}
	return rows
}

func hasAll(cells, columns []string) bool {
	for _, c := range columns {
		found := false
		for _, cell := range cells {
			found = found || cell == c
		}
		if !found {
			return false
		}
	}
	return true
}

// Value returns the number at the beginning of a cell, or NaN.
func Value(cell string) float64 {
	m := leading.FindStringSubmatch(cell)
	if m == nil {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

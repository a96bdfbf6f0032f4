package wikilink

import (
	"iter"
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// Lines returns the lines of a Markdown text that are not code, each with its offset. The
// lines have their line breaks.
func Lines(markdown string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var b block
		at := 0
		for text := range strings.Lines(markdown) {
			if code, _ := b.next(text); !code && !yield(at, text) {
				return
			}
			at += len(text)
		}
	}
}

// A block is what the lines before a line decide about it: as much of CommonMark's block
// structure as tells code from text. Of the containers it knows the innermost item of a
// list and the number of quotes around it.
type block struct {
	quotes int
	item   int    // columns before the text of the open item of a list
	fence  string // that closes the open block of code; empty outside
	open   bool   // the line before is text, which an indented line continues
}

var (
	marker  = lazyregexp.New(`^(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)`)
	heading = lazyregexp.New(`^#{1,6}(?:[ \t]|$)`)
	fence   = lazyregexp.New("^(?:`{3,}[^`]*|~{3,}.*)$")
)

// tab is the distance of tab stops, and the indentation of code.
const tab = 4

// next returns whether a line is code, and whether text on it belongs to no line before.
func (b *block) next(text string) (code, first bool) {
	c := cursor{text: strings.TrimRight(text, " \t\r\n")}
	quotes := c.quotes()
	if quotes < b.quotes && !b.open || quotes > b.quotes {
		b.item, b.fence, first = 0, "", true
	}
	if b.fence != "" && (c.text == "" || c.column >= b.item) {
		if rest, ok := strings.CutPrefix(c.text, b.fence); ok && c.column < b.item+tab && strings.Trim(rest, b.fence[:1]) == "" {
			b.fence = ""
		}
		return true, false
	}
	b.quotes, b.fence = quotes, ""
	if c.text == "" {
		b.open = false
		return false, true
	}
	if !b.open {
		b.item = min(b.item, c.column)
	}
	for c.column < b.item+tab && c.enter() {
		b.item, b.open, first = c.item, false, true
		if n := c.quotes(); n > 0 {
			b.quotes, b.item = b.quotes+n, 0
		}
	}
	switch {
	case c.column >= b.item+tab && !b.open:
		return true, false
	case fence().MatchString(c.text):
		b.fence = c.text[:len(c.text)-len(strings.TrimLeft(c.text, c.text[:1]))]
		b.open = false
		return true, false
	case heading().MatchString(c.text):
		b.open = false
		return false, true
	}
	first = first || !b.open
	b.open = true
	return false, first
}

// A cursor is the rest of a line and the column that it begins in.
type cursor struct {
	text   string
	column int // from the text of the innermost quote
	item   int // the column of the text of the item that enter has entered
}

// space skips white space.
func (c *cursor) space() {
	for ; c.text != "" && (c.text[0] == ' ' || c.text[0] == '\t'); c.text = c.text[1:] {
		if c.column++; c.text[0] == '\t' {
			c.column += (tab - c.column%tab) % tab
		}
	}
}

// quotes skips white space and the marks of quotes, and returns the number of marks.
func (c *cursor) quotes() (n int) {
	for c.space(); c.column < tab && strings.HasPrefix(c.text, ">"); c.space() {
		n++
		c.text = c.text[1:]
		if c.column = 0; c.text != "" && (c.text[0] == ' ' || c.text[0] == '\t') {
			c.column = -1
		}
	}
	return n
}

// enter skips the marker of an item, and reports whether there is one.
func (c *cursor) enter() bool {
	m := strings.TrimRight(marker().FindString(c.text), " \t")
	if m == "" {
		return false
	}
	c.text, c.column = c.text[len(m):], c.column+len(m)
	c.item = c.column + 1
	if c.space(); c.column <= c.item+tab && c.text != "" {
		c.item = c.column
	}
	return true
}

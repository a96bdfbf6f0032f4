package vault

import (
	"io/fs"
	"strings"
	"time"
)

// A Note is a Markdown file: front matter and a body. What is not changed is
// written as it was read, byte for byte.
type Note struct {
	URI   URI
	Front Front
	// Body is what follows the front matter, as it is in the file: with its line
	// breaks, and with whatever bytes it has.
	Body string
	Info Info // as it was read; zero for a note that is not yet in the vault

	bom  bool   // the file begins with a byte order mark
	data string // as read
	stat fs.FileInfo
}

// Info is what the file system knows of a note.
type Info struct {
	URI      URI
	Size     int64 // bytes
	Modified time.Time
}

const (
	fence = "---"
	bom   = "\uFEFF"
)

// ParseNote returns the note that a file of those contents is. Every content
// is a note: what is not front matter is body.
//
// Front matter stands between a first line --- and the next such line. If there
// is no such next line, there is no front matter.
func ParseNote(uri URI, data []byte) *Note {
	n := &Note{URI: uri, data: string(data)}
	text := n.data
	if text, n.bom = strings.CutPrefix(text, bom); text == "" {
		return n
	}
	n.Front, n.Body = split(text)
	return n
}

// Bytes returns what the note's file holds, or is to hold.
func (n *Note) Bytes() []byte {
	var b strings.Builder
	if n.bom {
		b.WriteString(bom)
	}
	b.WriteString(n.Front.open)
	b.WriteString(n.Front.text)
	b.WriteString(n.Front.end)
	b.WriteString(n.Body)
	return []byte(b.String())
}

// LineBreak returns what the note's lines end in: "\r\n" if its first line does,
// else "\n".
func (n *Note) LineBreak() string {
	if n.Front.open != "" {
		return n.Front.lineBreak()
	}
	return lineBreak(n.Body)
}

func lineBreak(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// clone returns a note that can be changed.
func (n *Note) clone() *Note {
	c := *n
	return &c
}

// split cuts a text in front matter and body.
func split(text string) (Front, string) {
	open, rest, ok := cutLine(text)
	if !ok || strings.TrimRight(open, " \t\r\n") != fence {
		return Front{}, text
	}
	for at := 0; at < len(rest); {
		line, _, _ := cutLine(rest[at:])
		if strings.TrimRight(line, " \t\r\n") == fence {
			return Front{open: open, text: rest[:at], end: line}, rest[at+len(line):]
		}
		at += len(line)
	}
	return Front{}, text
}

// cutLine returns the first line, with its line break, and what follows.
func cutLine(text string) (line, rest string, ok bool) {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1], text[i+1:], true
	}
	return text, "", text != ""
}

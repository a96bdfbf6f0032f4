package vault

import (
	"io/fs"
	"strings"
	"time"
)

// A Note is a Markdown file: front matter and a body. Unchanged parts are written byte
// for byte as they were read.
type Note struct {
	URI   URI
	Front Front
	Body  string // follows the front matter; with the line breaks of the file, and perhaps invalid UTF-8
	Info  Info   // when it was read; zero for a note that is not yet in the vault

	bom  bool   // the file begins with a byte order mark
	data string // the file when it was read
	stat fs.FileInfo
}

// Info is the size and time of a note's file.
type Info struct {
	URI      URI
	Size     int64 // bytes
	Modified time.Time
}

const (
	fence = "---"
	bom   = "\uFEFF"
)

// ParseNote returns the note in a file with the given content. Every content is a note.
//
// Front matter is the text between a first line --- and the next such line. Without
// the second line, there is no front matter.
func ParseNote(uri URI, data []byte) *Note {
	n := &Note{URI: uri, data: string(data)}
	text := n.data
	if text, n.bom = strings.CutPrefix(text, bom); text == "" {
		return n
	}
	n.Front, n.Body = split(text)
	return n
}

// Bytes returns the content of the note's file.
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

// LineBreak returns the line break of the note's first line: "\r\n" or "\n".
func (n *Note) LineBreak() string {
	if n.Front.open != "" {
		return n.Front.lineBreak()
	}
	return lineBreak(n.Body)
}

// AddSection appends Markdown to the body, after an empty line and with the note's line
// breaks.
func (n *Note) AddSection(markdown string) {
	br := n.LineBreak()
	if n.Body != "" && !strings.HasSuffix(n.Body, "\n") {
		n.Body += br
	}
	if n.Body != "" && !strings.HasSuffix(n.Body, br+br) {
		n.Body += br
	}
	n.Body += strings.ReplaceAll(markdown, "\n", br)
}

func lineBreak(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// clone returns a copy that can be changed.
func (n *Note) clone() *Note {
	c := *n
	return &c
}

// split divides a text into front matter and body.
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

// cutLine returns the first line with its line break, and the rest.
func cutLine(text string) (line, rest string, ok bool) {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1], text[i+1:], true
	}
	return text, "", text != ""
}

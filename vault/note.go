package vault

import (
	"io/fs"
	"strings"
	"time"
)

// A Note is a Markdown file: front matter and a body. Unchanged parts are written byte
// for byte as they were read. The line breaks of a file that has only "\r\n" are "\n" here.
type Note struct {
	URI   URI
	Front Front
	Body  string // follows the front matter; perhaps invalid UTF-8
	Info  Info   // when it was read; zero for a note that is not yet in the vault

	bom  bool   // the file begins with a byte order mark
	crlf bool   // all its line breaks are "\r\n"
	data string // the file when it was read
	stat fs.FileInfo
}

// Info is the size and time of a note's file.
type Info struct {
	URI      URI       `json:"uri"`
	Path     string    `json:"-"` // what URI.Path returns, which takes longer
	Size     int64     `json:"-"` // bytes
	Modified time.Time `json:"modified"`
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
	text, n.bom = strings.CutPrefix(text, bom)
	breaks := strings.Count(text, "\n")
	if n.crlf = breaks > 0 && strings.Count(text, "\r\n") == breaks; n.crlf {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	n.Front, n.Body = split(text)
	return n
}

// Bytes returns the content of the note's file.
func (n *Note) Bytes() []byte {
	text := n.Front.open + n.Front.text + n.Front.end + n.Body
	if n.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if n.bom {
		text = bom + text
	}
	return []byte(text)
}

// AddSection appends Markdown to the body, after an empty line.
func (n *Note) AddSection(markdown string) {
	if n.Body != "" && !strings.HasSuffix(n.Body, "\n") {
		n.Body += "\n"
	}
	if n.Body != "" && !strings.HasSuffix(n.Body, "\n\n") {
		n.Body += "\n"
	}
	n.Body += markdown
}

// split divides a text into front matter and body.
func split(text string) (Front, string) {
	var f Front
	end := 0
	for line := range strings.Lines(text) {
		isFence := strings.TrimRight(line, " \t\r\n") == fence
		end += len(line)
		switch {
		case f.open == "" && !(isFence && strings.HasSuffix(line, "\n")):
			return Front{}, text
		case f.open == "":
			f.open = line
		case isFence:
			f.text, f.end = text[len(f.open):end-len(line)], line
			f.nodes, f.err = parseMapping(f.text)
			return f, text[end:]
		}
	}
	return Front{}, text
}

package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// A lineReader splits input into lines of bounded length.
type lineReader struct {
	r     *bufio.Reader
	max   int // bytes of a line without its end
	begun bool
}

// A longLine stands for a line that was too long to keep.
type longLine struct {
	id json.RawMessage // of the message in it, if one was found
}

// next returns the next line without its end, in memory of its own. For a line
// over the limit it returns what is known of it instead, having skipped it. The
// last line need not have an end.
func (l *lineReader) next() ([]byte, *longLine, error) {
	var line []byte
	for {
		chunk, err := l.r.ReadSlice('\n')
		if !l.begun && len(chunk) > 0 {
			l.begun = true
			// Some consoles put a byte order mark before what they pipe.
			chunk = bytes.TrimPrefix(chunk, []byte("\xef\xbb\xbf"))
		}
		full := errors.Is(err, bufio.ErrBufferFull)
		if err == nil {
			chunk = chunk[:len(chunk)-1]
		}
		if len(line)+len(chunk) > l.max {
			return nil, l.skip(line, chunk, full), nil
		}
		if need := len(line) + len(chunk); need > cap(line) && line != nil {
			// append would grow a large slice by a quarter each time.
			line = slices.Grow(line, min(max(need, 2*cap(line)), l.max)-len(line))
		}
		line = append(line, chunk...)
		switch {
		case err == nil:
			return line, nil, nil
		case full:
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil, nil
		default:
			return nil, nil, err
		}
	}
}

// skip reads on to the end of a line of which line and chunk are the beginning.
// An error of the reader comes back with the next read.
func (l *lineReader) skip(line, chunk []byte, more bool) *longLine {
	var f idFinder
	f.feed(line)
	f.feed(chunk)
	for more {
		chunk, err := l.r.ReadSlice('\n')
		f.feed(chunk)
		more = errors.Is(err, bufio.ErrBufferFull)
	}
	return &longLine{id: f.found()}
}

// maxFoundID is how long an id in a line over the limit may be.
const maxFoundID = 1 << 10

// An idFinder finds the id of a JSON-RPC message as it goes by, wherever in the
// line it is: some clients write it last. It assumes that the message is JSON.
type idFinder struct {
	depth   int
	quoted  bool   // inside a string
	escaped bool   // after a backslash in one
	name    []byte // of the member being read, at depth 1; nil before its colon
	token   []byte // the string or number being read at depth 1
	long    bool   // token is cut
	id      []byte
}

func (f *idFinder) feed(b []byte) {
	for _, c := range b {
		switch {
		case f.quoted:
			f.keep(c)
			switch {
			case f.escaped:
				f.escaped = false
			case c == '\\':
				f.escaped = true
			case c == '"':
				f.quoted = false
			}
		case c == '"':
			f.quoted = true
			f.keep(c)
		case c == '{' || c == '[':
			f.depth++
		case c == '}' || c == ']':
			if f.depth == 1 {
				f.endMember()
			}
			f.depth--
		case f.depth != 1 || c == ' ' || c == '\t' || c == '\r':
		case c == ':':
			f.name, f.token, f.long = f.token, nil, false
		case c == ',':
			f.endMember()
		default:
			f.keep(c)
		}
	}
}

// keep adds a byte to the token, if it is one of the message's own.
func (f *idFinder) keep(c byte) {
	switch {
	case f.depth != 1:
	case len(f.token) == maxFoundID:
		f.long = true
	default:
		f.token = append(f.token, c)
	}
}

func (f *idFinder) endMember() {
	if name, _ := text(f.name); name == "id" {
		f.id = nil
		if !f.long {
			f.id = f.token
		}
	}
	f.name, f.token, f.long = nil, nil, false
}

// found returns the id, or nil if there was none that could be one.
func (f *idFinder) found() json.RawMessage {
	if !json.Valid(f.id) || !isID(f.id) {
		return nil
	}
	return f.id
}

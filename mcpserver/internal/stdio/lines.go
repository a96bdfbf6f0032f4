package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
)

// A lineReader splits input into lines of bounded length.
type lineReader struct {
	r     *bufio.Reader
	max   int // bytes of a line without its end
	begun bool
}

// A longLine is a line over the limit, which was skipped.
type longLine struct {
	id json.RawMessage // of the message in it, if one was found
}

// next returns the next line without its end, in its own memory. It skips a line over the
// limit and returns a longLine. The last line need not have an end.
func (l *lineReader) next() ([]byte, *longLine, error) {
	var line []byte
	for {
		chunk, err := l.r.ReadSlice('\n')
		if !l.begun && len(chunk) > 0 {
			l.begun = true
			// Some consoles begin piped text with a byte order mark.
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

// skip reads the rest of a line that begins with line and chunk. The next read returns
// the error of the reader.
func (l *lineReader) skip(line, chunk []byte, more bool) *longLine {
	var f message.IDFinder
	f.Feed(line)
	f.Feed(chunk)
	for more {
		chunk, err := l.r.ReadSlice('\n')
		f.Feed(chunk)
		more = errors.Is(err, bufio.ErrBufferFull)
	}
	return &longLine{id: f.Found()}
}

// ready reports whether the next line has been read already.
func (l *lineReader) ready() bool {
	b, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(b, '\n') >= 0
}

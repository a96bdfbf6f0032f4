package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lines is the transport of messages that are lines of text.
type lines struct {
	r     *bufio.Reader
	w     io.Writer
	max   int // bytes of a line without its end
	begun bool
}

// Lines returns the transport of a client that writes a line for each message to in and
// reads lines from out. A line of more than limit bytes is skipped and refused.
func newLines(in io.Reader, out io.Writer, limit int) transport {
	return &lines{r: bufio.NewReaderSize(in, 64<<10), w: out, max: limit}
}

// Read returns the next line without its end, in its own memory. The last line need not
// have an end.
func (l *lines) Read() ([]byte, error) {
	var line []byte
	for long := false; ; {
		chunk, err := l.r.ReadSlice('\n')
		if !l.begun && len(chunk) > 0 {
			l.begun = true
			// Some consoles begin piped text with a byte order mark.
			chunk = bytes.TrimPrefix(chunk, []byte("\xef\xbb\xbf"))
		}
		if err == nil {
			chunk = chunk[:len(chunk)-1]
		}
		if long = long || len(line)+len(chunk) > l.max; long {
			line = nil
		} else {
			line = append(line, chunk...)
		}
		ended := errors.Is(err, io.EOF)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || ended):
			return nil, invalidRequest(fmt.Sprintf("the line is longer than %d bytes", l.max))
		case err == nil, ended && len(line) > 0:
			return line, nil
		default:
			return nil, err
		}
	}
}

// Ready reports whether the next message may have been read already.
func (l *lines) Ready() bool { return l.r.Buffered() > 0 }

func (l *lines) Write(text []byte) error {
	_, err := l.w.Write(text)
	return err
}

package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lines is the transport of a client that writes a line for each message and reads lines.
type lines struct {
	r   *bufio.Reader
	w   io.Writer
	max int // bytes of a line without its end
}

func newLines(in io.Reader, out io.Writer, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(in, 64<<10), w: out, max: limit}
}

// Read returns the next line without its end, in its own memory. The last line need not
// have an end. A line that is too long is skipped and refused.
func (l *lines) Read() ([]byte, error) {
	var line []byte
	for long := false; ; {
		chunk, err := l.r.ReadSlice('\n')
		if long = long || len(bytes.TrimSuffix(chunk, []byte("\n")))+len(line) > l.max; long {
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
			// Some consoles begin piped text with a byte order mark.
			return bytes.TrimPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("\xef\xbb\xbf")), nil
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

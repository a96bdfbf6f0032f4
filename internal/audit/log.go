package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// maxWait limits how long a call waits until its line is written.
	maxWait = time.Second
	// maxPending limits the memory for lines that are not written yet, in bytes, and maxLines
	// their number.
	maxPending = 16 << 20
	maxLines   = 50_000
	// retryEvery is how often a failed write is tried again.
	retryEvery = time.Second
	// fileMode is that of a file that is created: the log names people.
	fileMode = 0o600
)

// A Config says where the log is written.
type Config struct {
	Path   string       // of the file; it is created if it does not exist
	Out    io.Writer    // used instead of a file if Path is empty
	Logger *slog.Logger // for failures of writes; nil means discard
}

// A Log is an audit log. It is safe for concurrent use.
//
// A goroutine writes the lines in the order of [Log.Record]. If the file was moved away or
// deleted, it continues in a new one.
type Log struct {
	path   string
	logger *slog.Logger
	ended  chan struct{} // closed when the writing goroutine has ended
	ending chan struct{} // closed by Close

	// Used by the writing goroutine only:
	file *os.File // nil without a path, or after a failure to open
	out  io.Writer
	done int // bytes of the current line that the file has

	mu      sync.Mutex // guards what follows, and sends to lines
	lines   chan line  // closed by Close
	pending int        // bytes of lines that are not written yet
	lost    uint64     // lines for which there was no memory, or no time at the end
	untold  uint64     // of them, not yet reported in the log
	err     error      // of the last attempt; calls do not wait while there is one
	closed  bool
}

// A line waits to be written.
type line struct {
	text  []byte        // with its line ending
	tried chan struct{} // closed after the first attempt
}

// Open opens the log. It returns an error if the file cannot be written.
func Open(cfg Config) (*Log, error) {
	l := &Log{
		path: cfg.Path, out: cfg.Out, logger: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)),
		ended: make(chan struct{}), ending: make(chan struct{}), lines: make(chan line, maxLines),
	}
	if err := l.reopen(); err != nil {
		return nil, err
	}
	go l.run()
	return l, nil
}

// reopen opens the file at the path, unless it is open.
func (l *Log) reopen() error {
	if l.path == "" {
		return nil
	}
	now, err := os.Stat(l.path)
	if l.file != nil {
		open, err2 := l.file.Stat()
		if err2 == nil && (err == nil && os.SameFile(now, open) || err != nil && !errors.Is(err, fs.ErrNotExist)) {
			return nil
		}
		_ = l.file.Close() // writes are not buffered
		l.file = nil
	}
	if err == nil && !now.Mode().IsRegular() { // to open a FIFO would block until there is a reader
		return errors.New(l.path + ": not a regular file")
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	l.file, l.out, l.done = file, file, 0
	return nil
}

// State returns how many lines could not be written since the start, and the error of the
// last attempt to write, nil if it succeeded.
func (l *Log) State() (lost uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost, l.err
}

// Close writes the lines that wait, for at most a second, and closes the file. It
// must be called once.
func (l *Log) Close() error {
	l.mu.Lock()
	if !l.closed && l.untold > 0 {
		l.lines <- line{l.missing(), make(chan struct{})} // add leaves room for it
	}
	l.closed = true
	close(l.lines)
	l.mu.Unlock()
	close(l.ending)
	select {
	case <-l.ended:
	case <-time.After(maxWait):
	}
	_, err := l.State()
	return err
}

// add adds a line and waits for the attempt to write it, but at most maxWait, and not at all while
// earlier ones could not be written. A line for which there is no memory is lost.
func (l *Log) add(text []byte) {
	l.mu.Lock()
	if l.closed || l.pending+len(text) > maxPending || len(l.lines) >= maxLines-1 {
		l.lost++
		l.untold++
		l.mu.Unlock()
		return
	}
	if l.untold > 0 {
		text = append(l.missing(), text...)
	}
	own, failing := line{text, make(chan struct{})}, l.err != nil
	l.pending += len(text)
	l.lines <- own
	l.mu.Unlock()
	if failing {
		return
	}
	select {
	case <-own.tried:
	case <-time.After(maxWait):
		l.mu.Lock()
		defer l.mu.Unlock()
		select {
		case <-own.tried:
		default:
			l.err = fmt.Errorf("a write has lasted for more than %s", maxWait)
		}
	}
}

// missing returns the line that says how many lines are missing before it.
func (l *Log) missing() []byte {
	text := fmt.Appendf(nil, `{"time":%q,"lostLines":%d}`+"\n", time.Now().UTC().Format(time.RFC3339Nano), l.untold)
	l.untold = 0
	return text
}

// run writes lines until the log is closed.
func (l *Log) run() {
	defer close(l.ended)
	for next := range l.lines {
		if !l.persist(next) {
			l.mu.Lock()
			l.lost += uint64(1 + len(l.lines))
			l.logger.Error("the audit log lacks lines, because it could not be written", "lines", l.lost)
			l.mu.Unlock()
			break
		}
	}
	if l.file != nil {
		_ = l.file.Close() // writes are not buffered
	}
}

// persist tries to write a line until it is written, or the log is closed.
func (l *Log) persist(next line) bool {
	for first := true; ; first = false {
		err := l.write(next.text)
		l.mu.Lock()
		if l.err = err; err == nil {
			l.pending -= len(next.text)
		}
		if first {
			close(next.tried)
		}
		l.mu.Unlock()
		if err == nil {
			if !first {
				l.logger.Warn("the audit log can be written again")
			}
			return true
		}
		if first {
			l.logger.Error("the audit log cannot be written; calls are answered all the same, and its lines are kept in memory as far as there is room", "error", err)
		}
		select {
		case <-time.After(retryEvery):
		case <-l.ending:
			return false
		}
	}
}

// write writes what the file does not have of a line.
func (l *Log) write(text []byte) error {
	if err := l.reopen(); err != nil {
		return err
	}
	n, err := l.out.Write(text[l.done:])
	if l.done += n; err == nil {
		l.done = 0
	}
	return err
}

package audit

import (
	"bytes"
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
	// maxPending limits the memory for lines that are not written yet, in bytes.
	maxPending = 16 << 20
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
// A goroutine writes the lines, those that wait together with one write, in the order of
// [Log.Record]. If the file was moved away or deleted, it continues in a new one.
type Log struct {
	path    string
	logger  *slog.Logger
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the writing goroutine has ended

	// Used by the writing goroutine only:
	file   *os.File    // nil without a path, or after a failure to open
	state  fs.FileInfo // of file, when it was opened
	out    io.Writer
	ahead  int  // bytes of batch that are written already, all of one line
	failed bool // the last attempt

	mu      sync.Mutex
	wake    *sync.Cond
	pending []byte        // whole lines
	written chan struct{} // closed when pending is written or given up; nil if no call waits
	slow    bool          // calls do not wait, because a write takes long or has failed
	reopen  bool
	closed  bool
	lost    uint64 // lines
	untold  uint64 // of them, not yet reported in the log
	err     error  // of the last attempt
}

// Open opens the log. It returns an error if the file cannot be written.
func Open(cfg Config) (*Log, error) {
	l := &Log{
		path: cfg.Path, out: cfg.Out, logger: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)),
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	l.wake = sync.NewCond(&l.mu)
	if l.path != "" {
		if err := l.open(); err != nil {
			return nil, err
		}
	}
	go l.run()
	return l, nil
}

// errNotRegular is the error for a path at which there is no file.
var errNotRegular = errors.New("not a regular file")

// open opens the file of path.
func (l *Log) open() error {
	// Look before opening: to open a FIFO blocks until there is a reader.
	if state, err := os.Stat(l.path); err == nil && !state.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", l.path, errNotRegular)
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	if l.state, err = file.Stat(); err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.out, l.ahead = file, file, 0
	return nil
}

// moved reports whether the path does not name the open file any more.
func (l *Log) moved() bool {
	now, err := os.Stat(l.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(now, l.state)
}

// Reopen closes the file and opens it again, for a program that has moved it away.
func (l *Log) Reopen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reopen = true
	l.wake.Signal()
}

// State returns how many lines could not be written since the start, and the error of the
// last attempt to write, nil if it succeeded.
func (l *Log) State() (lost uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil && l.slow {
		return l.lost, errSlow
	}
	return l.lost, l.err
}

// errSlow is the error of an attempt that lasts.
var errSlow = fmt.Errorf("a write has lasted for more than %s", maxWait)

// Close writes the lines that wait, for at most a second, and closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.closing)
	}
	l.wake.Signal()
	l.mu.Unlock()
	select {
	case <-l.ended:
	case <-time.After(maxWait):
	}
	_, err := l.State()
	return err
}

// add adds a line and waits until it is written, but at most maxWait, and not at all while
// earlier ones could not be written. A line for which there is no memory is lost.
func (l *Log) add(line []byte) {
	l.mu.Lock()
	if l.closed || len(l.pending)+len(line) > maxPending {
		l.lost++
		l.untold++
		l.mu.Unlock()
		return
	}
	l.pending = append(l.pending, line...)
	if l.slow {
		l.wake.Signal()
		l.mu.Unlock()
		return
	}
	if l.written == nil {
		l.written = make(chan struct{})
	}
	written := l.written
	l.wake.Signal()
	l.mu.Unlock()
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
		l.mu.Lock()
		defer l.mu.Unlock()
		select {
		case <-written: // at the same moment: no later attempt would reset slow
		default:
			l.slow = true
		}
	}
}

// run writes lines until the log is closed.
func (l *Log) run() {
	defer close(l.ended)
	var batch []byte // lines that are being written
	for {
		l.mu.Lock()
		for len(l.pending) == 0 && len(batch) == 0 && !l.reopen && !l.closed {
			l.wake.Wait()
		}
		reopen, closed := l.reopen, l.closed
		l.reopen = false
		if len(batch) == 0 {
			batch, l.pending = l.pending, batch[:0]
		}
		written := l.written
		l.written = nil
		l.mu.Unlock()

		rest, err := l.write(batch, reopen)
		l.note(err, written)
		switch {
		case err == nil:
			batch = batch[:0]
			if cap(batch) > maxSpare {
				batch = nil
			}
			if closed && l.idle() {
				l.closeFile()
				return
			}
		case closed:
			l.giveUp(rest)
			l.closeFile()
			return
		default:
			batch = rest
			select {
			case <-l.closing:
			case <-time.After(retryEvery):
			}
		}
	}
}

// maxSpare limits the memory that is kept for the next lines, in bytes.
const maxSpare = 256 << 10

func (l *Log) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) == 0
}

func (l *Log) closeFile() {
	if l.file != nil {
		_ = l.file.Close() // writes are not buffered
	}
}

// giveUp counts the lines that the end of the program finds unwritten.
func (l *Log) giveUp(batch []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := uint64(bytes.Count(batch, newline) + bytes.Count(l.pending, newline))
	l.lost += lines
	l.pending = nil
	l.logger.Error("the audit log lacks lines, because it could not be written", "lines", l.lost)
}

var newline = []byte("\n")

// write writes lines. It returns those that are not written, with the error.
func (l *Log) write(batch []byte, reopen bool) (rest []byte, err error) {
	if l.path != "" && (l.file == nil || reopen || l.moved()) {
		if l.file != nil {
			_ = l.file.Close() // writes are not buffered
			l.file = nil
		}
		if err := l.open(); err != nil {
			return batch, err
		}
	}
	if len(batch) == 0 {
		return nil, nil
	}
	n, err := l.out.Write(batch[l.ahead:])
	if err == nil {
		l.ahead = 0
		return nil, nil
	}
	n += l.ahead
	begin := bytes.LastIndexByte(batch[:n], '\n') + 1 // of the line that is not whole
	l.ahead = n - begin
	return batch[begin:], err
}

// note takes the outcome of an attempt and lets the calls go on that wait for it; written is
// nil if none does. It logs when attempts begin to fail and when they succeed again, and
// writes then how many lines were lost.
func (l *Log) note(err error, written chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if written != nil {
		close(written)
	}
	switch {
	case err != nil && !l.failed:
		l.logger.Error("the audit log cannot be written; calls are answered all the same, and its lines are kept in memory as far as there is room", "error", err)
	case err == nil && l.failed:
		l.logger.Warn("the audit log can be written again", "lost", l.lost)
	}
	if err == nil && l.untold > 0 && len(l.pending) < maxPending {
		l.pending = append(l.pending, lostLine(time.Now(), l.untold)...)
		l.untold = 0
	}
	l.failed, l.err, l.slow = err != nil, err, err != nil
}

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
	path   string
	logger *slog.Logger
	ended  chan struct{} // closed when the writing goroutine has ended

	// Used by the writing goroutine only:
	file  *os.File // nil without a path, or after a failure to open
	out   io.Writer
	ahead int // bytes of the first pending line that are written already

	mu      sync.Mutex
	changed *sync.Cond
	pending []byte // whole lines that are not written yet
	added   uint64 // lines since the start
	written uint64 // of them
	lost    uint64 // lines for which there was no memory
	untold  uint64 // of them, not yet reported in the log
	err     error  // of the last attempt; calls do not wait while there is one
	closed  bool
}

// Open opens the log. It returns an error if the file cannot be written.
func Open(cfg Config) (*Log, error) {
	l := &Log{path: cfg.Path, out: cfg.Out, logger: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), ended: make(chan struct{})}
	l.changed = sync.NewCond(&l.mu)
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
	l.file, l.out, l.ahead = file, file, 0
	return nil
}

// State returns how many lines could not be written since the start, and the error of the
// last attempt to write, nil if it succeeded.
func (l *Log) State() (lost uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost, l.err
}

// Close writes the lines that wait, for at most a second, and closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closed = true
	l.changed.Broadcast()
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
	defer l.mu.Unlock()
	if l.closed || len(l.pending)+len(line) > maxPending {
		l.lost++
		l.untold++
		return
	}
	l.pending = append(l.pending, line...)
	l.added++
	own := l.added
	l.changed.Broadcast()
	timer := time.AfterFunc(maxWait, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.written < own && l.err == nil {
			l.err = fmt.Errorf("a write has lasted for more than %s", maxWait)
			l.changed.Broadcast()
		}
	})
	defer timer.Stop()
	for l.written < own && l.err == nil {
		l.changed.Wait()
	}
}

// run writes lines until the log is closed.
func (l *Log) run() {
	defer close(l.ended)
	l.mu.Lock()
	defer l.mu.Unlock()
	failed := false
	for {
		for len(l.pending) == 0 && !l.closed {
			l.changed.Wait()
		}
		if len(l.pending) == 0 {
			break
		}
		batch, upTo := l.pending, l.added
		l.mu.Unlock()
		n, err := l.write(batch)
		l.mu.Lock()
		if l.pending = l.pending[n:]; len(l.pending) == 0 {
			l.pending = nil
		}
		l.err = err
		if err == nil {
			l.written = upTo
			l.tellLost()
		}
		l.changed.Broadcast()
		l.report(failed)
		if failed = err != nil; failed {
			if l.closed {
				l.lost += uint64(bytes.Count(l.pending, newline))
				l.logger.Error("the audit log lacks lines, because it could not be written", "lines", l.lost)
				break
			}
			l.pause()
		}
	}
	if l.file != nil {
		_ = l.file.Close() // writes are not buffered
	}
}

var newline = []byte("\n")

// write writes lines. It returns the length of those that are written whole.
func (l *Log) write(batch []byte) (int, error) {
	if err := l.reopen(); err != nil {
		return 0, err
	}
	n, err := l.out.Write(batch[l.ahead:])
	n += l.ahead
	whole := bytes.LastIndexByte(batch[:n], '\n') + 1
	l.ahead = n - whole
	return whole, err
}

// pause waits for the time of the next attempt, or until the log is closed.
func (l *Log) pause() {
	over := false
	time.AfterFunc(retryEvery, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		over = true
		l.changed.Broadcast()
	})
	for !over && !l.closed {
		l.changed.Wait()
	}
}

// tellLost adds the line that says how many lines are missing before it.
func (l *Log) tellLost() {
	if l.untold > 0 {
		l.pending = fmt.Appendf(l.pending, `{"time":%q,"lostLines":%d}`+"\n", time.Now().UTC().Format(time.RFC3339Nano), l.untold)
		l.untold = 0
	}
}

// report logs when attempts begin to fail, and when they succeed again.
func (l *Log) report(failed bool) {
	switch {
	case l.err != nil && !failed:
		l.logger.Error("the audit log cannot be written; calls are answered all the same, and its lines are kept in memory as far as there is room", "error", l.err)
	case l.err == nil && failed:
		l.logger.Warn("the audit log can be written again", "lost", l.lost)
	}
}

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
	"sync/atomic"
	"time"
)

const (
	// maxWaiting limits the memory for lines that could not be written yet, in bytes.
	maxWaiting = 16 << 20
	// retryEvery is how often a failed write is tried again.
	retryEvery = time.Second
	// hangingAfter is how long a write may take before State reports it.
	hangingAfter = 5 * time.Second
	// fileMode is that of a file that is created: the log names people.
	fileMode = 0o600
)

// A Config says where the log is written.
type Config struct {
	Path   string       // of the file; it is created if it does not exist
	Out    io.Writer    // used instead of a file if Path is empty
	Tokens bool         // clients need tokens; otherwise all are the local user
	Logger *slog.Logger // for failures of writes; nil means discard
}

// A Log is an audit log. It is safe for concurrent use. Lines are written one at a time, in the order of
// [Log.Record]. Those that cannot be written wait in memory. If the file was moved away or deleted, the log
// continues in a new one.
type Log struct {
	Config

	mu      sync.Mutex // guards the fields below, and writes
	file    *os.File   // nil without a path, or after a failure to open
	waiting [][]byte   // lines that are not written yet, with their line endings
	size    int        // bytes of waiting
	done    int        // bytes of the first line that the file has
	untold  uint64     // lines that are lost and not yet reported in the log
	tried   time.Time  // the last attempt
	err     error      // of it

	// State reads these also while a write hangs.
	lost    atomic.Uint64 // lines for which there was no memory
	failing atomic.Bool   // the last attempt has failed
	writing atomic.Int64  // when the attempt that is under way began, in Unix nanoseconds; 0 if none is
}

// Open opens the log. It returns an error if the file cannot be written.
func Open(cfg Config) (*Log, error) {
	l := &Log{Config: cfg}
	l.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return l, l.reopen()
}

// reopen opens the file at the path, unless it is open.
func (l *Log) reopen() error {
	if l.Path == "" {
		return nil
	}
	now, err := os.Stat(l.Path)
	if l.file != nil {
		open, err2 := l.file.Stat()
		if err2 == nil && (err == nil && os.SameFile(now, open) || err != nil && !errors.Is(err, fs.ErrNotExist)) {
			return nil
		}
		_ = l.file.Close() // writes are not buffered
		l.file = nil
	}
	if err == nil && !now.Mode().IsRegular() { // to open a FIFO would block until there is a reader
		return errors.New(l.Path + ": not a regular file")
	}
	file, err := os.OpenFile(l.Path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	l.file, l.Out, l.done = file, file, 0
	return nil
}

// State returns how many lines could not be written since the start, and whether the last attempt to write
// has failed or takes longer than five seconds. It does not wait for one that hangs.
func (l *Log) State() (lost uint64, failing bool) {
	if l.mu.TryLock() {
		l.flush()
		l.mu.Unlock()
	}
	began := l.writing.Load()
	return l.lost.Load(), l.failing.Load() || began != 0 && time.Since(time.Unix(0, began)) > hangingAfter
}

// Close writes the lines that wait, and closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tried = time.Time{}
	if l.untold > 0 {
		l.queue(l.missing())
	}
	l.flush()
	if n := uint64(len(l.waiting)); n > 0 {
		l.Logger.Error("the audit log lacks lines, because it could not be written", "lines", l.lost.Load()+n)
	}
	if l.file != nil {
		_ = l.file.Close() // writes are not buffered
	}
	return l.err
}

// add writes a line, or leaves it for later. A line for which there is no memory is lost.
func (l *Log) add(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+len(line) > maxWaiting {
		l.lost.Add(1)
		l.untold++
	} else {
		if l.untold > 0 {
			l.queue(l.missing())
		}
		l.queue(line)
	}
	l.flush()
}

func (l *Log) queue(line []byte) {
	l.waiting = append(l.waiting, line)
	l.size += len(line)
}

// missing returns the line that says how many lines are missing before it.
func (l *Log) missing() []byte {
	text := fmt.Appendf(nil, `{"time":%q,"lostLines":%d}`+"\n", time.Now().UTC().Format(time.RFC3339Nano), l.untold)
	l.untold = 0
	return text
}

// flush writes the lines that wait, unless that has just failed.
func (l *Log) flush() {
	if len(l.waiting) == 0 || l.err != nil && time.Since(l.tried) < retryEvery {
		return
	}
	failed := l.err != nil
	l.writing.Store(time.Now().UnixNano())
	l.err = l.reopen()
	for len(l.waiting) > 0 && l.err == nil {
		var n int
		if n, l.err = l.Out.Write(l.waiting[0][l.done:]); l.err != nil {
			l.done += n
			break
		}
		l.size -= len(l.waiting[0])
		l.waiting, l.done = l.waiting[1:], 0
	}
	l.tried = time.Now()
	l.writing.Store(0)
	l.failing.Store(l.err != nil)
	switch {
	case l.err != nil && !failed:
		l.Logger.Error("the audit log cannot be written; calls are answered all the same, and its lines are kept in memory as far as there is room", "error", l.err)
	case l.err == nil && failed:
		l.Logger.Warn("the audit log can be written again")
	}
}

package token

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// defaultInterval is how often a file is looked at, at most.
	defaultInterval = time.Second
	// settled is how old a file must be before its time tells one state of it from
	// the next: some file systems count in seconds.
	settled = 2 * time.Second
)

// A Config says which file to read, and how.
type Config struct {
	Path     string        // required
	Logger   *slog.Logger  // faults of the file, never what is in it; nil means discard
	Interval time.Duration // between two looks at the file; 0 means a second
}

// A File is a file of tokens, read again when it changes. It is safe for
// concurrent use.
type File struct {
	path     string
	logger   *slog.Logger
	interval time.Duration

	mu      sync.Mutex  // guards what follows
	entries []entry     // never changed in place
	state   fs.FileInfo // of the file when it was last read; nil if it could not be
	read    time.Time   // when that was
	looked  time.Time   // when it was last looked at
	failing bool        // the last look found a fault
}

// Open reads a file. It must not be open to everyone: on Unix, not readable by
// others and not writable by the group.
func Open(cfg Config) (*File, error) {
	f := &File{path: cfg.Path, logger: cfg.Logger, interval: cmp.Or(cfg.Interval, defaultInterval)}
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	var err error
	now := time.Now()
	if f.entries, f.state, err = load(f.path); err != nil {
		return nil, fmt.Errorf("token: %s: %w", f.path, plain(err))
	}
	f.read, f.looked = now, now
	return f, nil
}

// Subject returns whose token it is, "" for nobody's. A file that has become
// unreadable or wrong changes nothing: what it held before is good until it is
// right again, and the log says so. The error is always nil.
func (f *File) Subject(_ context.Context, token string) (string, error) {
	return find(f.current(), token), nil
}

// current returns the entries, read again if the file has changed.
func (f *File) current() []entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.looked) < f.interval {
		return f.entries
	}
	f.looked = now
	state, err := os.Stat(f.path)
	if err == nil && f.state != nil && same(state, f.state) && f.read.Sub(state.ModTime()) > settled {
		return f.entries
	}
	f.read = now
	var entries []entry
	if err == nil {
		entries, state, err = load(f.path)
	}
	if err != nil {
		if !f.failing {
			f.logger.Error("the token file cannot be used; what it held before stays valid",
				"file", f.path, "error", plain(err))
		}
		f.failing = true
		f.state = nil
		return f.entries
	}
	if f.failing {
		f.logger.Warn("the token file can be used again", "file", f.path)
	}
	f.failing = false
	f.entries, f.state = entries, state
	return f.entries
}

// same reports whether two looks saw the same state of the same file.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

func load(path string) ([]entry, fs.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	state, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !state.Mode().IsRegular() {
		return nil, nil, errors.New("it is not a file")
	}
	if err := checkMode(state.Mode()); err != nil {
		return nil, nil, err
	}
	entries, err := parse(file)
	return entries, state, err
}

// plain takes the path off an error that names it, for those who say it anyway.
func plain(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Add makes a token for a subject and adds its line to the file, which it creates
// if there is none. The token is not kept anywhere: this is the only time to see it.
func Add(path, subject string) (token string, err error) {
	token, line, err := Mint(subject)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	if err := appendLine(path, line); err != nil {
		return "", fmt.Errorf("token: %s: %w", path, plain(err))
	}
	return token, nil
}

func appendLine(path, line string) (err error) {
	// What would not be read back is not added to.
	switch _, _, err := load(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	state, err := file.Stat()
	if err != nil {
		return err
	}
	if size := state.Size(); size > 0 {
		var last [1]byte
		if _, err := file.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' { // somebody's editor leaves the end of the last line off
			line = "\n" + line
		}
	}
	if _, err := file.WriteString(line + "\n"); err != nil {
		return err
	}
	return file.Sync()
}

package token

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/auth"
)

const (
	// checkInterval is the minimum time between two checks for a changed file.
	checkInterval = time.Second
	// mtimeGranularity exceeds the resolution of modification times, which is a
	// second on some file systems. A file read within it is read again.
	mtimeGranularity = 2 * time.Second
)

var errNotRegular = errors.New("not a regular file")

// A Config configures a [File].
type Config struct {
	Path   string       // required
	Logger *slog.Logger // receives errors of the file, never its contents; nil means discard
}

// A File is a file of tokens that is reloaded when it changes. It is safe for
// concurrent use.
type File struct {
	path     string
	logger   *slog.Logger
	interval time.Duration

	mu      sync.Mutex  // guards the fields below
	entries []entry     // never changed in place
	state   fs.FileInfo // when the file was last read; nil if that failed
	read    time.Time   // time of the last read
	checked time.Time   // time of the last check
	failing bool        // the last check failed
}

// Open reads a file. On Unix it must not be writable by the group or accessible to
// others.
func Open(cfg Config) (*File, error) {
	f := &File{path: cfg.Path, logger: cfg.Logger, interval: checkInterval}
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	var err error
	now := time.Now()
	if f.entries, f.state, err = load(f.path); err != nil {
		return nil, fmt.Errorf("token: %s: %w", f.path, withoutPath(err))
	}
	f.read, f.checked = now, now
	return f, nil
}

// Identify returns who a token is for; see [auth.Authenticator]. If the file becomes
// unreadable or malformed, Identify logs it and uses the previous contents until the file is
// valid again.
func (f *File) Identify(_ context.Context, token string) (auth.Identity, error) {
	e := find(f.current(), token)
	if e == nil {
		return auth.Identity{}, auth.ErrUnknown
	}
	if err := e.valid(); err != nil {
		return auth.Identity{}, err
	}
	return auth.Identity{Subject: e.subject, Scope: e.scope, Expires: e.expires, Token: e.info().ID}, nil
}

// Until returns when the token with an id expires; see [auth.Guarantor].
func (f *File) Until(_ context.Context, id string, _ time.Time) (time.Time, error) {
	list := f.current()
	i := slices.IndexFunc(list, func(e entry) bool { return e.info().ID == id })
	if i < 0 {
		return time.Time{}, auth.ErrUnknown
	}
	return list[i].expires, list[i].valid()
}

// valid returns an error for a token that has expired.
func (e *entry) valid() error {
	if e.expires.IsZero() || time.Now().Before(e.expires) {
		return nil
	}
	return &auth.InvalidError{Reason: "the token expired at " + e.expires.Format(time.RFC3339)}
}

// current returns the entries. It reloads the file if it has changed.
func (f *File) current() []entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.checked) < f.interval {
		return f.entries
	}
	f.checked = now
	state, err := os.Stat(f.path)
	if err == nil && f.state != nil && same(state, f.state) && f.read.Sub(state.ModTime()) > mtimeGranularity {
		return f.entries
	}
	f.read = now
	var entries []entry
	if err == nil {
		entries, state, err = load(f.path)
	}
	if err != nil {
		if !f.failing {
			f.logger.Error("cannot reload the token file; its previous contents stay valid",
				"file", f.path, "error", withoutPath(err))
		}
		f.failing = true
		f.state = nil
		return f.entries
	}
	if f.failing {
		f.logger.Warn("reloaded the token file", "file", f.path)
	}
	f.failing = false
	f.entries, f.state = entries, state
	return f.entries
}

// same reports whether a and b describe the same state of the same file.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

func load(path string) ([]entry, fs.FileInfo, error) {
	// Look before opening: to open a FIFO blocks until there is a writer.
	if state, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if !state.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
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
		return nil, nil, errNotRegular
	}
	if err := checkMode(state.Mode()); err != nil {
		return nil, nil, err
	}
	entries, err := parse(file)
	return entries, state, err
}

// withoutPath unwraps a PathError, for messages that already name the file.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Add creates a token and appends its line to the file. It creates a missing file with mode
// 0600. The token itself is stored nowhere, so the caller must keep it.
func Add(path string, grant Grant) (token string, err error) {
	token, line, err := generate(grant)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	if err := appendLine(path, line); err != nil {
		return "", fmt.Errorf("token: %s: %w", path, withoutPath(err))
	}
	return token, nil
}

func appendLine(path, line string) (err error) {
	// Do not append to a file that a server would refuse to load.
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
		if last[0] != '\n' { // some editors do not end the last line
			line = "\n" + line
		}
	}
	if _, err := file.WriteString(line + "\n"); err != nil {
		return err
	}
	return file.Sync()
}

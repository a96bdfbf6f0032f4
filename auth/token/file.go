package token

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
)

// checkInterval is the minimum time between two checks for a changed file.
const checkInterval = time.Second

var (
	errNotRegular = errors.New("not a regular file")
	errMode       = errors.New("gives other users access")
)

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

	mu      sync.Mutex // guards the fields below
	data    []byte     // of the file
	entries []entry    // of data; never changed in place
	checked time.Time  // time of the last check
	failing bool       // the last check failed
}

// Open reads a file. On Unix it must not be writable by the group or accessible to
// others.
func Open(cfg Config) (*File, error) {
	f := &File{path: cfg.Path, logger: cfg.Logger, interval: checkInterval, checked: time.Now()}
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	if err := f.reload(); err != nil {
		return nil, failure(f.path, err)
	}
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
	return auth.Identity{Subject: e.Subject, Scope: e.Scope, Expires: e.Expires, Token: e.ID}, nil
}

// Until returns when the token with an id expires; see [auth.Guarantor].
func (f *File) Until(_ context.Context, id string, _ time.Time) (time.Time, error) {
	list := f.current()
	i := slices.IndexFunc(list, func(e entry) bool { return e.ID == id })
	if i < 0 {
		return time.Time{}, auth.ErrUnknown
	}
	return list[i].Expires, list[i].valid()
}

// valid returns an error for a token that has expired.
func (e *entry) valid() error {
	if e.Expires.IsZero() || time.Now().Before(e.Expires) {
		return nil
	}
	return &auth.InvalidError{Reason: "the token expired at " + e.Expires.Format(time.RFC3339)}
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
	err := f.reload()
	switch failed := err != nil; {
	case failed && !f.failing:
		f.logger.Error("cannot reload the token file; its previous contents stay valid",
			"file", f.path, "error", withoutPath(err))
	case !failed && f.failing:
		f.logger.Warn("reloaded the token file", "file", f.path)
	}
	f.failing = err != nil
	return f.entries
}

// reload reads the file, and parses it if it has changed.
func (f *File) reload() error {
	data, err := read(f.path)
	if err != nil || bytes.Equal(data, f.data) {
		return err
	}
	entries, err := parse(data)
	if err == nil {
		f.data, f.entries = data, entries
	}
	return err
}

// read returns the contents of a file that has the mode, size and type of a token file.
func read(path string) ([]byte, error) {
	state, err := os.Stat(path) // before opening: to open a FIFO blocks until there is a writer
	switch {
	case err != nil:
		return nil, err
	case !state.Mode().IsRegular():
		return nil, errNotRegular
	case state.Size() > maxFile:
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	// The group may read it, because secrets are often deployed that way.
	if mode := state.Mode().Perm(); mode&0o027 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("mode %#o %w", mode, errMode)
	}
	return os.ReadFile(path)
}

// load returns the entries of a file.
func load(path string) ([]entry, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return parse(data)
}

// failure returns an error with the file and what to do, nil for nil.
func failure(path string, err error) error {
	if _, done := errors.AsType[*sequent.Error](err); done || err == nil {
		return err
	}
	fix := "run sequent server token --help for the form of the file"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fix = "run sequent server token new SUBJECT --file FILE to create it"
	case errors.Is(err, errMode):
		fix = "chmod 600 " + path
	}
	return &sequent.Error{Code: sequent.CodeUsage, Msg: path + ": " + withoutPath(err).Error(), Fix: fix, Err: err}
}

// withoutPath unwraps a PathError, for messages that already name the file.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

package app

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A Place is the place of a store: memory, a file or a database.
type Place struct {
	Memory  bool   // the store is lost when the process ends
	Path    string // absolute path of the SQLite file
	Default bool   // no --store was given

	// The address of a database, which may contain a password; nil for other places.
	// It is a pointer, so that formatting a Place does not print it.
	address *string
}

// Database returns the address of a database. It may contain a password and must not
// appear in logs or in arguments of programs.
func (p Place) Database() (address string, ok bool) {
	if p.address == nil {
		return "", false
	}
	return *p.address, true
}

// is reports whether two places on disk or of databases are the same.
func (p Place) is(other Place) bool {
	x, isDatabase := p.Database()
	y, also := other.Database()
	return isDatabase == also && x == y && p.Path == other.Path
}

// String returns the place in the form of --store, without the password and the
// parameters of a database's address.
func (p Place) String() string {
	if p.Memory {
		return "memory"
	}
	if p.address == nil {
		return "sqlite:" + p.Path
	}
	u, err := url.Parse(*p.address)
	if err != nil {
		return "postgres://…"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}

// At adds the place to an error of its store.
func (p Place) At(err error) error {
	e, ok := errors.AsType[*sequent.Error](err)
	name := cmp.Or(p.Path, p.String())
	if !ok || strings.Contains(e.Msg, name) {
		return err
	}
	where := *e
	where.Msg = name + ": " + e.Msg
	return &where
}

// Locate parses a value of --store.
func Locate(store string) (Place, error) {
	scheme, _, isURL := strings.Cut(store, "://")
	path, isSQLite := strings.CutPrefix(store, "sqlite:")
	switch {
	case store == "":
		dir, err := DataDir()
		return Place{Path: filepath.Join(dir, "sequent.db"), Default: true}, err
	case store == "memory" || store == ":memory:":
		return Place{Memory: true}, nil
	case isSQLite:
		path = strings.TrimPrefix(path, "//")
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		return Place{address: &store}, nil
	case isURL:
		return Place{}, usage(fmt.Sprintf("--store: unsupported scheme %q", scheme), "use a file, sqlite:PATH, postgres://… or memory")
	default:
		path = store
	}
	if path == "" {
		return Place{}, usage(fmt.Sprintf("--store: no path in %q", store), "use sqlite:PATH")
	}
	path, err := absolute(path)
	return Place{Path: path}, err
}

// absolute returns the absolute path for the value of a flag, now, in case the working directory
// changes.
func absolute(path string) (string, error) {
	path, err := expand(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// expand replaces a leading ~ with the home directory, because editors pass it
// unchanged from their configuration.
func expand(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path, nil
	}
	home, err := home()
	return filepath.Join(home, rest), err
}

func home() (string, error) {
	dir, err := os.UserHomeDir()
	if err != nil {
		return "", usage("cannot find the home directory ("+err.Error()+")", "set it, or pass --store PATH")
	}
	return dir, nil
}

// DataDir returns the directory for files of this program in the user's data directory. It
// does not need to exist.
func DataDir() (string, error) {
	dir, err := dataDir(runtime.GOOS)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "sequent"), nil
}

func dataDir(goos string) (string, error) {
	switch goos {
	case "windows":
		if dir := os.Getenv("LocalAppData"); dir != "" {
			return dir, nil
		}
		dir, err := home()
		return filepath.Join(dir, "AppData", "Local"), err
	case "darwin", "ios":
		dir, err := home()
		return filepath.Join(dir, "Library", "Application Support"), err
	}
	// The XDG Base Directory Specification requires a relative path to be ignored.
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	dir, err := home()
	return filepath.Join(dir, ".local", "share"), err
}

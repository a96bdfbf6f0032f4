package app

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A Place is where a store is.
type Place struct {
	Memory  bool   // nowhere: it ends with the process
	Path    string // of the SQLite file, absolute
	Default bool   // nobody named it

	// The address of a database, which may hold a password; nil if it is none.
	// A pointer, so that printing a Place does not show it.
	address *string
}

// Database returns the address of the place if it is a database, and whether it
// is one. It may hold a password: it is not for logs or arguments of programs.
func (p Place) Database() (address string, ok bool) {
	if p.address == nil {
		return "", false
	}
	return *p.address, true
}

// String returns the place as --store takes it, but for a database's password
// and whatever else may be secret in its address.
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

// Locate finds out what a value of --store means.
func Locate(store string) (Place, error) {
	scheme, _, isURL := strings.Cut(store, "://")
	path, isSQLite := strings.CutPrefix(store, "sqlite:")
	switch {
	case store == "":
		path, err := DefaultStore()
		return Place{Path: path, Default: true}, err
	case store == "memory" || store == ":memory:":
		return Place{Memory: true}, nil
	case isSQLite:
		path = strings.TrimPrefix(path, "//")
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		return Place{address: &store}, nil
	case isURL:
		return Place{}, &ConfigError{
			Msg: "there is no store of the kind " + scheme,
			Fix: "use memory, a path, sqlite:PATH or postgres://…",
		}
	default:
		path = store
	}
	if path == "" {
		return Place{}, &ConfigError{Msg: "--store sqlite: names no file", Fix: "use sqlite:PATH"}
	}
	path, err := expand(path)
	if err != nil {
		return Place{}, err
	}
	path, err = filepath.Abs(path)
	return Place{Path: path}, err
}

// expand replaces a leading ~, which editors that start a server hand over as
// it is written in their configuration.
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
		return "", &ConfigError{
			Msg: "the home directory cannot be found (" + err.Error() + ")",
			Fix: "set it, or say where to keep sessions with --store PATH",
		}
	}
	return dir, nil
}

// DefaultStore returns the path of the store that is used if none is named: in
// the directory where programs of this system keep a user's data.
func DefaultStore() (string, error) {
	dir, err := dataDir(runtime.GOOS)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "sequent", "sequent.db"), nil
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
	// The specification wants a relative path ignored.
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	dir, err := home()
	return filepath.Join(dir, ".local", "share"), err
}

// DefaultStorage returns where the dialect classic writes session files if it
// is not told.
func DefaultStorage() (string, error) {
	dir, err := home()
	return filepath.Join(dir, "Documents", "thinking"), err
}

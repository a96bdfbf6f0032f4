package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A Token describes a token.
type Token = token.Info

// TokenFile returns the absolute path of a token file; empty means the default one, next to the
// default store.
func TokenFile(path string) (string, error) {
	if path == "" {
		dir, err := DataDir()
		return filepath.Join(dir, "tokens"), err
	}
	return absolute(path)
}

// openTokens returns the authenticator of a token file.
func openTokens(path string, logger *slog.Logger) (*token.File, error) {
	path, err := expand(path)
	if err != nil {
		return nil, err
	}
	file, err := token.Open(token.Config{Path: path, Logger: logger})
	return file, badTokens(err)
}

// NewToken creates a token and adds its hash to a file, which it creates if necessary. It
// returns the token, which is stored nowhere.
func NewToken(path string, t Token) (secret string, added Token, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", Token{}, &ConfigError{Msg: err.Error(), Fix: "pass a file in a writable folder with --file FILE"}
	}
	secret, added, err = token.Add(path, t)
	return secret, added, badTokens(err)
}

// Tokens returns the tokens of a file.
func Tokens(path string) ([]Token, error) {
	list, err := token.List(path)
	return list, badTokens(err)
}

// RevokeTokens revokes tokens of a file; see [token.Revoke].
func RevokeTokens(path string, tokens ...string) ([]Token, error) {
	revoked, err := token.Revoke(path, tokens...)
	return revoked, badTokens(err)
}

// badTokens adds a fix to an error of a token file.
func badTokens(err error) error {
	if err == nil {
		return nil
	}
	msg := strings.TrimPrefix(err.Error(), "token: ")
	if what, fix, ok := strings.Cut(msg, ": chmod "); ok { // checkMode has a fix
		return &ConfigError{Msg: what, Fix: "chmod " + fix}
	}
	fix := "run sequent server token --help for the form of the file"
	if errors.Is(err, fs.ErrNotExist) {
		fix = "run sequent server token new SUBJECT --file FILE to create it"
	}
	return &ConfigError{Msg: msg, Fix: fix}
}

// DiagnoseTokens checks a token file. An empty path means the default file, which may
// be missing.
func DiagnoseTokens(path string) ([]diagnosis.Finding, error) {
	named := path != ""
	path, err := TokenFile(path)
	if err != nil {
		return nil, err
	}
	state, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil
	}
	f := diagnosis.Finding{Check: "tokens", Status: diagnosis.OK}
	list, err := Tokens(path)
	switch {
	case err != nil:
		f.Status, f.Detail = diagnosis.Fail, err.Error()
		if e, ok := errors.AsType[*ConfigError](err); ok {
			f.Detail, f.Fix = e.Msg, e.Fix
		}
		return []diagnosis.Finding{f}, nil
	case len(list) == 0:
		f.Status, f.Fix = diagnosis.Warn, "run sequent server token new SUBJECT to create a token; a server with this file refuses all clients"
	}
	subjects := make(map[string]bool)
	for _, t := range list {
		subjects[t.Subject] = true
	}
	f.Detail = fmt.Sprintf("%s, %s of %s", path,
		printable.Count(len(list), "token", "tokens"), printable.Count(len(subjects), "subject", "subjects"))
	if state != nil && runtime.GOOS != "windows" {
		f.Detail += fmt.Sprintf(", mode %04o", state.Mode().Perm())
	}
	return []diagnosis.Finding{f}, nil
}

package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/draw"
)

// DefaultTokens returns the file of tokens that is used if none is named: beside
// the default store.
func DefaultTokens() (string, error) {
	dir, err := dataDir(runtime.GOOS)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "sequent", "tokens"), nil
}

// A Token is what a file tells of a token, which is not the token.
type Token = token.Info

// TokenFile returns the path of a file of tokens; empty means the default one.
func TokenFile(path string) (string, error) {
	if path == "" {
		return DefaultTokens()
	}
	path, err := expand(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// NewToken makes a token for a subject and adds it to a file, which it makes if
// there is none. This is the only time that anybody sees the token.
func NewToken(path, subject string) (secret string, info Token, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", Token{}, &ConfigError{Msg: err.Error(), Fix: "name a file that can be made with --file FILE"}
	}
	secret, err = token.Add(path, subject)
	if err != nil {
		return "", Token{}, badTokens(err)
	}
	return secret, Token{ID: token.ID(secret), Subject: subject}, nil
}

// Tokens returns what is in a file of tokens.
func Tokens(path string) ([]Token, error) {
	list, err := token.List(path)
	return list, badTokens(err)
}

// RevokeTokens takes tokens out of a file, by what List calls them or by
// themselves: all or none.
func RevokeTokens(path string, which ...string) ([]Token, error) {
	gone, err := token.Revoke(path, which...)
	return gone, badTokens(err)
}

// badTokens adds to what is wrong with a file of tokens what to do about it.
func badTokens(err error) error {
	if err == nil {
		return nil
	}
	msg := strings.TrimPrefix(err.Error(), "token: ")
	if what, fix, ok := strings.Cut(msg, ": chmod "); ok { // it knows better
		return &ConfigError{Msg: what, Fix: "chmod " + fix}
	}
	fix := "sequent token --help tells what such a file is"
	if errors.Is(err, fs.ErrNotExist) {
		fix = "sequent token new SUBJECT --file FILE makes one"
	}
	return &ConfigError{Msg: msg, Fix: fix}
}

// DiagnoseTokens looks at a file of tokens. Path is empty for the default one,
// which need not be there.
func DiagnoseTokens(path string) ([]Finding, error) {
	named := path != ""
	path, err := TokenFile(path)
	if err != nil {
		return nil, err
	}
	state, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil
	}
	f := Finding{Check: "tokens", Status: OK}
	list, err := Tokens(path)
	switch {
	case err != nil:
		f.Status, f.Detail = Fail, err.Error()
		if e, ok := errors.AsType[*ConfigError](err); ok {
			f.Detail, f.Fix = e.Msg, e.Fix
		}
		return []Finding{f}, nil
	case len(list) == 0:
		f.Status, f.Fix = Warn, "sequent token new SUBJECT makes a token; until then a server with this file lets nobody in"
	}
	subjects := make(map[string]bool)
	for _, t := range list {
		subjects[t.Subject] = true
	}
	f.Detail = fmt.Sprintf("%s, %s of %s", path,
		draw.Count(len(list), "token", "tokens"), draw.Count(len(subjects), "subject", "subjects"))
	if state != nil && runtime.GOOS != "windows" {
		f.Detail += fmt.Sprintf(", mode %04o", state.Mode().Perm())
	}
	return []Finding{f}, nil
}

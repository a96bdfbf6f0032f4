package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/printable"
)

// TokenFile returns the absolute path of a token file; empty means the default one, next to the
// default store.
func TokenFile(path string) (string, error) {
	if path == "" {
		dir, err := DataDir()
		return filepath.Join(dir, "tokens"), err
	}
	return absolute(path)
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
	if err != nil && !named {
		return nil, nil
	}
	const check = "tokens"
	var r diagnosis.Report
	list, err := token.List(path)
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		r.Fail(check, e.Fix, "%s", e.Msg)
		return r.Findings, nil
	}
	subjects := make(map[string]bool)
	for _, t := range list {
		subjects[t.Subject] = true
	}
	found := fmt.Sprintf("%s, %s of %s", path,
		printable.Count(len(list), "token", "tokens"), printable.Count(len(subjects), "subject", "subjects"))
	if runtime.GOOS != "windows" {
		found += fmt.Sprintf(", mode %04o", state.Mode().Perm())
	}
	if len(list) == 0 {
		r.Warn(check, "run sequent server token new SUBJECT to create a token; a server with this file refuses all clients", "%s", found)
	} else {
		r.OK(check, "%s", found)
	}
	return r.Findings, nil
}

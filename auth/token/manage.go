package token

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// Add creates a token with what t says but its ID, and appends its line to a file. It creates a
// missing file with mode 0600. The token itself is stored nowhere, so the caller must keep it.
func Add(path string, t Info) (token string, added Info, err error) {
	token, line, err := generate(t)
	if err != nil {
		return "", Info{}, sequent.Errorf(sequent.CodeUsage, "", "choose another subject or note", "%s", err.Error())
	}
	e, _, err := parseLine(line)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = appendLine(path, line)
	}
	if err != nil {
		return "", Info{}, failure(path, err)
	}
	return token, e.Info, nil
}

func appendLine(path, line string) (err error) {
	data, err := read(path)
	if err == nil {
		_, err = parse(data) // do not append to a file that a server would refuse to load
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(data) > 0 && data[len(data)-1] != '\n' { // some editors do not end the last line
		line = "\n" + line
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line + "\n")
	return errors.Join(err, file.Sync(), file.Close())
}

// List returns the tokens of a file, in the order of its lines.
func List(path string) ([]Info, error) {
	entries, err := load(path)
	list := []Info{}
	for _, e := range entries {
		list = append(list, e.Info)
	}
	return list, failure(path, err)
}

// Revoke removes tokens from a file. Each token is given by its ID or by itself.
// If one of them is not in the file, Revoke changes nothing and returns an error.
//
// Revoke overwrites the line of a token with a comment of the same length, so a
// concurrent Add is not lost.
func Revoke(path string, tokens ...string) ([]Info, error) {
	revoked, err := revoke(path, tokens)
	return revoked, failure(path, err)
}

func revoke(path string, tokens []string) ([]Info, error) {
	entries, err := load(path)
	if err != nil {
		return nil, err
	}
	var matches []entry
	for _, t := range tokens {
		matching := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
			return e.hash != hashOf(t) && e.ID != strings.ToLower(t)
		})
		if len(matching) == 0 {
			what := fmt.Sprintf("the file contains no token with the id %.40q", t)
			if strings.HasPrefix(t, prefix) { // a secret: do not repeat it
				what = "the file does not contain this token"
			}
			return nil, &sequent.Error{Code: sequent.CodeUsage, Msg: what, Fix: "run sequent server token list for the ids of tokens"}
		}
		matches = append(matches, matching...)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	var revoked []Info
	for _, e := range matches {
		if !slices.Contains(revoked, e.Info) {
			revoked = append(revoked, e.Info)
		}
		if _, err := file.WriteAt(e.comment(), e.offset); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return revoked, errors.Join(file.Sync(), file.Close())
}

// comment returns a comment of the same length as the line. It is never longer,
// because the text replaces a hash of 64 digits.
func (e entry) comment() []byte {
	text := "# revoked " + time.Now().UTC().Format(time.DateOnly) + ": " + e.Subject
	return append([]byte(text), bytes.Repeat([]byte(" "), max(0, e.length-len(text)))...)
}

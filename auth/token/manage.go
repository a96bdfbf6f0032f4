package token

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// idLength is the number of hash digits in an ID.
const idLength = 12

// An Info describes a token in a file. It does not contain the token.
type Info struct {
	ID      string `json:"id"` // the first digits of the token's hash
	Subject string `json:"subject"`
}

// ID returns a name for a token that does not reveal it.
func ID(token string) string { return hashOf(token)[:idLength] }

// List returns the tokens of a file, in the order of its lines.
func List(path string) ([]Info, error) {
	entries, _, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("token: %s: %w", path, withoutPath(err))
	}
	list := make([]Info, 0, len(entries))
	for _, e := range entries {
		list = append(list, e.info())
	}
	return list, nil
}

// Revoke removes tokens from a file. Each token is given by its ID or by itself.
// If one of them is not in the file, Revoke changes nothing and returns an error.
//
// Revoke overwrites the line of a token with a comment of the same length, so a
// concurrent Add is not lost.
func Revoke(path string, tokens ...string) ([]Info, error) {
	revoked, err := revoke(path, tokens)
	if err != nil {
		return nil, fmt.Errorf("token: %s: %w", path, withoutPath(err))
	}
	return revoked, nil
}

func revoke(path string, tokens []string) ([]Info, error) {
	entries, _, err := load(path)
	if err != nil {
		return nil, err
	}
	var matches []entry
	for _, t := range tokens {
		matching := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
			return e.hexHash() != hashOf(t) && e.info().ID != strings.ToLower(t)
		})
		if len(matching) == 0 {
			if strings.HasPrefix(t, prefix) { // a secret: do not repeat it
				return nil, errors.New("the file does not contain this token")
			}
			return nil, fmt.Errorf("the file contains no token with the id %.40q", t)
		}
		matches = append(matches, matching...)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	var revoked []Info
	for _, e := range matches {
		if !slices.Contains(revoked, e.info()) {
			revoked = append(revoked, e.info())
		}
		if _, err := file.WriteAt(e.comment(), e.offset); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return revoked, errors.Join(file.Sync(), file.Close())
}

func (e entry) info() Info { return Info{ID: e.hexHash()[:idLength], Subject: e.subject} }

// comment returns a comment of the same length as the line. It is never longer,
// because the text replaces a hash of 64 digits.
func (e entry) comment() []byte {
	text := "# revoked " + time.Now().UTC().Format(time.DateOnly) + ": " + e.subject
	return append([]byte(text), bytes.Repeat([]byte(" "), max(0, e.length-len(text)))...)
}

package token

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/auth"
)

// idLength is the number of hash digits in an ID.
const idLength = 12

// A Grant is what a token is for.
type Grant struct {
	Subject string     // whose sessions; required
	Scope   auth.Scope // None means [auth.Write]
	Expires time.Time  // zero means never
	Note    string     // of one line, such as the machine that has it; at most 200 characters
}

// maxNote limits the length of a note in characters.
const maxNote = 200

func (g Grant) check() error {
	if err := checkSubject(g.Subject); err != nil {
		return err
	}
	switch {
	case !utf8.ValidString(g.Note) || strings.ContainsFunc(g.Note, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("the note contains unprintable characters")
	case utf8.RuneCountInString(g.Note) > maxNote:
		return fmt.Errorf("the note has more than %d characters", maxNote)
	}
	return nil
}

// scopePrefix is what the names of scopes begin with in tokens of a provider. A file leaves
// it out.
const scopePrefix = "sequent:"

// ParseScope returns the scope read, write or admin. The names may be whole, too, as in
// sequent:read.
func ParseScope(name string) (auth.Scope, error) {
	if s := auth.ScopePrefix("").Highest([]string{scopePrefix + strings.TrimPrefix(name, scopePrefix)}); s != auth.None {
		return s, nil
	}
	return auth.None, errors.New("the scope is not read, write or admin")
}

func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("the token expires at no time like 2027-06-30 or 2027-06-30T18:00:00Z")
}

func formatTime(t time.Time) string {
	t = t.UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}

// An Info describes a token in a file. It does not contain the token.
type Info struct {
	ID      string    `json:"id"` // the first digits of the token's hash
	Subject string    `json:"subject"`
	Scope   string    `json:"scope"`
	Expires time.Time `json:"expires,omitzero"`
	Note    string    `json:"note,omitempty"`
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

func (e entry) info() Info {
	return Info{ID: e.hexHash()[:idLength], Subject: e.subject, Scope: e.scope.String(), Expires: e.expires, Note: e.note}
}

// comment returns a comment of the same length as the line. It is never longer,
// because the text replaces a hash of 64 digits.
func (e entry) comment() []byte {
	text := "# revoked " + time.Now().UTC().Format(time.DateOnly) + ": " + e.subject
	return append([]byte(text), bytes.Repeat([]byte(" "), max(0, e.length-len(text)))...)
}

// Package token authenticates bearer tokens against a file of their hashes. The
// file never contains a token itself.
//
// Each line holds a subject and a hash, separated by the last colon:
//
//	# laptop
//	alice:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//	# the build machine
//	ci:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752
//
// After the hash a line may limit the token, and say what it is for:
//
//	bob:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752 scope=read expires=2027-06-30 # reviews
//
// The scope is read, write or admin (see [auth.Scope]), by default write. A token that
// expires on a date is valid until that day begins, in UTC; a time as in
// 2027-06-30T18:00:00Z is possible, too.
//
// Empty lines and lines that begin with # are ignored. A subject may have several
// tokens. [Add] creates a token and adds its line. [Revoke], or deleting the line,
// revokes it. A [File] reloads a changed file.
//
// A hash is the hexadecimal SHA-256 of the token. That is secure for the tokens of
// 130 random bits that Add creates, but not for passwords that a person chose.
package token

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/auth"
)

const (
	// prefix makes tokens recognisable to secret scanners.
	prefix = "sequent_"
	// maxSubject limits the length of a subject in characters.
	maxSubject = 128
	// maxNote limits the length of a note in characters.
	maxNote = 200
	// maxFile limits the size of a file in bytes. It is enough for ten thousand tokens.
	maxFile = 1 << 20
	// idLength is the number of hash digits in an ID.
	idLength = 12
	// scopePrefix is what the names of scopes begin with in tokens of a provider. A file leaves
	// it out.
	scopePrefix = "sequent:"
)

// An Info describes a token in a file. It does not contain the token.
type Info struct {
	ID      string     `json:"id"`               // the first digits of the token's hash
	Subject string     `json:"subject"`          // whose sessions
	Scope   auth.Scope `json:"scope"`            // by default [auth.Write]
	Expires time.Time  `json:"expires,omitzero"` // zero means never
	Note    string     `json:"note,omitempty"`   // of one line, such as the machine that has it; at most 200 characters
}

// ID returns a name for a token that does not reveal it.
func ID(token string) string { return hashOf(token)[:idLength] }

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// generate returns a new token, and its line without a line ending.
func generate(t Info) (token, line string, err error) {
	if err := t.check(); err != nil {
		return "", "", err
	}
	token = prefix + rand.Text()
	line = t.Subject + ":" + hashOf(token)
	if t.Scope != auth.None && t.Scope != auth.Write {
		line += " scope=" + strings.TrimPrefix(t.Scope.String(), scopePrefix)
	}
	if !t.Expires.IsZero() {
		line += " expires=" + formatTime(t.Expires)
	}
	if t.Note != "" {
		line += " # " + t.Note
	}
	return token, line, nil
}

func (t *Info) check() error {
	if err := checkSubject(t.Subject); err != nil {
		return err
	}
	switch {
	case !utf8.ValidString(t.Note) || strings.ContainsFunc(t.Note, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("the note contains unprintable characters")
	case utf8.RuneCountInString(t.Note) > maxNote:
		return fmt.Errorf("the note has more than %d characters", maxNote)
	}
	return nil
}

func checkSubject(s string) error {
	switch {
	case s == "":
		return errors.New("the subject is empty")
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("the subject contains unprintable characters")
	case utf8.RuneCountInString(s) > maxSubject:
		return fmt.Errorf("the subject has more than %d characters", maxSubject)
	case strings.TrimSpace(s) != s:
		return errors.New("the subject begins or ends with a space")
	case s[0] == '#':
		return errors.New("the subject begins with #, like a comment")
	}
	return nil
}

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

// An entry is a line of a file that holds a token.
type entry struct {
	Info
	hash   string // in hexadecimal
	offset int64  // of the line in the file
	length int    // of the line, without its line ending
}

// parse reads a file. Its errors give the number of a line but never quote it:
// the line may hold a token in place of the hash.
func parse(data []byte) ([]entry, error) {
	const byteOrderMark = "\ufeff" // added by some editors
	offset := 0
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		offset = len(byteOrderMark)
	}
	var entries []entry
	subjects := make(map[string]string)
	n := 0
	for raw := range bytes.Lines(data[offset:]) {
		n++
		e, ok, err := parseLine(string(raw))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if ok {
			if subject, dup := subjects[e.hash]; dup && subject != e.Subject {
				return nil, fmt.Errorf("line %d assigns a token that already belongs to another subject", n)
			}
			subjects[e.hash] = e.Subject
			e.offset, e.length = int64(offset), len(bytes.TrimRight(raw, "\r\n"))
			entries = append(entries, e)
		}
		offset += len(raw)
	}
	return entries, nil
}

// parseLine parses one line. It returns false for an empty line or a comment.
func parseLine(line string) (e entry, ok bool, err error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return entry{}, false, nil
	}
	parts := linePattern().FindStringSubmatch(line)
	if parts == nil {
		return entry{}, false, fmt.Errorf("no SHA-256 hash of %d hexadecimal digits after a colon; want SUBJECT:HASH", 2*sha256.Size)
	}
	e.hash = strings.ToLower(parts[2])
	e.Info = Info{ID: e.hash[:idLength], Subject: strings.TrimSpace(parts[1]), Scope: auth.Write, Note: strings.TrimSpace(parts[4])}
	if err := checkSubject(e.Subject); err != nil {
		return entry{}, false, err
	}
	limits := parts[3]
	for field := range strings.FieldsSeq(limits) {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "scope":
			if e.Scope, err = ParseScope(value); err != nil {
				return entry{}, false, err
			}
		case "expires":
			if e.Expires, err = parseTime(value); err != nil {
				return entry{}, false, err
			}
		default:
			return entry{}, false, errors.New("after the hash only scope=, expires= and a note after # may follow")
		}
	}
	return e, true, nil
}

// linePattern has the subject, which may have colons too, the hash, the limits and the note of a line.
// It is compiled for servers with a file only.
var linePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.*?):[ \t]*([0-9a-fA-F]{64})(?:[ \t]+([^#]*?))?(?:[ \t]*#(.*))?$`)
})

// find returns the entry of a token; nil for an unknown token. Its running time does not
// depend on how many characters of the token are right.
func find(entries []entry, token string) *entry {
	hash := []byte(hashOf(token))
	found := -1
	for i := range entries {
		same := subtle.ConstantTimeCompare(hash, []byte(entries[i].hash))
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return nil
	}
	return &entries[found]
}

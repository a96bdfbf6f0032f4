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
	"io"
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
	// maxFile limits the size of a file in bytes. It is enough for ten thousand tokens.
	maxFile = 1 << 20
)

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// generate returns a new token, and its line without a line ending.
func generate(grant Grant) (token, line string, err error) {
	if err := grant.check(); err != nil {
		return "", "", err
	}
	token = prefix + rand.Text()
	line = grant.Subject + ":" + hashOf(token)
	if grant.Scope != auth.None && grant.Scope != auth.Write {
		line += " scope=" + strings.TrimPrefix(grant.Scope.String(), scopePrefix)
	}
	if !grant.Expires.IsZero() {
		line += " expires=" + formatTime(grant.Expires)
	}
	if grant.Note != "" {
		line += " # " + grant.Note
	}
	return token, line, nil
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

// An entry is a line of a file that holds a token.
type entry struct {
	hash    [sha256.Size]byte
	subject string
	scope   auth.Scope
	expires time.Time // zero means never
	note    string
	offset  int64 // of the line in the file
	length  int   // of the line, without its line ending
}

func (e entry) hexHash() string { return hex.EncodeToString(e.hash[:]) }

// parse reads a file. Its errors give the number of a line but never quote it:
// the line may hold a token in place of the hash.
func parse(r io.Reader) ([]entry, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	const byteOrderMark = "\ufeff" // added by some editors
	offset := 0
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		offset = len(byteOrderMark)
	}
	var entries []entry
	subjects := make(map[[sha256.Size]byte]string)
	n := 0
	for raw := range bytes.Lines(data[offset:]) {
		n++
		e, ok, err := parseLine(string(raw))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if ok {
			if subject, dup := subjects[e.hash]; dup && subject != e.subject {
				return nil, fmt.Errorf("line %d assigns a token that already belongs to another subject", n)
			}
			subjects[e.hash] = e.subject
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
	e.subject, e.scope, e.note = strings.TrimSpace(parts[1]), auth.Write, strings.TrimSpace(parts[4])
	if err := checkSubject(e.subject); err != nil {
		return entry{}, false, err
	}
	_, _ = hex.Decode(e.hash[:], []byte(parts[2])) // of digits only
	limits := parts[3]
	for field := range strings.FieldsSeq(limits) {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "scope":
			if e.scope, err = ParseScope(value); err != nil {
				return entry{}, false, err
			}
		case "expires":
			if e.expires, err = parseTime(value); err != nil {
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
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i := range entries {
		same := subtle.ConstantTimeCompare(sum[:], entries[i].hash[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return nil
	}
	return &entries[found]
}

// Package token knows whose a bearer token is, from a file that holds the hashes
// of tokens and never a token itself.
//
// The file has a subject and a hash a line, separated by the last colon:
//
//	# laptop
//	alice:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//	# the build machine
//	ci:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752
//
// Empty lines and those that begin with # are ignored. A subject may have several
// tokens. [Add] makes a token and its line; to revoke one, delete its line. A
// [File] notices.
//
// A hash is the SHA-256 of the token in hexadecimal. That is enough for tokens of
// 130 random bits, which Add makes, and not for words that a person thought of.
package token

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// prefix lets programs that look for secrets in public places know ours.
	prefix = "sequent_"
	// maxSubject is how many characters a subject may have.
	maxSubject = 128
	// maxFile is how many bytes a file may have: some thousand tokens.
	maxFile = 1 << 20
)

// Hash returns what the file has for a token.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Mint makes a token for a subject, and the line for it, without its end.
func Mint(subject string) (token, line string, err error) {
	if err := checkSubject(subject); err != nil {
		return "", "", err
	}
	token = prefix + rand.Text()
	return token, subject + ":" + Hash(token), nil
}

func checkSubject(s string) error {
	switch {
	case s == "":
		return errors.New("a subject must not be empty")
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("a subject must be of printable characters")
	case utf8.RuneCountInString(s) > maxSubject:
		return fmt.Errorf("a subject must not have more than %d characters", maxSubject)
	case strings.TrimSpace(s) != s:
		return errors.New("a subject must not begin or end with a space")
	case s[0] == '#':
		return errors.New("a subject must not begin with #, which begins a comment")
	}
	return nil
}

// An entry is a line of the file.
type entry struct {
	hash    [sha256.Size]byte
	subject string
}

// parse reads a file. Its errors name lines and quote nothing: somebody may have
// put the token itself where its hash belongs.
func parse(r io.Reader) ([]entry, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // some editors begin a file with it
	var entries []entry
	owners := make(map[[sha256.Size]byte]string)
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxFile+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		colon := strings.LastIndexByte(line, ':')
		if colon < 0 {
			return nil, fmt.Errorf("line %d has no colon: want SUBJECT:HASH", n)
		}
		e := entry{subject: strings.TrimSpace(line[:colon])}
		if err := checkSubject(e.subject); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		hash := strings.TrimSpace(line[colon+1:])
		if len(hash) != hex.EncodedLen(sha256.Size) {
			return nil, fmt.Errorf("line %d: what follows the last colon is not the SHA-256 of a token, %d hexadecimal digits",
				n, hex.EncodedLen(sha256.Size))
		}
		if _, err := hex.Decode(e.hash[:], []byte(hash)); err != nil {
			return nil, fmt.Errorf("line %d: the hash is not hexadecimal", n)
		}
		if owner, ok := owners[e.hash]; ok && owner != e.subject {
			return nil, fmt.Errorf("line %d gives another subject a token that is already somebody's", n)
		}
		owners[e.hash] = e.subject
		entries = append(entries, e)
	}
	return entries, lines.Err()
}

// find returns whose token it is, "" for nobody's. The time it takes says nothing
// about how much of a token was right.
func find(entries []entry, token string) string {
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i := range entries {
		same := subtle.ConstantTimeCompare(sum[:], entries[i].hash[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return ""
	}
	return entries[found].subject
}

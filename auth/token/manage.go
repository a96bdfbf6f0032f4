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

// idLength is how many digits of a hash name its token among those of a file.
const idLength = 12

// An Info is what a file tells of a token. The token itself is in no file.
type Info struct {
	ID      string `json:"id"` // the beginning of its hash
	Subject string `json:"subject"`
}

// ID returns what names a token without giving it away.
func ID(token string) string { return Hash(token)[:idLength] }

// List returns the tokens of a file, in its order.
func List(path string) ([]Info, error) {
	lines, err := scan(path)
	if err != nil {
		return nil, fmt.Errorf("token: %s: %w", path, plain(err))
	}
	list := make([]Info, 0, len(lines))
	for _, l := range lines {
		list = append(list, l.info())
	}
	return list, nil
}

// Revoke makes tokens of a file worthless. Each is named by its ID, or by the
// token itself. If one is not there nothing is changed.
//
// Where its line was there is a comment of the same length afterwards, so that
// whoever adds a line at the same time loses nothing.
func Revoke(path string, tokens ...string) ([]Info, error) {
	var gone []Info
	err := func() error {
		lines, err := scan(path)
		if err != nil {
			return err
		}
		var doomed []line
		for _, t := range tokens {
			found := slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.hash != Hash(t) && l.info().ID != strings.ToLower(t) })
			if len(found) == 0 {
				if strings.HasPrefix(t, prefix) {
					return errors.New("it has no such token")
				}
				return fmt.Errorf("it has no token %.40q", t)
			}
			doomed = append(doomed, found...)
		}
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		for _, l := range doomed {
			if !slices.Contains(gone, l.info()) {
				gone = append(gone, l.info())
			}
			if _, err := file.WriteAt(l.comment(), l.offset); err != nil {
				return errors.Join(err, file.Close())
			}
		}
		return errors.Join(file.Sync(), file.Close())
	}()
	if err != nil {
		return nil, fmt.Errorf("token: %s: %w", path, plain(err))
	}
	return gone, nil
}

// A line is one of a file that has a token.
type line struct {
	subject, hash string
	offset        int64 // of the line in the file
	length        int   // without its end
}

func (l line) info() Info { return Info{ID: l.hash[:idLength], Subject: l.subject} }

// comment returns what the line becomes: as long as it, and shorter than it
// would be with the hash.
func (l line) comment() []byte {
	text := "# revoked " + time.Now().UTC().Format(time.DateOnly) + ": " + l.subject
	return append([]byte(text), bytes.Repeat([]byte(" "), max(0, l.length-len(text)))...)
}

// scan returns the lines of a file that Open would read.
func scan(path string) ([]line, error) {
	if _, _, err := load(path); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []line
	offset := 0
	for raw := range bytes.Lines(data) {
		text := strings.TrimSpace(strings.TrimPrefix(string(raw), "\ufeff"))
		if colon := strings.LastIndexByte(text, ':'); text != "" && text[0] != '#' && colon >= 0 {
			lines = append(lines, line{
				subject: strings.TrimSpace(text[:colon]),
				hash:    strings.ToLower(strings.TrimSpace(text[colon+1:])),
				offset:  int64(offset), length: len(bytes.TrimRight(raw, "\r\n")),
			})
		}
		offset += len(raw)
	}
	return lines, nil
}

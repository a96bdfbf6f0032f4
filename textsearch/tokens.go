// Package textsearch implements searches in texts: the query language, what an index
// contains, ranking, pages and excerpts. All stores and the vault use it, so that they
// find the same in the same order.
//
// [Parse] parses a query. A store selects candidates, with or without an index, and adds
// them to a [Ranking], which checks and orders them. An index contains the result of
// [AppendTokens] or [TSVector] and is asked with [Query.FTS5] or [Query.TSQuery]:
//
//	r := query.Rank()
//	for _, all := range []bool{true, false} {
//		// Read the newest candidates of query.FTS5(all) and r.Add each, until
//		// r.Len() is MaxCandidates.
//	}
//	page, more := r.Best(cursor.Offset, limit)
//
// A word is a run of letters and digits, in lower case and without diacritics.
// Scripts without spaces between words (Han, Hiragana, Katakana, Hangul, Thai, Lao,
// Khmer, Myanmar) have one token per character, and queries ask for pairs of them.
package textsearch

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxToken is the maximum length of a token, in bytes. Longer runs of letters, such
// as encoded data, are split into several tokens, in texts and queries alike.
const maxToken = 128

// Tokens returns the words of text in order. They are valid UTF-8 even if text is
// not, and have at most 128 bytes each: longer runs of letters are split.
func Tokens(text string) []string {
	var out []string
	for sc := newScanner(text); sc.next(); {
		out = append(out, string(sc.token))
	}
	return out
}

// Unspaced reports whether token is one character of a script without spaces
// between words. Such a token alone says little about a text.
func Unspaced(token string) bool {
	r, size := utf8.DecodeRuneInString(token)
	return size == len(token) && kindOf(r) == single
}

// A scanner iterates over the tokens of a text without an allocation for each.
type scanner struct {
	text       string
	pos        int
	token      []byte // the current token; overwritten by next
	start, end int    // position of the current token in text, in bytes
}

// newScanner returns a scanner of text in its composed form: some systems store accents
// and Hangul decomposed.
func newScanner(text string) scanner {
	return scanner{text: norm.NFC.String(text)}
}

// next moves to the next token and reports whether there is one.
func (sc *scanner) next() bool {
	sc.token = sc.token[:0]
	for sc.pos < len(sc.text) {
		if c := sc.text[sc.pos]; c < utf8.RuneSelf {
			low := ascii[c]
			if low == 0 {
				if len(sc.token) > 0 {
					return true
				}
				sc.pos++
				continue
			}
			if len(sc.token) >= maxToken {
				return true
			}
			sc.grow(1)
			sc.token = append(sc.token, low)
			continue
		}
		r, size := utf8.DecodeRuneInString(sc.text[sc.pos:])
		switch k := kindOf(r); {
		case k == ignored:
			if len(sc.token) > 0 {
				sc.end = sc.pos + size
			}
			sc.pos += size
		case k != letter && len(sc.token) > 0, len(sc.token) > maxToken-maxFold:
			return true
		case k == separator:
			sc.pos += size
		default:
			sc.grow(size)
			sc.token = appendFolded(sc.token, r)
			if k == single {
				return true
			}
		}
	}
	return len(sc.token) > 0
}

// grow adds the next size bytes of the text to the current token.
func (sc *scanner) grow(size int) {
	if len(sc.token) == 0 {
		sc.start = sc.pos
	}
	sc.pos += size
	sc.end = sc.pos
}

// A kind is the role of a character in splitting a text into words.
type kind int

const (
	separator kind = iota
	letter         // part of a word
	single         // a word of its own
	ignored        // skipped
)

func kindOf(r rune) kind {
	switch {
	case unicode.Is(dropped, r):
		return ignored
	case !unicode.In(r, unicode.L, unicode.M, unicode.N): // utf8.RuneError too
		return separator
	case unicode.Is(unspaced, r):
		return single
	}
	return letter
}

// ascii maps ASCII letters and digits to lower case, and other characters to 0.
var ascii = func() (t [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z':
			t[c] = c
		case 'A' <= c && c <= 'Z':
			t[c] = c + 'a' - 'A'
		}
	}
	return t
}()

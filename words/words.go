// Package words implements the query language of searches and their ranking. All
// stores use it, so that they find the same thoughts in the same order.
//
// [Tokens] splits a text into words, [Parse] parses a query, a [Matcher] counts
// the words of a query in a text, [Corpus.Score] computes the BM25 score of a
// match, and [Excerpt] shows where it is. A store with an index fills it with these
// tokens and no others; [Query.FTS5], [Query.TSQuery] and [TSVector] are for
// indexes of SQLite and PostgreSQL. Package store/ranking splits results into pages.
//
// A word is a run of letters and digits, in lower case and without diacritics.
// Scripts without spaces between words (Han, Hiragana, Katakana, Hangul, Thai, Lao,
// Khmer, Myanmar) have one token per character, so that a phrase finds any part of
// such a text.
package words

import (
	"unicode"
	"unicode/utf8"
)

// maxToken is the maximum length of a token, in bytes. Longer runs of letters, such
// as encoded data, are split into several tokens, in texts and queries alike.
const maxToken = 128

// Tokens returns the words of text in order. They are valid UTF-8 even if text is
// not, and have at most 128 bytes each: longer runs of letters are split.
func Tokens(text string) []string {
	var out []string
	for sc := (scanner{text: text}); sc.next(); {
		out = append(out, string(sc.token))
	}
	return out
}

// AppendTokens appends the words of text to dst, separated by spaces, and returns
// dst and the number of words. It allocates less than [Tokens].
func AppendTokens(dst []byte, text string) ([]byte, int) {
	n := 0
	for sc := (scanner{text: text}); sc.next(); n++ {
		if n > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, sc.token...)
	}
	return dst, n
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

func (sc *scanner) reset(text string) {
	sc.text, sc.pos, sc.token = text, 0, sc.token[:0]
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
		case r == utf8.RuneError && size == 1, k == separator:
			if len(sc.token) > 0 {
				return true
			}
			sc.pos += size
		case k == ignored:
			if len(sc.token) > 0 {
				sc.end = sc.pos + size
			}
			sc.pos += size
		case k == single:
			if len(sc.token) > 0 {
				return true
			}
			sc.one(r, size)
			return true
		default:
			if len(sc.token) > maxToken-8 { // no rune folds to more bytes
				return true
			}
			sc.grow(size)
			sc.token = appendFolded(sc.token, r)
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

// one makes a token of the character r and the characters that combine with it.
func (sc *scanner) one(r rune, size int) {
	sc.grow(size)
	for sc.pos < len(sc.text) {
		mark, size := utf8.DecodeRuneInString(sc.text[sc.pos:])
		if both, ok := compose(r, mark); ok {
			r = both
		} else if mark < utf8.RuneSelf || kindOf(mark) != ignored {
			break
		}
		sc.pos += size
		sc.end = sc.pos
	}
	sc.token = utf8.AppendRune(sc.token, r)
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
	case !unicode.In(r, unicode.L, unicode.M, unicode.N):
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

// unspaced contains the scripts without spaces between words, and Hangul, which
// builds long words of short ones. It lists blocks because marks that several
// scripts share belong to none.
var unspaced = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0E00, 0x0EFF, 1}, // Thai, Lao
		{0x1000, 0x109F, 1}, // Myanmar
		{0x1100, 0x11FF, 1}, // Hangul jamo
		{0x1780, 0x17FF, 1}, // Khmer
		{0x2E80, 0x9FFF, 1}, // Han, Hiragana, Katakana, compatibility jamo
		{0xA960, 0xA97F, 1}, // Hangul jamo
		{0xA9E0, 0xA9FF, 1}, // Myanmar
		{0xAA60, 0xAA7F, 1}, // Myanmar
		{0xAC00, 0xD7FF, 1}, // Hangul
		{0xF900, 0xFAFF, 1}, // Han, compatibility
		{0xFF66, 0xFFDC, 1}, // half-width Katakana and Hangul
	},
	R32: []unicode.Range32{
		{0x1AFF0, 0x1B16F, 1}, // Kana supplements
		{0x20000, 0x3FFFF, 1}, // Han, extensions
	},
}

// dropped contains marks and invisible characters that people do not type in a
// query: accents, vowel points, soft hyphens, joiners, selectors.
var dropped = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00AD, 0x00AD, 1}, // soft hyphen
		{0x0300, 0x036F, 1}, // combining diacritics
		{0x0483, 0x0487, 1}, // Cyrillic
		{0x0591, 0x05BD, 1}, // Hebrew points
		{0x05BF, 0x05BF, 1},
		{0x05C1, 0x05C2, 1},
		{0x05C4, 0x05C5, 1},
		{0x05C7, 0x05C7, 1},
		{0x0610, 0x061A, 1}, // Arabic marks
		{0x0640, 0x0640, 1}, // tatweel
		{0x064B, 0x065F, 1},
		{0x0670, 0x0670, 1},
		{0x06D6, 0x06DC, 1},
		{0x06DF, 0x06E8, 1},
		{0x06EA, 0x06ED, 1},
		{0x1AB0, 0x1AFF, 1}, // combining diacritics
		{0x1DC0, 0x1DFF, 1},
		{0x200B, 0x200F, 1}, // zero-width characters, direction marks
		{0x2060, 0x2060, 1}, // word joiner
		{0x20D0, 0x20FF, 1}, // combining marks for symbols
		{0x3099, 0x309A, 1}, // voicing marks without a kana before them
		{0xFE00, 0xFE0F, 1}, // variation selectors
		{0xFE20, 0xFE2F, 1},
		{0xFEFF, 0xFEFF, 1},
	},
	R32: []unicode.Range32{
		{0xE0100, 0xE01EF, 1}, // variation selectors
	},
}

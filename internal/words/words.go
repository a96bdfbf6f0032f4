// Package words says what a word is, for every kind of search in the module.
//
// [Tokens] cuts a text into words, [Parse] reads what a person types into a
// search box, a [Matcher] tells whether and how often a text matches, and
// [Corpus.Score] ranks matches by BM25. Stores that keep an index feed it
// these tokens and nothing else, so that every store finds the same thoughts
// in the same order.
//
// Words are runs of letters and digits, in lower case and without diacritics.
// Scripts that write no spaces between words (Han, Hiragana, Katakana, Hangul,
// Thai, Lao, Khmer, Myanmar) give one token per character: any part of such a
// text is then found as a phrase.
package words

import (
	"unicode"
	"unicode/utf8"
)

// maxToken bounds a token, in bytes. Longer runs of letters, such as encoded
// data, are cut into several tokens, in texts and queries alike.
const maxToken = 128

// Tokens returns the words of text in order. They are valid UTF-8 whatever
// text holds.
func Tokens(text string) []string {
	var out []string
	for sc := (scanner{text: text}); sc.next(); {
		out = append(out, string(sc.token))
	}
	return out
}

// AppendTokens appends the words of text to dst, with spaces between them, and
// returns it and the number of words.
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

// Unspaced reports whether a token is one character of a script that writes no
// spaces between words, so that it says little by itself.
func Unspaced(token string) bool {
	r, size := utf8.DecodeRuneInString(token)
	return size == len(token) && kindOf(r) == single
}

// A scanner walks over the tokens of text without allocating for each.
type scanner struct {
	text       string
	pos        int
	token      []byte // the current token; overwritten by next
	start, end int    // where the current token stands in text
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

// grow takes the next size bytes of the text into the current token.
func (sc *scanner) grow(size int) {
	if len(sc.token) == 0 {
		sc.start = sc.pos
	}
	sc.pos += size
	sc.end = sc.pos
}

// one makes a token of the single character r and of what combines with it.
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

// A kind is what a character means for the cutting of words.
type kind int

const (
	separator kind = iota
	letter         // part of a word
	single         // a word by itself
	ignored        // as if it were not there
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

// ascii gives the lower-case form of the ASCII letters and digits, and 0 for
// everything else.
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

// unspaced are the blocks of the scripts that write no spaces between words,
// or, for Hangul, build long words of short ones. Blocks rather than scripts,
// because the marks these scripts share belong to none.
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

// dropped are the marks and invisible characters that a person who searches
// does not type: accents, vowel points, soft hyphens, joiners, selectors.
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

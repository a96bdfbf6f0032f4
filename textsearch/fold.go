package textsearch

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxFold is the maximum length of a folded character, in bytes.
const maxFold = 8

// appendFolded appends r in lower case and without diacritics.
func appendFolded(dst []byte, r rune) []byte {
	if kindOf(r) == single { // decomposed, Hangul would be other characters
		return utf8.AppendRune(dst, r)
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	parts := norm.NFKD.Properties(buf[:n]).Decomposition()
	if len(parts) == 0 || len(parts) > maxFold {
		return appendLower(dst, r)
	}
	for _, part := range string(parts) {
		if kindOf(part) == letter {
			dst = appendLower(dst, part)
		}
	}
	return dst
}

func appendLower(dst []byte, r rune) []byte {
	r = unicode.ToLower(r)
	if s, ok := undecomposed[r]; ok {
		return append(dst, s...)
	}
	return utf8.AppendRune(dst, r)
}

// undecomposed are the letters that Unicode does not decompose and that people type
// without the mark or as two letters.
var undecomposed = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'þ': "th", 'ø': "o", 'ð': "d", 'đ': "d", 'ł': "l",
	'ħ': "h", 'ŧ': "t", 'ı': "i", 'ȷ': "j", 'ƀ': "b", 'ƶ': "z", 'ς': "σ",
}

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

package jsonscan

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns the string that a value is, and false if it is not a string. Half
// a surrogate pair becomes U+FFFD, as in encoding/json.
func Text(value []byte) (string, bool) {
	inner, ok := quoted(value)
	if !ok {
		return "", false
	}
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	return unescape(inner), true
}

// TextBytes is Text that shares the memory of the value where it can.
func TextBytes(value []byte) ([]byte, bool) {
	inner, ok := quoted(value)
	if ok && bytes.IndexByte(inner, '\\') >= 0 {
		inner = []byte(unescape(inner))
	}
	return inner, ok
}

func quoted(value []byte) (inner []byte, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

// Number reports whether text is a JSON number and nothing else.
func Number(text []byte) bool { return len(text) > 0 && numberLen(text) == len(text) }

// unescape resolves the escapes in the inside of a string. In text that was not
// checked, an invalid escape becomes U+FFFD.
func unescape(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			out.Write(b)
			return out.String()
		}
		out.Write(b[:i])
		b = b[i:]
		n, c := 2, byte(0)
		if len(b) > 1 {
			c = b[1]
		}
		switch c {
		case '"', '\\', '/':
			out.WriteByte(c)
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 't':
			out.WriteByte('\t')
		default:
			var r rune
			r, n = codeUnits(b)
			out.WriteRune(r)
		}
		b = b[n:]
	}
}

// codeUnits returns the character of the escape that b begins with, which is one
// UTF-16 code unit or a surrogate pair, and its length.
func codeUnits(b []byte) (r rune, n int) {
	if escapeLen(b) != 6 {
		return utf8.RuneError, 1
	}
	r = hex4(b[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if rest := b[6:]; escapeLen(rest) == 6 {
		if pair := utf16.DecodeRune(r, hex4(rest[2:6])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// escapeLen returns the length of the escape that b begins with, and 0 if it
// begins with none.
func escapeLen(b []byte) int {
	if len(b) < 2 || b[0] != '\\' {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hex4(b[2:6]) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 returns the value of four hexadecimal digits, or -1.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return -1
		}
	}
	return r
}

// numberLen returns the length of the number that b begins with, and 0 if it
// begins with none.
func numberLen(b []byte) int {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if n := digits(b[i:]); n > 0 {
		i += n
	} else {
		return 0
	}
	if i < len(b) && b[i] == '.' {
		n := digits(b[i+1:])
		if n == 0 {
			return 0
		}
		i += 1 + n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := digits(b[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
	return i
}

func digits(b []byte) int {
	n := 0
	for n < len(b) && '0' <= b[n] && b[n] <= '9' {
		n++
	}
	return n
}

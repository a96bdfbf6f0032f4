// Package jsonscan splits JSON text in memory into the bytes of its values, in order and without
// building them. The text is one that encoding/json accepts; of other text the functions return
// something, and none panics.
package jsonscan

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Space has the white space of JSON.
const Space = " \t\r\n"

// Members yields the names and the values of an object, in order, also names that occur twice.
// It yields nothing for another value. Names are without quotes and escapes.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		var name []byte
		for part := range parts(object, '{') {
			if name == nil {
				name = part
				continue
			}
			text, ok := Text(name)
			if !ok || !yield(text, part) {
				return
			}
			name = nil
		}
	}
}

// Elements yields the values of an array. It yields nothing for another value.
func Elements(array []byte) iter.Seq[[]byte] { return parts(array, '[') }

// parts yields the values of an array, or the names and values of an object.
func parts(text []byte, open byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		text := bytes.Trim(text, Space)
		if len(text) < 2 || text[0] != open {
			return
		}
		for text = text[1 : len(text)-1]; ; {
			text = bytes.TrimLeft(text, Space+":,")
			n := valueLen(text)
			if n == 0 || !yield(text[:n:n]) {
				return
			}
			text = text[n:]
		}
	}
}

// valueLen returns the length of the value that text begins with.
func valueLen(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringLen(text[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ' ', '\n', '\t', '\r', ',', ':':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return len(text)
}

// stringLen returns the length of the string that text begins with.
func stringLen(text []byte) int {
	for end := 1; ; end++ {
		n := bytes.IndexByte(text[end:], '"')
		if n < 0 {
			return len(text)
		}
		end += n
		begin := end // of the backslashes before the quotation mark
		for text[begin-1] == '\\' {
			begin--
		}
		if (end-begin)%2 == 0 { // otherwise it is escaped
			return end + 1
		}
	}
}

// Text returns the string that a value is, and false if it is not a string. It shares the
// memory of the value if that has no escapes. Half a surrogate pair becomes U+FFFD, as in
// encoding/json.
func Text(value []byte) ([]byte, bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1], true
	}
	var text string
	err := json.Unmarshal(value, &text)
	return []byte(text), err == nil
}

// LoneSurrogate reports whether a text has an escape of half a surrogate pair. It stands for no
// character, and no valid UTF-8 can hold it.
func LoneSurrogate(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || len(text) < i+2 {
			return false
		}
		first := codeUnit(text[i:])
		text = text[i+2:]
		if !utf16.IsSurrogate(first) {
			continue
		}
		if text = text[4:]; utf16.DecodeRune(first, codeUnit(text)) == utf8.RuneError {
			return true
		}
		text = text[6:]
	}
}

// codeUnit returns the UTF-16 code unit of the escape that text begins with, or -1.
func codeUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

package tool

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deep arguments may nest. No tool of ours nests at all, so
// this is for unknown properties only.
const maxDepth = 64

// A scanner walks over JSON once, checks its syntax, and remembers places
// instead of building values. When a method fails it says why in fault, and
// every later one fails too.
type scanner struct {
	data  []byte
	pos   int
	depth int
	begun bool // a member was read
	wide  bool // there were bytes beyond ASCII
	fault string
}

// A span is a place in the data. That of a string excludes its quotes if it is
// a key, and includes them if it is a value.
type span struct {
	start, end int
	escaped    bool // a string with escapes in it
}

func (s *scanner) fail() bool {
	if s.fault == "" {
		if s.pos >= len(s.data) {
			s.fault = fmt.Sprintf("it ends too early, after %d bytes", len(s.data))
		} else {
			r, _ := utf8.DecodeRune(s.data[s.pos:])
			s.fault = fmt.Sprintf("unexpected %q at byte %d", r, s.pos)
		}
	}
	return false
}

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// open begins an object whose members follow.
func (s *scanner) open() bool {
	if s.peek() != '{' {
		return s.fail()
	}
	s.pos++
	s.begun = false
	return true
}

// member reads the next member of the opened object into key and val. It is
// false at the end of the object and on a fault.
func (s *scanner) member(key, val *span) bool {
	switch c := s.peek(); {
	case c == '}':
		s.pos++
		return false
	case s.begun && c == ',':
		s.pos++
		c = s.peek()
		if c != '"' {
			return s.fail()
		}
	case s.begun || c != '"':
		return s.fail()
	}
	s.begun = true
	key.start = s.pos + 1
	if !s.str(&key.escaped) {
		return false
	}
	key.end = s.pos - 1
	if s.peek() != ':' {
		return s.fail()
	}
	s.pos++
	s.peek()
	val.start, val.escaped = s.pos, false
	if !s.value(&val.escaped) {
		return false
	}
	val.end = s.pos
	return true
}

// end checks that nothing but white space is left.
func (s *scanner) end() bool {
	if s.peek(); s.pos < len(s.data) {
		return s.fail()
	}
	return true
}

// value skips a value; if it is a string it reports whether it has escapes.
func (s *scanner) value(escaped *bool) bool {
	switch c := s.peek(); c {
	case '"':
		return s.str(escaped)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	case '{', '[':
		return s.nested(c)
	default:
		n := numberLen(s.data[s.pos:])
		if n == 0 {
			return s.fail()
		}
		s.pos += n
		return true
	}
}

func (s *scanner) word(w string) bool {
	for i := range len(w) {
		if s.pos >= len(s.data) || s.data[s.pos] != w[i] {
			return s.fail()
		}
		s.pos++
	}
	return true
}

// nested skips an object or an array.
func (s *scanner) nested(open byte) bool {
	if s.depth++; s.depth > maxDepth {
		s.fault = fmt.Sprintf("nested more than %d deep", maxDepth)
		return false
	}
	closing := open + 2 // in ASCII, for brackets as for braces
	s.pos++
	var escaped bool
	for first := true; ; first = false {
		c := s.peek()
		if first && c == closing {
			break
		}
		if open == '{' {
			if c != '"' {
				return s.fail()
			}
			if !s.str(&escaped) {
				return false
			}
			if s.peek() != ':' {
				return s.fail()
			}
			s.pos++
		}
		if !s.value(&escaped) {
			return false
		}
		if c = s.peek(); c == closing {
			break
		}
		if c != ',' {
			return s.fail()
		}
		s.pos++
	}
	s.pos++
	s.depth--
	return true
}

// str skips a string, which begins at the current byte.
func (s *scanner) str(escaped *bool) bool {
	*escaped = false
	data, i := s.data, s.pos+1
	var wide byte
	for i < len(data) {
		c := data[i]
		switch {
		case c == '"':
			s.wide = s.wide || wide >= utf8.RuneSelf
			s.pos = i + 1
			return true
		case c == '\\':
			*escaped = true
			n := escapeLen(data[i:])
			if n == 0 {
				s.fault = fmt.Sprintf("bad escape in a string at byte %d", i)
				return false
			}
			i += n
		case c < ' ':
			s.pos = i
			return s.fail()
		default:
			wide |= c
			i++
		}
	}
	s.pos = len(data)
	return s.fail()
}

// escapeLen returns the length of the escape that b begins with, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
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

// text returns what the inside of a string says.
func (s *scanner) text(in span) string {
	if !in.escaped {
		return string(s.data[in.start:in.end])
	}
	return unescape(s.data[in.start:in.end])
}

// unescape resolves the escapes of the inside of a string, which str has found
// to be well-formed. Surrogates without their other half become U+FFFD.
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
		switch c := b[1]; c {
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
		case 'u':
			r := hex4(b[2:6])
			b = b[4:]
			if utf16.IsSurrogate(r) {
				pair := rune(utf8.RuneError)
				if len(b) >= 8 && b[2] == '\\' && b[3] == 'u' {
					pair = utf16.DecodeRune(r, hex4(b[4:8]))
				}
				if r = pair; r != utf8.RuneError {
					b = b[6:]
				}
			}
			out.WriteRune(r)
		default:
			out.WriteByte(c)
		}
		b = b[2:]
	}
}

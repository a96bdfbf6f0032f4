// Package jsonscan reads JSON text that is in memory. A [Scanner] goes through
// the text once and returns names and values as slices of it; it builds no
// values and allocates nothing.
//
// It reads RFC 8259 as encoding/json does, with two differences: text that is
// not valid UTF-8 is refused, and the nesting limit is the caller's.
package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrUTF8 is the error of text that is JSON but not valid UTF-8.
var ErrUTF8 = errors.New("not valid UTF-8")

// A SyntaxError describes text that is not JSON.
type SyntaxError struct {
	Offset int // bytes before the error
	Reason string
}

// Error returns the reason, which includes the offset.
func (e *SyntaxError) Error() string { return e.Reason }

// A Scanner reads one JSON value from the outside in. Its methods read from the
// current position and advance it:
//
//	s := jsonscan.New(text, maxDepth)
//	if s.Object() {
//		for s.Member() {
//			switch string(s.Name()) {
//			case "id":
//				id = s.Value()
//			default:
//				s.Value() // skips it
//			}
//		}
//	}
//	err := s.End()
//
// After each call of Member and Element the caller reads exactly one value, with
// Value, Object or Array. After an error every method returns false or nil, and
// End returns the error. A name that occurs twice is returned twice.
//
// The zero Scanner reads an empty text. A Scanner shares the memory of its text.
type Scanner struct {
	data     []byte
	pos      int
	depth    int
	maxDepth int
	name     []byte
	inside   bool // a member or element of the current object or array was read
	escaped  bool // the last string has escapes
	wide     bool // there are bytes beyond ASCII
	lone     bool // there is half a surrogate pair
	checked  bool
	err      error
}

// New returns a Scanner of text in which objects and arrays may be nested up to
// maxDepth levels.
func New(text []byte, maxDepth int) Scanner { return Scanner{data: text, maxDepth: maxDepth} }

// NewChecked returns a Scanner of a value that another Scanner has returned. It
// skips strings without checking their escapes and their encoding again. Text
// that was not checked gives wrong results, and no panic.
func NewChecked(text []byte, maxDepth int) Scanner {
	return Scanner{data: text, maxDepth: maxDepth, checked: true}
}

// Kind skips white space and returns the first byte of the next token: one of
// {}[]",:tfn- or a digit if the text is valid, and 0 at its end.
func (s *Scanner) Kind() byte {
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

// Object enters an object. It returns false if the next value is not one.
func (s *Scanner) Object() bool { return s.enter('{') }

// Array enters an array. It returns false if the next value is not one.
func (s *Scanner) Array() bool { return s.enter('[') }

func (s *Scanner) enter(open byte) bool {
	if s.err != nil || s.Kind() != open {
		return s.fail()
	}
	if s.depth++; s.depth > s.maxDepth {
		return s.failDepth()
	}
	s.pos++
	s.inside = false
	return true
}

// Member reads the name of the object's next member. At the end of the object it
// leaves it and returns false.
func (s *Scanner) Member() bool {
	if !s.next('}') {
		return false
	}
	if s.Kind() != '"' {
		return s.fail()
	}
	start := s.pos + 1
	if !s.text() {
		return false
	}
	s.name = s.data[start : s.pos-1]
	if s.escaped {
		s.name = []byte(unescape(s.name))
	}
	if s.Kind() != ':' {
		return s.fail()
	}
	s.pos++
	return true
}

// Name returns the name that Member has read, without quotes and escapes.
func (s *Scanner) Name() []byte { return s.name }

// Element moves to the array's next element. At the end of the array it leaves
// it and returns false.
func (s *Scanner) Element() bool { return s.next(']') }

// next reads up to the next member or element, or past the closing bracket.
func (s *Scanner) next(closing byte) bool {
	if s.err != nil {
		return false
	}
	switch c := s.Kind(); {
	case c == closing:
		s.pos++
		s.depth--
		s.inside = true // of what is around it
		return false
	case !s.inside:
	case c != ',':
		return s.fail()
	default:
		s.pos++
		if s.Kind() == closing {
			return s.fail()
		}
	}
	s.inside = true
	return true
}

// Value reads a value and returns its text, without the white space around it.
// It returns nil if there is none.
func (s *Scanner) Value() []byte {
	if s.err != nil {
		return nil
	}
	s.Kind()
	start := s.pos
	if !s.skip() {
		return nil
	}
	return s.data[start:s.pos:s.pos]
}

// End returns the error that stopped the Scanner. If there is none, it checks
// that nothing but white space is left and that the text is valid UTF-8.
func (s *Scanner) End() error {
	if s.err == nil {
		if s.Kind(); s.pos < len(s.data) {
			s.fail()
		} else if s.wide && !utf8.Valid(s.data) {
			s.err = ErrUTF8
		}
	}
	return s.err
}

// LoneSurrogate reports whether a string so far has an escape of half a surrogate
// pair. It stands for no character, and no valid UTF-8 can hold it. A Scanner of
// checked text does not look for it.
func (s *Scanner) LoneSurrogate() bool { return s.lone }

// skip reads a value.
func (s *Scanner) skip() bool {
	switch c := s.Kind(); c {
	case '"':
		return s.text()
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

func (s *Scanner) word(w string) bool {
	for i := range len(w) {
		if s.pos >= len(s.data) || s.data[s.pos] != w[i] {
			return s.fail()
		}
		s.pos++
	}
	return true
}

// nested skips an object or an array.
func (s *Scanner) nested(open byte) bool {
	if s.depth++; s.depth > s.maxDepth {
		return s.failDepth()
	}
	closing := open + 2 // in ASCII, for brackets as for braces
	s.pos++
	for first := true; ; first = false {
		c := s.Kind()
		if first && c == closing {
			break
		}
		if open == '{' {
			if c != '"' {
				return s.fail()
			}
			if !s.text() {
				return false
			}
			if s.Kind() != ':' {
				return s.fail()
			}
			s.pos++
		}
		if !s.skip() {
			return false
		}
		if c = s.Kind(); c == closing {
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

// text skips a string, which begins at the current byte.
func (s *Scanner) text() bool {
	if s.checked {
		return s.checkedText()
	}
	s.escaped = false
	data, i := s.data, s.pos+1
	var wide byte
	for i < len(data) {
		c := data[i]
		if !special[c] {
			wide |= c
			i++
			continue
		}
		switch c {
		case '"':
			s.wide = s.wide || wide >= utf8.RuneSelf
			s.pos = i + 1
			return true
		case '\\':
			s.escaped = true
			n := escapeLen(data[i:])
			if n == 0 {
				s.pos = i
				s.err = &SyntaxError{Offset: i, Reason: fmt.Sprintf("bad escape in a string at byte %d", i)}
				return false
			}
			if n == 6 {
				n = s.codeUnits(data[i:])
			}
			i += n
		default:
			s.pos = i
			return s.fail()
		}
	}
	s.pos = len(data)
	return s.fail()
}

// codeUnits returns the length of the one or two escapes of the character that b
// begins with.
func (s *Scanner) codeUnits(b []byte) int {
	r, n := codeUnits(b)
	s.lone = s.lone || r == utf8.RuneError && utf16.IsSurrogate(hex4(b[2:6]))
	return n
}

// special has the bytes that a string cannot hold as they are.
var special = [256]bool{
	0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true, 13: true, 14: true, 15: true,
	16: true, 17: true, 18: true, 19: true, 20: true, 21: true, 22: true, 23: true, 24: true, 25: true, 26: true, 27: true, 28: true, 29: true, 30: true, 31: true,
	'"': true, '\\': true,
}

// checkedText is text for strings that are known to be valid.
func (s *Scanner) checkedText() bool {
	start := s.pos + 1
	for i := start; ; {
		n := bytes.IndexByte(s.data[i:], '"')
		if n < 0 {
			s.pos = len(s.data)
			return s.fail()
		}
		i += n
		begin := i
		for begin > start && s.data[begin-1] == '\\' {
			begin--
		}
		if (i-begin)%2 == 0 {
			s.pos = i + 1
			s.escaped = bytes.IndexByte(s.data[start:i], '\\') >= 0
			return true
		}
		i++
	}
}

// fail records that the text is wrong at the current byte.
func (s *Scanner) fail() bool {
	switch {
	case s.err != nil:
	case s.pos >= len(s.data):
		s.err = &SyntaxError{Offset: len(s.data), Reason: fmt.Sprintf("it ends too early, after %d bytes", len(s.data))}
	default:
		r, _ := utf8.DecodeRune(s.data[s.pos:])
		s.err = &SyntaxError{Offset: s.pos, Reason: fmt.Sprintf("unexpected %q at byte %d", r, s.pos)}
	}
	return false
}

func (s *Scanner) failDepth() bool {
	s.err = &SyntaxError{Offset: s.pos, Reason: fmt.Sprintf("nested more than %d deep", s.maxDepth)}
	return false
}

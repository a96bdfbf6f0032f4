package jsonscan

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Pieces decodes a text that is a member of a JSON object while the object arrives in
// pieces. It tolerates everything, because the object may end anywhere: what is not JSON
// leads to no text or to a wrong one, and never to an error.
type Pieces struct {
	name  string // of the member
	state piecesState
	depth int // of open objects and arrays

	text   strings.Builder // the string that is being read, if it is a name
	last   string          // the last name at depth 1
	isName bool            // the string is a name at depth 1
	wanted bool            // the string is the text of the member
	value  bool            // a colon came: the next string is a value
	held   []byte          // an escape or a rune that is incomplete
}

type piecesState int

const (
	beforeObject piecesState = iota
	outside                  // between strings
	inside                   // in a string
	complete                 // the object has ended
)

// NewPieces returns a decoder of the text of a member of the first object.
func NewPieces(name string) *Pieces { return &Pieces{name: name} }

// Add takes the next piece and returns the text that it adds to that of the member. It
// returns whole runes.
func (p *Pieces) Add(piece string) string {
	var out strings.Builder
	for i := range len(piece) {
		p.step(piece[i], &out)
	}
	return out.String()
}

func (p *Pieces) step(b byte, out *strings.Builder) {
	switch p.state {
	case complete:
	case beforeObject:
		if b == '{' {
			p.state, p.depth = outside, 1
		}
	case outside:
		p.between(b)
	case inside:
		p.within(b, out)
	}
}

// between takes a byte outside of strings.
func (p *Pieces) between(b byte) {
	switch b {
	case '{', '[':
		p.depth++
		p.value = false
	case '}', ']':
		if p.depth--; p.depth == 0 {
			p.state = complete
		}
	case ':':
		p.value = p.depth == 1
	case ',':
		p.value = false
	case '"':
		p.state = inside
		p.isName = p.depth == 1 && !p.value
		p.wanted = p.depth == 1 && p.value && p.last == p.name
		p.text.Reset()
	}
}

// within takes a byte of a string.
func (p *Pieces) within(b byte, out *strings.Builder) {
	if b == '"' && !escaping(p.held) {
		p.put(out)
		p.state = outside
		if p.isName {
			p.last = p.text.String()
		}
		return
	}
	if b == '\\' && !escaping(p.held) && !pairing(p.held) {
		p.put(out)
	}
	p.held = append(p.held, b)
	switch {
	case escaping(p.held):
	case pairing(p.held) && (len(p.held) == escapeSize || p.held[escapeSize] == '\\') && len(p.held) < 2*escapeSize:
	case p.held[0] != '\\' && !utf8.FullRune(p.held):
	case len(p.held) == 2*escapeSize && halves(p.held): // the second may be the first of a pair
		second := string(p.held[escapeSize:])
		p.held = p.held[:escapeSize]
		p.put(out)
		p.held = append(p.held, second...)
	default:
		p.put(out)
	}
}

// escapeSize is the length of an escape of a UTF-16 code unit.
const escapeSize = len(`\u0000`)

// escaping reports whether text ends with an escape that is incomplete.
func escaping(text []byte) bool {
	if len(text) > escapeSize {
		text = text[escapeSize:]
	}
	return len(text) > 0 && text[0] == '\\' && (len(text) == 1 || text[1] == 'u' && len(text) < escapeSize)
}

// pairing reports whether text begins with the first half of a surrogate pair.
func pairing(text []byte) bool {
	return len(text) >= escapeSize && text[1] == 'u' && utf16.IsSurrogate(hex4(text[2:escapeSize]))
}

// halves reports whether two escapes are both first halves of surrogate pairs.
func halves(text []byte) bool {
	return pairing(text[escapeSize:]) && hex4(text[escapeSize+2:]) < 0xDC00
}

// put decodes what is held and puts it where it belongs. Of a name it keeps no more than
// tells it apart from the one that is wanted.
func (p *Pieces) put(out *strings.Builder) {
	if len(p.held) == 0 {
		return
	}
	text := strings.ToValidUTF8(unescape(p.held), "\uFFFD")
	p.held = p.held[:0]
	switch {
	case p.wanted:
		out.WriteString(text)
	case p.isName && p.text.Len() <= len(p.name):
		p.text.WriteString(text)
	}
}

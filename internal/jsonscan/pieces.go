package jsonscan

import (
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Pieces decodes a text that is a member of the first JSON object in a text that arrives in
// pieces. It tolerates everything, because the object may end anywhere: what is not JSON
// leads to no text or to a wrong one, and never to an error.
type Pieces struct {
	name  string // of the member
	depth int    // of open objects and arrays
	done  bool   // the object has ended
	value bool   // a colon came: the next string is a value

	inside  bool   // in a string
	escaped bool   // the next byte of the string is escaped
	last    string // the last name at depth 1
	held    []byte // of the string, if it is a name at depth 1 or the text: what is not decoded yet
}

// NewPieces returns a decoder of the text of a member.
func NewPieces(name string) *Pieces { return &Pieces{name: name} }

// Add takes the next piece and returns what it adds to the text, in whole runes.
func (p *Pieces) Add(piece string) string {
	var out strings.Builder
	for i := range len(piece) {
		switch b := piece[i]; {
		case p.done:
		case !p.inside:
			p.between(b)
		case b == '"' && !p.escaped:
			p.inside = false
			if p.wanted() {
				out.WriteString(p.decode(true))
			} else if p.isName() {
				p.last = p.decode(true)
			}
		default:
			p.escaped = b == '\\' && !p.escaped
			// Of a name, no more is kept than tells it apart from the one that is wanted.
			if p.wanted() || p.isName() && len(p.held) <= len(`\u0000`)*len(p.name) {
				p.held = append(p.held, b)
			}
		}
	}
	if p.inside && p.wanted() {
		out.WriteString(p.decode(false))
	}
	return out.String()
}

func (p *Pieces) isName() bool { return p.depth == 1 && !p.value }
func (p *Pieces) wanted() bool { return p.depth == 1 && p.value && p.last == p.name }

// between takes a byte outside of strings.
func (p *Pieces) between(b byte) {
	switch {
	case b == '{' || p.depth > 0 && b == '[':
		p.depth++
		p.value = false
	case p.depth == 0:
	case b == '}' || b == ']':
		p.depth--
		p.done = p.depth == 0
	case b == ':' || b == ',':
		p.value = b == ':' && p.depth == 1
	case b == '"':
		p.inside, p.held = true, p.held[:0]
	}
}

// charLen returns the length of the character that the inside of a string begins with, and 0
// if its end may be missing.
func charLen(text []byte) int {
	_, size := utf8.DecodeRune(text)
	switch {
	case text[0] != '\\' && !utf8.FullRune(text), len(text) == 1 && text[0] == '\\', text[0] == '\\' && text[1] == 'u' && len(text) < 6:
		return 0
	case text[0] != '\\':
		return size
	case text[1] != 'u':
		return 2
	case !utf16.IsSurrogate(codeUnit(text)):
		return 6
	case utf16.DecodeRune(codeUnit(text), codeUnit(text[6:])) != utf8.RuneError:
		return 12
	case len(text) < 12 && strings.HasPrefix(`\u`, string(text[6:min(len(text), 8)])):
		return 0
	}
	return 6
}

// decode decodes and removes what is held: all of it if the string has ended, otherwise the
// characters that are whole.
func (p *Pieces) decode(all bool) string {
	var out strings.Builder
	rest := p.held
	for len(rest) > 0 {
		n := charLen(rest)
		if n == 0 {
			if !all {
				break
			}
			n = min(len(rest), len(`\u0000`))
		}
		var char string
		if rest[0] != '\\' {
			char = strings.ToValidUTF8(string(rest[:n]), string(utf8.RuneError))
		} else if json.Unmarshal([]byte(`"`+string(rest[:n])+`"`), &char) != nil {
			char = string(utf8.RuneError)
		}
		out.WriteString(char)
		rest = rest[n:]
	}
	p.held = append(p.held[:0], rest...)
	return out.String()
}

package openai

import "strings"

// Some models write what they think before they speak into the answer itself,
// between these tags.
const (
	thinkBegin = "<think>"
	thinkEnd   = "</think>"
)

// A splitter tells the reasoning at the beginning of an answer from the answer.
// The zero splitter is at its beginning.
type splitter struct {
	state int    // before, within or after the reasoning
	held  string // what may be the beginning of a tag
}

const (
	before = iota
	within
	after
	answer // as after, with white space at the beginning gone
)

// add takes the next piece and returns what of it is known.
func (s *splitter) add(piece string) (reasoning, text string) {
	s.held += piece
	if s.state == before {
		rest := strings.TrimLeft(s.held, " \t\r\n")
		switch {
		case strings.HasPrefix(rest, thinkBegin):
			s.state, s.held = within, rest[len(thinkBegin):]
		case strings.HasPrefix(thinkBegin, rest):
			return "", "" // a tag, perhaps
		default:
			s.state = answer
		}
	}
	if s.state == within {
		if in, out, ended := strings.Cut(s.held, thinkEnd); ended {
			reasoning, s.held, s.state = in, out, after
		} else {
			n := len(s.held) - partial(s.held, thinkEnd)
			reasoning, s.held = s.held[:n], s.held[n:]
			return reasoning, ""
		}
	}
	if s.state == after {
		if s.held = strings.TrimLeft(s.held, " \t\r\n"); s.held == "" {
			return reasoning, ""
		}
		s.state = answer
	}
	text, s.held = s.held, ""
	return reasoning, text
}

// end returns what was held back.
func (s *splitter) end() (reasoning, text string) {
	held := s.held
	s.held = ""
	if s.state == within {
		return held, ""
	}
	return "", held
}

// partial returns how many bytes at the end of s begin a tag.
func partial(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// split is a splitter for a whole answer.
func split(s string) (reasoning, text string) {
	var sp splitter
	reasoning, text = sp.add(s)
	r, t := sp.end()
	return reasoning + r, text + t
}

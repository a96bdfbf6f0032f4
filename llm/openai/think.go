package openai

import "strings"

// Some models write their reasoning at the beginning of the answer, between these
// tags.
const (
	thinkBegin = "<think>"
	thinkEnd   = "</think>"
)

// A splitter separates the reasoning at the beginning of an answer from the answer.
// The zero value is ready to use.
type splitter struct {
	state int
	held  string // the end of the input, if it may begin a tag
}

// The states of a splitter.
const (
	before = iota // the reasoning may still begin
	within        // inside the reasoning
	after         // in the white space after the reasoning
	answer        // inside the answer
)

// add adds a piece and returns the text that it can already classify.
func (s *splitter) add(piece string) (reasoning, text string) {
	s.held += piece
	if s.state == before {
		rest := strings.TrimLeft(s.held, " \t\r\n")
		switch {
		case strings.HasPrefix(rest, thinkBegin):
			s.state, s.held = within, rest[len(thinkBegin):]
		case strings.HasPrefix(thinkBegin, rest):
			return "", "" // perhaps a tag
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

// end returns the text that add has held back.
func (s *splitter) end() (reasoning, text string) {
	held := s.held
	s.held = ""
	if s.state == within {
		return held, ""
	}
	return "", held
}

// partial returns the length of the longest suffix of s that begins a tag.
func partial(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

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
	begun  bool   // it is known whether there is reasoning
	within bool   // inside the reasoning
	trim   bool   // in the white space after the reasoning
	held   string // the end of the input, if it may begin a tag
}

// add adds a piece and returns the text that it can already classify.
func (s *splitter) add(piece string) (reasoning, text string) {
	s.held += piece
	if !s.begun {
		rest := strings.TrimLeft(s.held, " \t\r\n")
		if len(rest) < len(thinkBegin) && strings.HasPrefix(thinkBegin, rest) {
			return "", ""
		}
		s.begun = true
		if rest, s.within = strings.CutPrefix(rest, thinkBegin); s.within {
			s.held = rest
		}
	}
	if s.within {
		in, out, ended := strings.Cut(s.held, thinkEnd)
		if !ended {
			n := len(s.held) - partial(s.held, thinkEnd)
			reasoning, s.held = s.held[:n], s.held[n:]
			return reasoning, ""
		}
		reasoning, s.held, s.within, s.trim = in, out, false, true
	}
	if s.trim {
		s.held = strings.TrimLeft(s.held, " \t\r\n")
		s.trim = s.held == ""
	}
	text, s.held = s.held, ""
	return reasoning, text
}

// end returns the text that add has held back.
func (s *splitter) end() (reasoning, text string) {
	held := s.held
	s.held = ""
	if s.within {
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

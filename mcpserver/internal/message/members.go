package message

import (
	"encoding/json"
	"iter"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// Members yields the names and raw values of an object, in order, with duplicates. It
// yields nothing for other values. The object must be valid JSON, such as a part of a
// message from [Parse].
func Members(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for name, value := range members(object) {
			if !yield(string(name), value) {
				return
			}
		}
	}
}

// members is Members without a copy of the names.
func members(object []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		s := jsonscan.NewChecked(object, maxDepth)
		if s.Kind() != '{' || !s.Object() {
			return
		}
		for s.Member() {
			name := s.Name()
			value := s.Value()
			if value == nil || !yield(name, value) {
				return
			}
		}
	}
}

// IsBlank reports whether a line has nothing but white space.
func IsBlank(line []byte) bool {
	s := jsonscan.New(line, 0)
	return s.Kind() == 0 && s.End() == nil
}

// IsID reports whether raw can be the id of a request, or the token of its
// progress: a string or a number.
func IsID(raw json.RawMessage) bool {
	if len(raw) == 0 {
		return false
	}
	c := raw[0]
	return c == '"' || c == '-' || '0' <= c && c <= '9'
}

// IDKey returns a key that is equal for all spellings of an id. Numbers are compared as
// they are written.
func IDKey(id json.RawMessage) string {
	if s, ok := jsonscan.Text(id); ok {
		return "s" + s
	}
	return "n" + string(id)
}

// Cancelled returns the [IDKey] of the request that a notification cancels; empty if it
// has none.
func (m *Message) Cancelled() string {
	key := ""
	for name, value := range Members(m.Params) {
		if name == "requestId" {
			key = ""
			if IsID(value) {
				key = IDKey(value)
			}
		}
	}
	return key
}

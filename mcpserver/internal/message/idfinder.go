package message

import (
	"encoding/json"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// MaxFoundID is the maximum length of an id in a line over the limit, in bytes.
const MaxFoundID = 1 << 10

// An IDFinder finds the id of a JSON-RPC message while its bytes are skipped, anywhere in
// the line: some clients write it last. It assumes that the message is JSON.
type IDFinder struct {
	depth   int
	quoted  bool   // inside a string
	escaped bool   // after a backslash in one
	name    []byte // of the member being read, at depth 1; nil before its colon
	token   []byte // the string or number being read at depth 1
	long    bool   // token is cut
	id      []byte
}

// Feed reads the next bytes of the message.
func (f *IDFinder) Feed(b []byte) {
	for _, c := range b {
		switch {
		case f.quoted:
			f.keep(c)
			switch {
			case f.escaped:
				f.escaped = false
			case c == '\\':
				f.escaped = true
			case c == '"':
				f.quoted = false
			}
		case c == '"':
			f.quoted = true
			f.keep(c)
		case c == '{' || c == '[':
			f.depth++
		case c == '}' || c == ']':
			if f.depth == 1 {
				f.endMember()
			}
			f.depth--
		case f.depth != 1 || c == ' ' || c == '\t' || c == '\r':
		case c == ':':
			f.name, f.token, f.long = f.token, nil, false
		case c == ',':
			f.endMember()
		default:
			f.keep(c)
		}
	}
}

// keep adds a byte to the token at depth 1.
func (f *IDFinder) keep(c byte) {
	switch {
	case f.depth != 1:
	case len(f.token) == MaxFoundID:
		f.long = true
	default:
		f.token = append(f.token, c)
	}
}

func (f *IDFinder) endMember() {
	if name, _ := jsonscan.Text(f.name); name == "id" {
		f.id = nil
		if !f.long {
			f.id = f.token
		}
	}
	f.name, f.token, f.long = nil, nil, false
}

// Found returns the id, or nil if there is no valid one.
func (f *IDFinder) Found() json.RawMessage {
	s := jsonscan.New(f.id, 0)
	if s.Value(); s.End() != nil || !IsID(f.id) {
		return nil
	}
	return f.id
}

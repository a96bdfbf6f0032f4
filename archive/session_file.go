package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/objectkeys"
)

// given is the prefix of labels with fields that a draft cannot represent, such as
// given+"isRevision" = "false". The rest of the name is the field's name in a session
// file; the value is JSON.
const given = "given."

// A record is a thought in a session file.
type record struct {
	Thought    string          `json:"thought"`
	Number     int             `json:"thoughtNumber"`
	Total      int             `json:"totalThoughts"`
	More       bool            `json:"nextThoughtNeeded"`
	IsRevision json.RawMessage `json:"isRevision,omitempty"`
	Revises    json.RawMessage `json:"revisesThought,omitempty"`
	From       json.RawMessage `json:"branchFromThought,omitempty"`
	Branch     json.RawMessage `json:"branchId,omitempty"`
	Extend     json.RawMessage `json:"needsMoreThoughts,omitempty"`
}

func recordOf(t sequent.Thought) record {
	r := record{Thought: t.Text, Number: t.Number, Total: t.Total, More: t.More}
	set := func(field *json.RawMessage, name string, known bool, value any) {
		if as := t.Labels[given+name]; json.Valid([]byte(as)) {
			*field = json.RawMessage(as)
		} else if known {
			*field = encode(value)
		}
	}
	revises, named := t.Revises.Number()
	set(&r.IsRevision, "isRevision", t.Revision, true)
	set(&r.Revises, "revisesThought", named, revises)
	from, left := t.From.Number()
	set(&r.From, "branchFromThought", left, from)
	set(&r.Branch, "branchId", t.Branch != "", t.Branch)
	set(&r.Extend, "needsMoreThoughts", t.Extend, true)
	return r
}

// SessionFile returns the contents of a session file.
func SessionFile(s *sequent.Session) []byte {
	var b bytes.Buffer
	_ = writeSessionFile(&b, s) // writing to a buffer does not fail
	return b.Bytes()
}

// writeSessionFile writes a session file. It encodes one thought at a time, so that a
// long session is not in memory twice.
func writeSessionFile(dst io.Writer, s *sequent.Session) error {
	w := bufio.NewWriterSize(dst, 64<<10) // keeps the first error for Flush
	field := func(indent, name string) {
		w.WriteString("\n" + indent)
		w.Write(encode(name))
		w.WriteString(": ")
	}
	list := func(indent string, seqs func(yield func(sequent.Thought) bool)) {
		w.WriteByte('[')
		empty := true
		for t := range seqs {
			if !empty {
				w.WriteByte(',')
			}
			empty = false
			w.WriteString("\n  " + indent)
			var b bytes.Buffer
			if json.Indent(&b, encode(recordOf(t)), indent+"  ", "  ") == nil { // what was just encoded is JSON
				w.Write(b.Bytes())
			}
		}
		if !empty {
			w.WriteString("\n" + indent)
		}
		w.WriteByte(']')
	}

	w.WriteByte('{')
	field("  ", "id")
	w.Write(encode(string(s.ID())))
	w.WriteByte(',')
	field("  ", "timestamp")
	w.Write(encode(s.Created().UTC().Format("2006-01-02T15:04:05.000Z")))
	w.WriteByte(',')
	field("  ", "thoughtHistory")
	list("  ", s.All())
	w.WriteByte(',')
	field("  ", "branches")
	w.WriteByte('{')
	labels, members := branches(s)
	for i, label := range labels {
		if i > 0 {
			w.WriteByte(',')
		}
		field("    ", label)
		list("    ", func(yield func(sequent.Thought) bool) {
			for _, seq := range members[label] {
				if t, ok := s.At(seq); ok && !yield(t) {
					return
				}
			}
		})
	}
	if len(labels) > 0 {
		w.WriteString("\n  ")
	}
	w.WriteString("}\n}\n")
	return w.Flush()
}

// branches returns the labels of thoughts that have an origin, in the order of the keys of
// an object in JavaScript, and the positions of these thoughts.
func branches(s *sequent.Session) (labels []string, members map[string][]int) {
	members = make(map[string][]int)
	for t := range s.All() {
		if _, left := t.From.Number(); !left || t.Branch == "" {
			continue
		}
		if members[t.Branch] == nil {
			labels = append(labels, t.Branch)
		}
		members[t.Branch] = append(members[t.Branch], t.Seq)
	}
	return objectkeys.Sort(labels), members
}

// encode returns v as compact JSON with the escapes of JSON.stringify in JavaScript: none
// for HTML, and none for U+2028 and U+2029. v consists of strings, numbers and booleans.
func encode(v any) []byte { return unescapeSeparators(compact(v)) }

// compact returns v as compact JSON without escapes for HTML, as labels have it.
func compact(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("archive: cannot encode: " + err.Error()) // none of these types fails
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// unescapeSeparators replaces the escapes of U+2028 and U+2029, which encoding/json always
// writes, by the characters.
func unescapeSeparators(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\u202`)) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case bytes.HasPrefix(rest, []byte(`\u2028`)):
			out = append(out, "\u2028"...)
			i += 5
		case bytes.HasPrefix(rest, []byte(`\u2029`)):
			out = append(out, "\u2029"...)
			i += 5
		case text[i] == '\\' && len(rest) > 1: // the escaped character may be a backslash
			out = append(out, rest[:2]...)
			i++
		default:
			out = append(out, text[i])
		}
	}
	return out
}

package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/jsonscan"
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
	r := record{Thought: t.Text, Number: t.Number, Total: t.Total, More: !t.Final}
	set := func(field *json.RawMessage, name string, known bool, value any) {
		if as := t.Labels[given+name]; json.Valid([]byte(as)) {
			*field = json.RawMessage(as)
		} else if known {
			*field = compact(value)
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

// asJavaScript replaces the escapes of U+2028 and U+2029, which encoding/json always writes and
// JSON.stringify in JavaScript does not, by the characters. It leaves escaped backslashes alone.
var asJavaScript = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// writeSessionFile writes a session file.
func writeSessionFile(dst io.Writer, s *sequent.Session) error {
	w := jsonWriter{bufio.NewWriterSize(dst, 64<<10), func(v any) []byte {
		text := compact(v)
		if bytes.Contains(text, []byte(`\u202`)) {
			return []byte(asJavaScript.Replace(string(text)))
		}
		return text
	}}
	w.WriteString("{\n  \"id\": ")
	w.value("", string(s.ID()))
	w.WriteString(",\n  \"timestamp\": ")
	w.value("", s.Created().UTC().Format("2006-01-02T15:04:05.000Z"))
	w.WriteString(",\n  \"thoughtHistory\": ")
	w.list("  ", records(s.All()))
	w.WriteString(",\n  \"branches\": {")
	labels, members := branches(s)
	next := "\n    "
	for _, label := range labels {
		w.WriteString(next)
		w.value("", label)
		w.WriteString(": ")
		w.list("    ", records(func(yield func(sequent.Thought) bool) {
			for _, seq := range members[label] {
				if t, ok := s.At(seq); ok && !yield(t) {
					return
				}
			}
		}))
		next = ",\n    "
	}
	if len(labels) > 0 {
		w.WriteString("\n  ")
	}
	w.WriteString("}\n}\n")
	return w.Flush()
}

func records(thoughts iter.Seq[sequent.Thought]) iter.Seq[any] {
	return func(yield func(any) bool) {
		for t := range thoughts {
			if !yield(recordOf(t)) {
				return
			}
		}
	}
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
	return jsonscan.SortKeys(labels), members
}

// A sessionDocument is the contents of a session file.
type sessionDocument struct {
	ID        string
	Timestamp time.Time // time of the first thought; zero if the file has none
	Thoughts  []sequent.Draft
}

// readSessionFile reads a session file as [SessionFile] and other servers of the same
// contract write it. It ignores unknown members, and the branches, which repeat the
// history. Numbers and booleans may be in quotes.
func readSessionFile(r io.Reader) (d sessionDocument, err error) {
	var file struct {
		ID             string            `json:"id"`
		Timestamp      *string           `json:"timestamp"`
		ThoughtHistory []json.RawMessage `json:"thoughtHistory"`
	}
	switch err := decode(r, &file); {
	case err != nil:
		return d, err
	case file.ThoughtHistory == nil:
		return d, fmt.Errorf("no thoughtHistory")
	}
	if d.ID = file.ID; file.Timestamp != nil {
		at, err := time.Parse(time.RFC3339Nano, *file.Timestamp)
		if err != nil {
			return d, fmt.Errorf("timestamp %q is not a time", oneLine(*file.Timestamp, 40))
		}
		d.Timestamp = at.UTC()
	}
	err = decodeEach(file.ThoughtHistory, "thought", func(r reading) error {
		if r.Thought == nil {
			return fmt.Errorf("no text")
		}
		d.Thoughts = append(d.Thoughts, r.draft())
		return nil
	})
	return d, err
}

// A reading is a record of a file.
type reading struct {
	Thought    *string `json:"thought"`
	Number     whole   `json:"thoughtNumber"`
	Total      whole   `json:"totalThoughts"`
	More       truth   `json:"nextThoughtNeeded"`
	IsRevision *truth  `json:"isRevision"`
	Revises    *whole  `json:"revisesThought"`
	From       *whole  `json:"branchFromThought"`
	Branch     *string `json:"branchId"`
	Extend     *truth  `json:"needsMoreThoughts"`
}

// draft returns the thought as the log has it, with labels for what it cannot
// tell, so that the file can be written again as it was.
func (r reading) draft() sequent.Draft {
	d := sequent.Draft{
		Number: int(r.Number), Total: int(r.Total), Text: *r.Thought, Final: !bool(r.More),
		Revision: r.IsRevision != nil && bool(*r.IsRevision), Extend: r.Extend != nil && bool(*r.Extend),
		Labels: make(map[string]string),
	}
	refused := r.IsRevision != nil && !d.Revision
	if refused {
		d.Labels[given+"isRevision"] = "false"
	}
	if r.Extend != nil && !d.Extend {
		d.Labels[given+"needsMoreThoughts"] = "false"
	}
	if r.Revises != nil && refused {
		d.Labels[given+"revisesThought"] = fmt.Sprint(*r.Revises)
	} else if r.Revises != nil {
		d.Revises = sequent.To(int(*r.Revises))
	}
	if r.From != nil && r.Branch != nil && *r.Branch != "" {
		d.Branch, d.From = *r.Branch, sequent.To(int(*r.From))
	} else {
		if r.From != nil {
			d.Labels[given+"branchFromThought"] = fmt.Sprint(*r.From)
		}
		if r.Branch != nil {
			d.Labels[given+"branchId"] = string(compact(*r.Branch))
		}
	}
	if len(d.Labels) == 0 {
		d.Labels = nil
	}
	return d
}

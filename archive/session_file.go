package archive

import (
	"bytes"
	"encoding/json"
	"strings"

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
	field := func(name string, known bool, value any) json.RawMessage {
		if as := t.Labels[given+name]; json.Valid([]byte(as)) {
			return json.RawMessage(as)
		} else if known {
			return encoded(value)
		}
		return nil
	}
	_, revises := t.Revises.Number()
	_, leaves := t.From.Number()
	return record{
		t.Text, t.Number, t.Total, !t.Final, field("isRevision", t.Revision, true), field("revisesThought", revises, t.Revises),
		field("branchFromThought", leaves, t.From), field("branchId", t.Branch != "", t.Branch), field("needsMoreThoughts", t.Extend, true),
	}
}

// asJavaScript replaces the escapes of U+2028 and U+2029, which encoding/json always writes and
// JSON.stringify in JavaScript does not, by the characters. It leaves escaped backslashes alone.
var asJavaScript = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// SessionFile returns the contents of a session file, in the bytes that JSON.stringify of JavaScript would write.
func SessionFile(s *sequent.Session) []byte {
	var labels []string
	members := make(map[string][]record) // thoughts that have an origin
	history := make([]record, 0, s.Len())
	for t := range s.All() {
		r := recordOf(t)
		history = append(history, r)
		if _, leaves := t.From.Number(); leaves && t.Branch != "" {
			if members[t.Branch] == nil {
				labels = append(labels, t.Branch)
			}
			members[t.Branch] = append(members[t.Branch], r)
		}
	}
	var branches bytes.Buffer
	for _, label := range jsonscan.SortKeys(labels) { // the order of keys in JavaScript
		if branches.Len() > 0 {
			branches.WriteByte(',')
		}
		branches.Write(encoded(label))
		branches.WriteByte(':')
		branches.Write(encoded(members[label]))
	}
	text := encoded(struct {
		ID        sequent.ID      `json:"id"`
		Timestamp string          `json:"timestamp"`
		History   []record        `json:"thoughtHistory"`
		Branches  json.RawMessage `json:"branches"`
	}{s.ID(), s.Created().UTC().Format("2006-01-02T15:04:05.000Z"), history, json.RawMessage("{" + branches.String() + "}")})
	if bytes.Contains(text, []byte(`\u202`)) {
		return []byte(asJavaScript.Replace(string(text)))
	}
	return text
}

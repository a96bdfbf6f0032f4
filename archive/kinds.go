package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A Kind is a file format of sessions.
type Kind string

// The supported kinds.
const (
	KindExport      Kind = "sequent"      // what sequent export writes as JSON
	KindSessionFile Kind = "session-file" // session.json of sequentialthinking-plus and of our classic
	KindMaenifold   Kind = "maenifold"    // a Markdown file of a thinking session
	KindArben       Kind = "arben-adm"    // current_session.jsonl of mcp-sequential-thinking, and its exports
)

// Formats describes the files of each kind.
func Formats() []string {
	return []string{
		"a session that sequent export wrote as JSON",
		"a session.json of sequentialthinking-plus or of sequent serve --dialect classic",
		"a Markdown session of Maenifold, with type: sequential in its front matter",
		"a current_session.jsonl of arben-adm's mcp-sequential-thinking, or an export of it",
	}
}

// errUnknown is the error of a file of no supported kind.
var errUnknown = errors.New("not a recognised session file")

// supported lists the supported formats, as the fix of an error.
func supported() string { return "supported formats: " + strings.Join(Formats(), "; ") }

// KindOf determines the kind of a file by its contents.
func KindOf(data []byte) (Kind, error) {
	start := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\uFEFF")), " \t\r\n")
	switch {
	case len(start) == 0:
		return "", errors.New("the file is empty")
	case bytes.HasPrefix(start, []byte("---")):
		return markdownKind(start)
	case start[0] == '{':
		return jsonKind(start)
	case bytes.IndexByte(start[:min(len(start), 4096)], 0) >= 0:
		return "", errors.New("the file is not text")
	}
	return "", errUnknown
}

// jsonKind determines the kind by the members of the first object, which may break off.
func jsonKind(data []byte) (kind Kind, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	_, err = dec.Token()
	for err == nil && dec.More() {
		var name json.Token
		if name, err = dec.Token(); err != nil {
			break
		}
		switch name {
		case "thoughtHistory":
			return KindSessionFile, nil
		case "thoughts":
			kind = KindArben // unless a member format follows
		}
		var value json.RawMessage
		err = dec.Decode(&value)
		switch {
		case name == "format" && string(value) == `"`+Format+`"`:
			return KindExport, nil
		case name == "type" && string(value) == `"header"`:
			return KindArben, nil
		}
	}
	switch {
	case kind != "":
		return kind, nil
	case err != nil:
		return "", explained(err)
	}
	return "", errUnknown
}

// markdownKind determines the kind by the type in the front matter.
func markdownKind(data []byte) (Kind, error) {
	n := 0
	for line := range strings.Lines(string(data[:min(len(data), 64<<10)])) {
		line = strings.TrimRight(line, " \t\r\n")
		if n++; n > 1 && line == "---" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		if name == "type" && strings.Trim(strings.TrimSpace(value), `"'`) == "sequential" {
			return KindMaenifold, nil
		}
	}
	return "", errUnknown
}

// An Outcome is the result of importing a file.
type Outcome string

// The outcomes.
const (
	Added     Outcome = "added"     // the store did not have the session
	Extended  Outcome = "extended"  // the store had an earlier state of it
	Unchanged Outcome = "unchanged" // the store had all of it
	Failed    Outcome = "failed"    // see Result.Err; nothing of the file was stored
)

// OutcomeOf returns the outcome of restoring a session.
func OutcomeOf(r sequent.Restored) Outcome {
	switch r {
	case sequent.RestoredNew:
		return Added
	case sequent.RestoredMore:
		return Extended
	}
	return Unchanged
}

// OfSession reports whether an error concerns one session, so that others can still be
// restored.
func OfSession(err error) bool {
	switch sequent.CodeOf(err) {
	case sequent.CodeInvalidSession, sequent.CodeInvalidThought, sequent.CodeLimitExceeded, sequent.CodeSessionExists,
		sequent.CodeRequestKeyReused, sequent.CodeConflict, sequent.CodeCorrupt:
		return true
	}
	return false
}

// A Result is the result of importing one file.
type Result struct {
	File     string
	Kind     Kind // empty if it is not recognised
	Outcome  Outcome
	Key      sequent.Key // of the session; empty if the file could not be read
	Title    string
	Thoughts int      // in the file
	Warnings []string // parts of the file that were skipped
	Err      error    // if Outcome is Failed
}

// A Summary counts files by outcome.
type Summary struct {
	Added     int `json:"added"`
	Extended  int `json:"extended"`
	Unchanged int `json:"unchanged"`
	Failed    int `json:"failed"`
	Passed    int `json:"passed"` // files in folders that are not sessions
}

// Count counts an outcome.
func (s *Summary) Count(o Outcome) {
	switch o {
	case Added:
		s.Added++
	case Extended:
		s.Extended++
	case Unchanged:
		s.Unchanged++
	default:
		s.Failed++
	}
}

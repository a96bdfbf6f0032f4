package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// arbenVersion is the newest supported version of arben-adm's files.
const arbenVersion = 2

// An arbenRecord is a line of current_session.jsonl, or a thought of an export.
type arbenRecord struct {
	Type      string `json:"type"`      // header or thought; absent in exports
	Version   *whole `json:"version"`   // of the header
	CreatedAt string `json:"createdAt"` // of the header

	ID         string   `json:"id"` // a UUID
	Thought    *string  `json:"thought"`
	Number     whole    `json:"thoughtNumber"`
	Total      whole    `json:"totalThoughts"`
	More       truth    `json:"nextThoughtNeeded"`
	Stage      string   `json:"stage"`
	Tags       []string `json:"tags"`
	Axioms     []string `json:"axiomsUsed"`
	Challenged []string `json:"assumptionsChallenged"`
	At         string   `json:"timestamp"`
	Revision   truth    `json:"isRevision"`
	Revises    *whole   `json:"revisesThoughtNumber"`
	From       *whole   `json:"branchFromThought"`
	Branch     string   `json:"branchId"`
}

// parseArben reads JSON Lines, as in version 2, or a single object, as in exports and
// version 1.
func (im *Importer) parseArben(data []byte) (session, error) {
	var a arben
	var warnings []string
	var head arbenRecord
	line, _, _ := bytes.Cut(bytes.TrimLeft(data, " \t\r\n"), []byte("\n"))
	var err error
	if json.Unmarshal(line, &head) == nil && head.Type != "" {
		warnings, err = a.lines(data)
	} else {
		err = a.object(data)
	}
	if err != nil {
		return session{}, err
	}
	s, err := a.session(im)
	s.warnings = warnings
	return s, err
}

func (a *arben) lines(data []byte) (warnings []string, err error) {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if err := a.line(line); err != nil {
			if line[len(line)-1] != '\n' && n > 1 && !json.Valid(line) {
				// The other program was killed while writing, and would ignore this line too.
				return []string{fmt.Sprintf("line %d breaks off in the middle and is left out", n)}, nil
			}
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil, nil
}

func (a *arben) object(data []byte) error {
	var file struct {
		Version  *whole            `json:"version"`
		Thoughts []json.RawMessage `json:"thoughts"`
	}
	err := decode(bytes.NewReader(data), &file)
	if err == nil && file.Version != nil {
		err = knownVersion(*file.Version)
	}
	if err != nil {
		return err
	}
	return decodeEach(file.Thoughts, "thought", a.thought)
}

// An arben collects the records of a session.
type arben struct {
	headed  bool
	created string // as in the file
	firstID string
	steps   []step
	zone    *time.Location // for times without a zone; nil means local time
}

func (a *arben) line(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var rec arbenRecord
	if err := json.Unmarshal(line, &rec); err != nil {
		return fmt.Errorf("not a valid record: %w", err)
	}
	switch {
	case !a.headed && rec.Type != "header":
		return fmt.Errorf("no header before this record")
	case rec.Type == "header" && a.headed:
		return fmt.Errorf("second header")
	case rec.Type == "header":
		if rec.Version == nil {
			return fmt.Errorf("the header has no version")
		}
		a.headed, a.created = true, rec.CreatedAt
		return knownVersion(*rec.Version)
	case rec.Type != "thought":
		return fmt.Errorf("unknown record type %q", rec.Type)
	}
	return a.thought(rec)
}

func knownVersion(v whole) error {
	if v < 1 || v > arbenVersion {
		return fmt.Errorf("unsupported version %d; the newest supported version is %d", v, arbenVersion)
	}
	return nil
}

func (a *arben) thought(rec arbenRecord) error {
	if rec.Thought == nil {
		return fmt.Errorf("no text")
	}
	d := sequent.Draft{
		Number: int(rec.Number), Total: int(rec.Total), Text: *rec.Thought, Note: rec.note(),
		Final: !bool(rec.More), Revision: bool(rec.Revision), Branch: rec.Branch,
	}
	if rec.Revises != nil {
		d.Revises = sequent.To(int(*rec.Revises))
	}
	if rec.From != nil {
		d.From = sequent.To(int(*rec.From))
	}
	if len(a.steps) == 0 {
		a.firstID = rec.ID
	}
	at, ok := a.time(rec.At)
	if !ok && len(a.steps) > 0 {
		at = a.steps[len(a.steps)-1].at
	} else if !ok {
		at, _ = a.time(a.created)
	}
	a.steps = append(a.steps, step{d, at})
	return nil
}

// note returns the fields that a thought has no place for.
func (r arbenRecord) note() string {
	var parts []string
	add := func(name string, values ...string) {
		if text := strings.Join(values, "; "); text != "" {
			parts = append(parts, name+": "+text)
		}
	}
	add("Stage", r.Stage)
	add("Tags", r.Tags...)
	add("Axioms used", r.Axioms...)
	add("Assumptions challenged", r.Challenged...)
	return strings.Join(parts, "\n")
}

// time parses a time as Python writes it. Most have no zone; they are taken to be local
// times of this computer. The result for an invalid time is the Unix epoch.
func (a *arben) time(text string) (time.Time, bool) {
	zone := a.zone
	if zone == nil {
		zone = time.Local
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999", "2006-01-02T15:04:05.999999Z07:00", "2006-01-02 15:04:05.999999"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at.UTC(), true
		}
	}
	return time.Unix(0, 0).UTC(), false
}

// session returns the session of the collected records. Its id is derived from data
// that does not change when the file grows: the id of the first thought, or its text
// and the time of the header.
func (a *arben) session(im *Importer) (session, error) {
	if len(a.steps) == 0 {
		return session{}, fmt.Errorf("no thoughts")
	}
	id := derivedID("arben", a.firstID)
	if a.firstID == "" {
		id = derivedID("arben", a.created, a.steps[0].Text)
	}
	created := a.steps[0].at
	if at, ok := a.time(a.created); ok && at.Before(created) {
		created = at
	}
	return im.replay(sequent.Header{Key: sequent.Key{ID: id}, Dialect: "arben-adm", Created: created}, a.steps)
}

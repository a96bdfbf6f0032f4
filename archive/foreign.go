package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// A foreign is a thought as sequentialthinking-plus, our classic and arben-adm write it.
type foreign struct {
	Thought        *string  `json:"thought"`
	Number         int      `json:"thoughtNumber"`
	Total          int      `json:"totalThoughts"`
	More           bool     `json:"nextThoughtNeeded"`
	IsRevision     *bool    `json:"isRevision"`
	Revises        *int     `json:"revisesThought"`
	RevisesOfArben *int     `json:"revisesThoughtNumber"`
	From           *int     `json:"branchFromThought"`
	Branch         *string  `json:"branchId"`
	Extend         *bool    `json:"needsMoreThoughts"`
	ID             string   `json:"id"` // a UUID of arben-adm, as is what follows
	At             string   `json:"timestamp"`
	Stage          string   `json:"stage"`
	Tags           []string `json:"tags"`
	AxiomsUsed     []string `json:"axiomsUsed"`
	Challenged     []string `json:"assumptionsChallenged"`
}

// draft returns the thought as the log has it, with labels for what a draft cannot represent, as classic records it.
func (f *foreign) draft() sequent.Draft {
	d := sequent.Draft{Number: f.Number, Total: f.Total, Text: *f.Thought, Note: f.note(), Final: !f.More}
	label := func(name string, value any) {
		if d.Labels == nil {
			d.Labels = make(map[string]string)
		}
		d.Labels[given+name] = strings.TrimSpace(string(encoded(value)))
	}
	flag := func(to *bool, name string, value *bool) {
		if value != nil && !*value {
			label(name, false)
		}
		*to = value != nil && *value
	}
	flag(&d.Revision, "isRevision", f.IsRevision)
	flag(&d.Extend, "needsMoreThoughts", f.Extend)
	switch n := cmp.Or(f.Revises, f.RevisesOfArben); {
	case n != nil && f.IsRevision != nil && !d.Revision:
		label("revisesThought", *n)
	case n != nil:
		d.Revises = sequent.To(*n)
	}
	if f.From != nil && f.Branch != nil && *f.Branch != "" {
		d.Branch, d.From = *f.Branch, sequent.To(*f.From)
		return d
	}
	if f.From != nil {
		label("branchFromThought", *f.From)
	}
	if f.Branch != nil {
		label("branchId", *f.Branch)
	}
	return d
}

// note returns the fields that a thought has no place for.
func (f *foreign) note() string {
	var parts []string
	for _, field := range []struct {
		name   string
		values []string
	}{{"Stage", []string{f.Stage}}, {"Tags", f.Tags}, {"Axioms used", f.AxiomsUsed}, {"Assumptions challenged", f.Challenged}} {
		if text := strings.Join(field.values, "; "); text != "" {
			parts = append(parts, field.name+": "+text)
		}
	}
	return strings.Join(parts, "\n")
}

// parseSessionFile reads a session file as [SessionFile] and other servers of the same contract write it. It ignores
// the branches, which repeat the history. The file has only the time at which the session began, so that is the time
// of all its thoughts.
func (im *Importer) parseSessionFile(data []byte) (session, error) {
	var file struct {
		ID        sequent.ID `json:"id"`
		Timestamp time.Time  `json:"timestamp"`
		History   []foreign  `json:"thoughtHistory"`
	}
	if err := decode(bytes.NewReader(data), &file); err != nil {
		return session{}, err
	}
	at := epoch
	if !file.Timestamp.IsZero() {
		at = file.Timestamp.UTC()
	}
	if file.ID == "" && len(file.History) > 0 && file.History[0].Thought != nil {
		file.ID = derivedID("session", file.Timestamp.String(), *file.History[0].Thought)
	}
	h := sequent.Header{Key: sequent.Key{ID: file.ID}, Dialect: "classic", Created: at}
	return im.replay(h, file.History, func(string) (time.Time, bool) { return at, true })
}

// arbenVersion is the newest supported version of arben-adm's files.
const arbenVersion = 2

// parseArben reads JSON Lines, as in version 2, or a single object, as in exports and version 1. The id of the session is
// derived from data that does not change when the file grows: the id of the first thought, or its text and the
// time of the header.
func (im *Importer) parseArben(data []byte) (session, error) {
	var thoughts []foreign
	created := ""
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var line struct {
			foreign
			Version   *int
			CreatedAt string
			Thoughts  []foreign
		}
		err := dec.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return session{}, fmt.Errorf("after %d thoughts: %w", len(thoughts), explained(err))
		}
		if v := line.Version; v != nil && (*v < 1 || *v > arbenVersion) {
			return session{}, fmt.Errorf("unsupported version %d; the newest supported version is %d", *v, arbenVersion)
		}
		created = cmp.Or(created, line.CreatedAt)
		if thoughts = append(thoughts, line.Thoughts...); line.Thought != nil {
			thoughts = append(thoughts, line.foreign)
		}
	}
	if len(thoughts) == 0 || thoughts[0].Thought == nil {
		return session{}, errNoThoughts
	}
	id := derivedID("arben", thoughts[0].ID)
	if thoughts[0].ID == "" {
		id = derivedID("arben", created, *thoughts[0].Thought)
	}
	h := sequent.Header{Key: sequent.Key{ID: id}, Dialect: "arben-adm", Created: epoch}
	for _, text := range []string{thoughts[0].At, created} { // the earlier of them
		if at, ok := pythonTime(text); ok && (h.Created == epoch || at.Before(h.Created)) {
			h.Created = at
		}
	}
	return im.replay(h, thoughts, pythonTime)
}

var errNoThoughts = errors.New("no thoughts")

// epoch is the time of what has none, so that it is always the same.
var epoch = time.Unix(0, 0).UTC()

// pythonTime parses a time as Python writes it. Most have no zone; they are taken to be local
// times of this computer.
func pythonTime(text string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02T15:04:05.999999", time.RFC3339Nano} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at.UTC(), true
		}
	}
	return epoch, false
}

// derivedID returns an id for a session without one, derived from parts.
func derivedID(prefix string, parts ...string) sequent.ID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sequent.ID(prefix + "-" + hex.EncodeToString(sum[:6]))
}

// replay returns the session that an engine would have recorded for the thoughts of a source. A thought without a
// time has that of the one before it.
func (im *Importer) replay(h sequent.Header, thoughts []foreign, at func(text string) (time.Time, bool)) (session, error) {
	now := h.Created
	e := sequent.New(sequent.Config{
		Now:        func() time.Time { return now },
		Limits:     im.Engine.Limits(),
		CacheBytes: math.MaxInt64, // the session exists only in this engine
	})
	ctx := context.Background() // a memory store does not block
	s, err := e.Begin(ctx, h.ID, func(c *sequent.Change) error {
		c.BeginIn("", h.Dialect)
		return nil
	})
	for i := range thoughts {
		if err != nil {
			break
		}
		if thoughts[i].Thought == nil {
			return session{}, fmt.Errorf("thought %d: no text", i+1)
		}
		if t, ok := at(thoughts[i].At); ok {
			now = t
		}
		s, err = e.Append(ctx, h.ID, thoughts[i].draft())
	}
	if err != nil {
		return session{}, err
	}
	return session{s.Header(), sequent.Entries(s.Thoughts())}, nil
}

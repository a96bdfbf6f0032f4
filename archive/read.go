package archive

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive/internal/jsonwalk"
)

// ReadJSON reads an [Export] as [JSON] and [Log] write it. It needs memory for the
// session, but not for the document. It refuses other formats and higher versions.
// [sequent.Verify] checks the hashes, and [sequent.Engine.RestoreEntries] whether the
// session can be stored. Without hashes, Entries and Head of the header are zero.
func ReadJSON(r io.Reader) (sequent.Header, []sequent.Entry, error) {
	var x Export
	var log, others []sequent.Entry
	seen := false
	w := jsonwalk.New(r)
	err := w.Object(func(name string) error {
		switch name {
		case "thoughts":
			if seen {
				return fmt.Errorf("duplicate member thoughts")
			}
			seen = true
			return w.Array(func(int) error {
				var t ExportedThought
				if err := w.Value(&t); err != nil {
					return fmt.Errorf("thought %d: %w", len(log)+1, err)
				}
				e := sequent.EntryOf(t.thought())
				t.set(&e)
				log = append(log, e)
				return nil
			})
		case "entries":
			return w.Array(func(i int) error {
				var o ExportedEntry
				if err := w.Value(&o); err != nil {
					return fmt.Errorf("entry %d: %w", i+1, err)
				}
				e := sequent.Entry{Kind: sequent.Kind(o.Kind), At: o.At.UTC(), Body: o.Fields}
				o.set(&e)
				others = append(others, e)
				return nil
			})
		default:
			field := x.field(name)
			if field == nil {
				return w.Skip()
			}
			return w.Value(field)
		}
	})
	switch {
	case err != nil:
		return sequent.Header{}, nil, err
	case x.Format != Format:
		return sequent.Header{}, nil, fmt.Errorf("unknown format %q, want %q", x.Format, Format)
	case x.Version < 1 || x.Version > Version:
		return sequent.Header{}, nil, fmt.Errorf("unsupported version %d of the format, newer than %d; update sequent", x.Version, Version)
	case !seen:
		return sequent.Header{}, nil, fmt.Errorf("no thoughts")
	}
	h := sequent.Header{
		Len:   len(log),
		Key:   sequent.Key{Owner: x.Owner, ID: sequent.ID(x.ID)},
		State: sequent.State(x.State), Title: x.Title, Scope: x.Scope, Dialect: x.Dialect,
		Context: x.Context, Conclusion: x.Conclusion, Labels: x.Labels,
		Created: x.Created.UTC(), Updated: x.Updated.UTC(), Expires: x.Expires.UTC(),
	}
	if x.Chain != nil {
		h.Entries, h.Head = x.Chain.Length, x.Chain.Head
	}
	return h, merged(log, others), w.End()
}

// merged returns thoughts and other entries in the order of their places. It keeps the
// order of each, so that entries that were moved can be found.
func merged(thoughts, others []sequent.Entry) []sequent.Entry {
	all := make([]sequent.Entry, 0, len(thoughts)+len(others))
	for len(others) > 0 {
		n := slices.IndexFunc(thoughts, func(t sequent.Entry) bool { return t.Place > others[0].Place })
		if n < 0 {
			n = len(thoughts)
		}
		all = append(append(all, thoughts[:n]...), others[0])
		thoughts, others = thoughts[n:], others[1:]
	}
	return append(all, thoughts...)
}

// set sets the proof of an entry.
func (p *ExportedProof) set(e *sequent.Entry) {
	e.Place, e.Salt, e.Hash, e.Masked = p.Place, p.Salt, p.Hash, p.Masked
}

// field returns a pointer to the field of a member, or nil.
func (x *Export) field(name string) any {
	switch name {
	case "format":
		return &x.Format
	case "version":
		return &x.Version
	case "id":
		return &x.ID
	case "owner":
		return &x.Owner
	case "state":
		return &x.State
	case "title":
		return &x.Title
	case "scope":
		return &x.Scope
	case "dialect":
		return &x.Dialect
	case "context":
		return &x.Context
	case "conclusion":
		return &x.Conclusion
	case "labels":
		return &x.Labels
	case "created":
		return &x.Created
	case "updated":
		return &x.Updated
	case "expires":
		return &x.Expires
	case "chain":
		return &x.Chain
	}
	return nil
}

// A SessionDocument is the contents of a session file.
type SessionDocument struct {
	ID        string
	Timestamp time.Time // time of the first thought; zero if the file has none
	Thoughts  []sequent.Draft
}

// ReadSessionFile reads a session file as [SessionFile] and other servers of the same
// contract write it. It ignores unknown members, and the branches, which repeat the
// history. Numbers and booleans may be in quotes. It needs memory for the thoughts, but
// not for the document.
func ReadSessionFile(r io.Reader) (SessionDocument, error) {
	var d SessionDocument
	seen := false
	w := jsonwalk.New(r)
	err := w.Object(func(name string) error {
		switch name {
		case "id":
			return w.Value(&d.ID)
		case "timestamp":
			var stamp string
			if err := w.Value(&stamp); err != nil {
				return err
			}
			at, err := time.Parse(time.RFC3339Nano, stamp)
			if err != nil {
				return fmt.Errorf("timestamp %q is not a time", oneLine(stamp, 40))
			}
			d.Timestamp = at.UTC()
			return nil
		case "thoughtHistory":
			if seen {
				return fmt.Errorf("duplicate member thoughtHistory")
			}
			seen = true
			return w.Array(func(i int) error {
				var r reading
				err := w.Value(&r)
				if err == nil && r.Thought == nil {
					err = fmt.Errorf("no text")
				}
				if err != nil {
					return fmt.Errorf("thought %d: %w", i+1, err)
				}
				d.Thoughts = append(d.Thoughts, r.draft())
				return nil
			})
		}
		return w.Skip()
	})
	if err == nil && !seen {
		err = fmt.Errorf("no thoughtHistory")
	}
	if err == nil {
		err = w.End()
	}
	return d, err
}

// A reading is a record of a file.
type reading struct {
	Thought    *string `json:"thought"`
	Number     Whole   `json:"thoughtNumber"`
	Total      Whole   `json:"totalThoughts"`
	More       Truth   `json:"nextThoughtNeeded"`
	IsRevision *Truth  `json:"isRevision"`
	Revises    *Whole  `json:"revisesThought"`
	From       *Whole  `json:"branchFromThought"`
	Branch     *string `json:"branchId"`
	Extend     *Truth  `json:"needsMoreThoughts"`
}

// draft returns the thought as the log has it, with labels for what it cannot
// tell, so that the file can be written again as it was; see [Given].
func (r reading) draft() sequent.Draft {
	d := sequent.Draft{
		Number: int(r.Number), Total: int(r.Total), Text: *r.Thought, More: bool(r.More),
		Revision: r.IsRevision != nil && bool(*r.IsRevision), Extend: r.Extend != nil && bool(*r.Extend),
	}
	label := func(name string, value any) {
		if d.Labels == nil {
			d.Labels = make(map[string]string)
		}
		d.Labels[given+name] = string(compact(value))
	}
	refused := r.IsRevision != nil && !bool(*r.IsRevision)
	if refused {
		label("isRevision", false)
	}
	switch {
	case r.Revises == nil:
	case refused: // isRevision is false
		label("revisesThought", *r.Revises)
	default:
		d.Revises = sequent.To(int(*r.Revises))
	}
	if r.From != nil && r.Branch != nil && *r.Branch != "" {
		d.Branch, d.From = *r.Branch, sequent.To(int(*r.From))
	} else {
		if r.From != nil {
			label("branchFromThought", *r.From)
		}
		if r.Branch != nil {
			label("branchId", *r.Branch)
		}
	}
	if r.Extend != nil && !bool(*r.Extend) {
		label("needsMoreThoughts", false)
	}
	return d
}

// A Whole is an integer that may be in quotes or have a fraction of zero.
type Whole int

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Whole) UnmarshalJSON(b []byte) error {
	text := unquoted(b)
	if text == "null" {
		return nil
	}
	whole, fraction, _ := strings.Cut(text, ".")
	i, err := strconv.Atoi(whole)
	if err != nil || strings.Trim(fraction, "0") != "" {
		return fmt.Errorf("%s is not an integer", oneLine(string(b), 40))
	}
	*n = Whole(i)
	return nil
}

// A Truth is a boolean that may be in quotes.
type Truth bool

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Truth) UnmarshalJSON(b []byte) error {
	switch strings.ToLower(unquoted(b)) {
	case "true":
		*v = true
	case "false":
		*v = false
	case "null":
	default:
		return fmt.Errorf("%s is not true or false", oneLine(string(b), 40))
	}
	return nil
}

func unquoted(b []byte) string {
	var s string
	if json.Unmarshal(b, &s) == nil && len(b) > 0 && b[0] == '"' {
		return strings.TrimSpace(s)
	}
	return string(b)
}

package sqlstore

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/sequent-dev/sequent"
)

// HeaderColumns are the columns of tool_sessions that [Database.ScanHeader] reads.
const HeaderColumns = "s.key, s.owner, s.id, s.epoch, s.version, s.len, s.entries, s.branches, s.revisions, s.notes, s.bytes, s.head, s.seal, s.updated, s.created, " +
	"s.expires, s.scope, s.project, s.state, s.request_key, s.request_digest, s.header"

// ScanHeader scans the columns that [HeaderColumns] names. A value that cannot be parsed is as
// if it were missing: the seal of the header tells.
func (d *Database) ScanHeader(scan func(...any) error) (r Row, err error) {
	h := &r.Header
	var head, seal []byte
	var updated, created, expires int64
	var project, rest string
	err = scan(&r.Key, &h.Owner, &h.ID, &h.Epoch, &h.Version, &h.Len, &h.Entries, &h.Branches, &h.Revisions, &h.Notes, &h.Bytes, &head, &seal, &updated, &created,
		&expires, &h.Scope, &project, &h.State, &h.Request.Key, &h.Request.Digest, &rest)
	if err != nil {
		return r, err
	}
	d.decode(&h.Owner, (*string)(&h.ID), &h.Scope, &project, &h.Request.Key, &h.Request.Digest)
	copyWhole(h.Head[:], head)
	copyWhole(h.Seal[:], seal)
	h.Updated, h.Created = Time(updated), Time(created)
	if expires != 0 {
		h.Expires = Time(expires)
	}
	var x headerRest
	if rest != "{}" && json.Unmarshal([]byte(rest), &x) == nil {
		h.Title, h.Conclusion, h.Dialect, h.Labels, h.Origin = x.Title, x.Conclusion, x.Dialect, x.Labels, x.Origin
	}
	h.Origin.Project = project
	return r, nil
}

// A headerRest has what no query selects by, for the column header.
type headerRest struct {
	Title      string            `json:"title,omitzero"`
	Conclusion string            `json:"conclusion,omitzero"`
	Dialect    string            `json:"dialect,omitzero"`
	Labels     map[string]string `json:"labels,omitempty"`
	Origin     sequent.Origin    `json:"origin,omitzero"` // without the project
}

// PositionColumns are the columns of tool_sessions that every commit changes, and whose values
// [PositionValues] returns. RestColumns are the others of a header, but for its key.
const (
	PositionColumns = "version, len, entries, bytes, head, seal, updated"
	RestColumns     = "epoch, branches, revisions, notes, period, created, expires, scope, project, state, request_key, request_digest, header"
)

// PositionValues returns the values of [PositionColumns].
func PositionValues(h *sequent.Header) []any {
	return []any{int64(h.Version), int64(h.Len), int64(h.Entries), h.Bytes, h.Head[:], h.Seal[:], h.Updated.UnixMicro()}
}

// RestValues returns the values of [RestColumns].
func RestValues(h *sequent.Header) []any {
	x := headerRest{h.Title, h.Conclusion, h.Dialect, h.Labels, h.Origin}
	x.Origin.Project = ""
	return []any{
		h.Epoch, int64(h.Branches), int64(h.Revisions), int64(h.Notes), Period(h.Updated), h.Created.UnixMicro(), orZero(h.Expires), h.Scope, h.Origin.Project, string(h.State),
		h.Request.Key, h.Request.Digest, object(x),
	}
}

// OnlyMoved reports whether the columns in [RestColumns] of two headers of a session are equal.
func OnlyMoved(old, now *sequent.Header) bool {
	return old.Epoch == now.Epoch && old.Branches == now.Branches && old.Revisions == now.Revisions && old.Notes == now.Notes && Period(old.Updated) == Period(now.Updated) &&
		old.Created.Equal(now.Created) && old.Expires.Equal(now.Expires) && old.Scope == now.Scope && old.State == now.State &&
		old.Request == now.Request && old.Title == now.Title && old.Conclusion == now.Conclusion && old.Dialect == now.Dialect &&
		old.Origin == now.Origin && maps.Equal(old.Labels, now.Labels)
}

// Period returns the number of the 2^24 µs, about 17 seconds, that a time is in. The index by
// last update has the period instead of the time, so that most commits leave it alone.
func Period(t time.Time) int64 { return t.UnixMicro() >> 24 }

// Time returns the time, in UTC, of microseconds since 1970.
func Time(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// ceil returns a time in microseconds, rounded up.
func ceil(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

func orZero(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// EntryColumns are the columns of tool_log that [Database.ScanEntry] reads and whose values
// [EntryValues] returns.
const EntryColumns = "n, kind, at, seq, number, total, after, supersedes, final, text, note, salt, hash, rest"

// An entryRest has the fields that most entries lack, for the column rest.
type entryRest struct {
	Branch   string                  `json:"branch,omitzero"`
	From     sequent.Ref             `json:"from,omitzero"`
	Revises  sequent.Ref             `json:"revises,omitzero"`
	Revision bool                    `json:"revision,omitzero"`
	Extend   bool                    `json:"extend,omitzero"`
	Request  request                 `json:"request,omitzero"`
	Labels   map[string]string       `json:"labels,omitempty"`
	Body     sequent.Body            `json:"body,omitempty"`
	Masked   map[string]sequent.Hash `json:"masked,omitempty"`
}

type request struct {
	Key    string `json:"key,omitzero"`
	Digest string `json:"digest,omitzero"`
}

// ScanEntry scans the columns that [EntryColumns] names. A value that cannot be parsed is as if
// it were missing: the hash of the entry tells.
func (d *Database) ScanEntry(scan func(...any) error) (e sequent.Entry, err error) {
	var t sequent.Thought
	var at int64
	var salt, hash []byte
	var rest string
	err = scan(&e.Place, &e.Kind, &at, &t.Seq, &t.Number, &t.Total, &t.After, &t.Supersedes, &t.Final, &t.Text, &t.Note, &salt, &hash, &rest)
	if err != nil {
		return e, err
	}
	e.At = Time(at)
	copyWhole(e.Salt[:], salt)
	copyWhole(e.Hash[:], hash)
	var x entryRest
	if rest != "{}" && json.Unmarshal([]byte(rest), &x) != nil {
		x = entryRest{}
	}
	e.Body, e.Masked = x.Body, x.Masked
	if e.Kind == sequent.KindThought {
		t.At = e.At
		t.Branch, t.From, t.Revises, t.Revision, t.Extend = x.Branch, x.From, x.Revises, x.Revision, x.Extend
		t.Request, t.Labels = sequent.Request(x.Request), x.Labels
		d.decode(&t.Text, &t.Note)
		e.Thought = t
	}
	return e, nil
}

// decode decodes texts of the database in place.
func (d *Database) decode(texts ...*string) {
	if d.Decode == nil {
		return
	}
	for _, t := range texts {
		*t = d.Decode(*t)
	}
}

// EntryValues returns the values of [EntryColumns].
func EntryValues(e *sequent.Entry) []any {
	t := &e.Thought
	rest := "{}"
	if e.Kind != sequent.KindThought || len(e.Masked) > 0 || t.Branch != "" || t.From != (sequent.Ref{}) || t.Revises != (sequent.Ref{}) ||
		t.Revision || t.Extend || t.Request != (sequent.Request{}) || len(t.Labels) > 0 {
		rest = object(entryRest{t.Branch, t.From, t.Revises, t.Revision, t.Extend, request(t.Request), t.Labels, e.Body, e.Masked})
	}
	return []any{
		int64(e.Place), string(e.Kind), e.At.UnixMicro(), int64(t.Seq), int64(t.Number), int64(t.Total), int64(t.After), int64(t.Supersedes),
		t.Final, t.Text, t.Note, e.Salt[:], e.Hash[:], rest,
	}
}

// CheckSize returns an error for a write with a thought of more than maxBytes. A store refuses
// such a write alone, because it would otherwise fail its whole batch.
func CheckSize(w *sequent.Write, maxBytes int) error {
	for i := range w.Entries {
		t := &w.Entries[i].Thought
		if n := len(t.Text) + len(t.Note); n > maxBytes {
			return sequent.Errorf(sequent.CodeLimitExceeded, "text", "split it into several thoughts",
				"the thought has %d bytes; the store accepts at most %d", n, maxBytes)
		}
	}
	return nil
}

// object returns a value as JSON.
func object(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it does not fail for these types
	}
	return string(b)
}

// copyWhole copies bytes, unless there are more or fewer of them.
func copyWhole(to, from []byte) {
	if len(from) == len(to) {
		copy(to, from)
	}
}

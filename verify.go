package sequent

import (
	"fmt"
	"maps"
	"slices"
)

// A FaultKind says in which way a log is not what was recorded.
type FaultKind string

// The kinds of faults.
const (
	FaultAltered   FaultKind = "altered"   // the entry is not what its hash says
	FaultMissing   FaultKind = "missing"   // the entry is not there, though later ones are
	FaultReordered FaultKind = "reordered" // the entry is at another place
	FaultCutOff    FaultKind = "cut off"   // the entries at the end are not there
	FaultUnproven  FaultKind = "unproven"  // the entry has no proof
	FaultHeader    FaultKind = "header"    // a field of the header is not what the log or the seal says
)

// A Fault is the first entry of a log that is not what was recorded.
type Fault struct {
	Kind  FaultKind `json:"kind"`
	Place int       `json:"place,omitempty"`   // of the entry; 0 for FaultUnproven and FaultHeader
	Seq   int       `json:"thought,omitempty"` // of the thought, if the entry is one; otherwise 0
	Field string    `json:"field,omitempty"`   // of the header, for FaultHeader; empty if only the seal tells
}

// String describes the fault in one sentence without a period.
func (f *Fault) String() string {
	entry := fmt.Sprintf("entry %d", f.Place)
	if f.Seq > 0 {
		entry = fmt.Sprintf("thought %d", f.Seq)
	}
	switch f.Kind {
	case FaultMissing:
		return entry + " is missing"
	case FaultReordered:
		return entry + " is not at its place"
	case FaultCutOff:
		return "the log was cut off: " + entry + " and what followed it is missing"
	case FaultUnproven:
		return entry + " has no proof"
	case FaultHeader:
		if f.Field == "" {
			return "the header of the session was altered"
		}
		return "the " + f.Field + " of the session is not what the log says"
	}
	return entry + " was altered"
}

// A Verification is what [Verify] found.
type Verification struct {
	Fault   *Fault // nil if the log is intact
	Entries int    // up to the fault
	Head    Hash   // of the last of them
	Masked  []int  // places of entries whose texts are masked, and so not proven

	thoughts int // among the entries
}

// Verify checks a log against the hashes of its entries, and the header against the log
// and its seal. An intact log is one that was not changed by a program that does not
// compute the hashes anew. To detect one that does, compare Head with a head noted
// elsewhere.
func Verify(h Header, entries []Entry) Verification {
	var v Verification
	v.verify(&h, entries)
	return v
}

// verify checks h, and the entries that follow those that v has seen.
func (v *Verification) verify(h *Header, entries []Entry) {
	for i := range entries {
		if v.Fault = v.check(&entries[i], entries[i:]); v.Fault != nil {
			return
		}
	}
	switch {
	case v.Entries < h.Entries:
		v.Fault = &Fault{Kind: FaultCutOff, Place: v.Entries + 1}
	case v.Head != h.Head:
		v.Fault = &Fault{Kind: FaultHeader, Field: "head"}
	case v.thoughts != h.Len:
		v.Fault = &Fault{Kind: FaultHeader, Field: "len"}
	default:
		v.Fault = checkHeader(h, entries)
	}
}

// check checks the first entry of rest.
func (v *Verification) check(e *Entry, rest []Entry) *Fault {
	seq := e.Thought.Seq // 0 for other kinds
	switch {
	case !e.Proven():
		return &Fault{Kind: FaultUnproven, Place: v.Entries + 1, Seq: seq}
	case e.Place != v.Entries+1:
		return v.misplaced(rest)
	case e.hash(v.Head) != e.Hash, seq > 0 && !e.At.Equal(e.Thought.At):
		return &Fault{Kind: FaultAltered, Place: e.Place, Seq: seq}
	case seq > 0 && seq != v.thoughts+1:
		return &Fault{Kind: FaultMissing, Seq: v.thoughts + 1}
	}
	v.Entries, v.Head = e.Place, e.Hash
	if e.Kind == KindThought {
		v.thoughts++
	}
	if len(e.Masked) > 0 {
		v.Masked = append(v.Masked, e.Place)
	}
	return nil
}

// misplaced returns the fault of the first entry of rest, whose place is not the next
// one: it was moved if the entry of that place comes later, otherwise that entry is
// missing.
func (v *Verification) misplaced(rest []Entry) *Fault {
	e, want := &rest[0], v.Entries+1
	if e.Place < want || slices.ContainsFunc(rest, func(o Entry) bool { return o.Place == want }) {
		return &Fault{Kind: FaultReordered, Place: e.Place, Seq: e.Thought.Seq}
	}
	f := &Fault{Kind: FaultMissing, Place: want}
	if next := Thoughts(rest); len(next) > 0 && next[0].Seq > v.thoughts+1 { // otherwise an entry of another kind is missing
		f.Seq = v.thoughts + 1
	}
	return f
}

// checkHeader compares the header with its seal, and with the fields that entries say. A title that was taken
// from the first thought is not among them.
func checkHeader(h *Header, entries []Entry) *Fault {
	want := make(map[string]string)
	for i := range entries {
		entries[i].say(want)
	}
	have := h.fields()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			return &Fault{Kind: FaultHeader, Field: name}
		}
	}
	if h.Seal != h.Digest() {
		return &Fault{Kind: FaultHeader}
	}
	return nil
}

// say sets the fields of the header that the entry says. It removes those whose text is masked.
func (e *Entry) say(fields map[string]string) {
	switch e.Kind {
	case KindThought:
		fields["state"] = string(stateAfter(&e.Thought.Draft))
	case KindHeader:
		for name, value := range e.Body {
			fields[name], _ = value.(string)
			if _, masked := e.Masked[name]; masked {
				delete(fields, name)
			}
		}
	}
}

// fields returns the fields of the header that entries name, without empty ones.
func (h *Header) fields() map[string]string {
	all := map[string]string{
		"state": string(h.State), "title": h.Title, "scope": h.Scope, "dialect": h.Dialect, "conclusion": h.Conclusion,
	}
	for name, value := range h.Origin.fields() {
		all[name] = *value
	}
	for k, v := range h.Labels {
		all[labelPrefix+k] = v
	}
	maps.DeleteFunc(all, func(_, v string) bool { return v == "" })
	return all
}

// labelPrefix begins the name of a field that is a label.
const labelPrefix = "labels."

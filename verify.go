package sequent

import (
	"cmp"
	"context"
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
	FaultUnproven  FaultKind = "unproven"  // a thought without proof among entries with one
	FaultHeader    FaultKind = "header"    // a field of the header is not what the log says
)

// A Fault is the first entry of a log that is not what was recorded.
type Fault struct {
	Kind  FaultKind
	Place int    // of the entry; 0 for FaultUnproven and FaultHeader
	Seq   int    // of the thought, if the entry is one; otherwise 0
	Field string // of the header, for FaultHeader
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
		return entry + " has no proof, though earlier ones have"
	case FaultHeader:
		return "the " + f.Field + " of the session is not what the log says"
	}
	return entry + " was altered"
}

// A Verification is what [Verify] found.
type Verification struct {
	Fault   *Fault // nil if the log is intact
	Entries int    // entries with proof, up to the fault
	Head    Hash   // of the last of them
	// From is the Seq of the first thought with proof. Thoughts before it were recorded
	// before sequent had hashes. It is 0 if no thought has proof.
	From   int
	Masked []int // places of entries whose texts are masked, and so not proven
}

// Verify checks a log against the hashes of its entries, and the header against the log.
// An intact log is one that was not changed by a program that does not compute the
// hashes anew. To detect one that does, compare Head with a head noted elsewhere.
func Verify(h Header, entries []Entry) Verification {
	var v Verification
	thoughts := 0
	for i := range entries {
		e := &entries[i]
		if f := v.check(e, entries[i:], thoughts); f != nil {
			v.Fault = f
			return v
		}
		if e.Kind == KindThought {
			thoughts++
		}
	}
	switch {
	case v.Entries < h.Entries || v.Head != h.Head:
		v.Fault = &Fault{Kind: FaultCutOff, Place: v.Entries + 1}
		if v.Entries >= h.Entries {
			v.Fault = &Fault{Kind: FaultHeader, Field: "head"}
		}
	case thoughts != h.Len:
		v.Fault = &Fault{Kind: FaultCutOff, Seq: thoughts + 1, Place: v.Entries + 1}
	default:
		v.Fault = checkHeader(&h, entries)
	}
	return v
}

// check checks the first entry of rest, after the given number of thoughts.
func (v *Verification) check(e *Entry, rest []Entry, thoughts int) *Fault {
	seq := 0
	if e.Kind == KindThought {
		seq = e.Thought.Seq
	}
	switch {
	case !e.Proven() && v.Entries > 0:
		return &Fault{Kind: FaultUnproven, Seq: seq}
	case !e.Proven() && seq != thoughts+1:
		return &Fault{Kind: FaultMissing, Seq: thoughts + 1}
	case !e.Proven():
		return nil
	case e.Place != v.Entries+1:
		return v.misplaced(rest, thoughts)
	case e.hash(v.Head) != e.Hash, seq > 0 && !e.At.Equal(e.Thought.At):
		return &Fault{Kind: FaultAltered, Place: e.Place, Seq: seq}
	case seq > 0 && seq != thoughts+1:
		return &Fault{Kind: FaultMissing, Seq: thoughts + 1}
	}
	v.Entries, v.Head = e.Place, e.Hash
	if seq > 0 {
		v.From = cmp.Or(v.From, seq)
	}
	if len(e.Masked) > 0 {
		v.Masked = append(v.Masked, e.Place)
	}
	return nil
}

// misplaced returns the fault of the first entry of rest, whose place is not the next
// one: it was moved if the entry of that place comes later, otherwise that entry is
// missing.
func (v *Verification) misplaced(rest []Entry, thoughts int) *Fault {
	e, want := &rest[0], v.Entries+1
	if e.Place < want || slices.ContainsFunc(rest, func(o Entry) bool { return o.Place == want }) {
		f := &Fault{Kind: FaultReordered, Place: e.Place}
		if e.Kind == KindThought {
			f.Seq = e.Thought.Seq
		}
		return f
	}
	f := &Fault{Kind: FaultMissing, Place: want}
	next := slices.IndexFunc(rest, func(o Entry) bool { return o.Kind == KindThought })
	if next >= 0 && rest[next].Thought.Seq > thoughts+1 { // a thought is missing, not an entry of another kind
		f.Seq = thoughts + 1
	}
	return f
}

// checkHeader compares the header with the fields that entries with proof say. A title
// that was taken from the first thought is not among them.
func checkHeader(h *Header, entries []Entry) *Fault {
	want := make(map[string]string)
	for i := range entries {
		e := &entries[i]
		switch {
		case !e.Proven():
		case e.Kind == KindThought:
			want["state"] = string(stateAfter(e.Thought.Draft))
		case e.Kind == KindHeader:
			for name, value := range e.Body {
				want[name], _ = value.(string)
				if _, masked := e.Masked[name]; masked {
					delete(want, name)
				}
			}
		}
	}
	have := h.fields()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			return &Fault{Kind: FaultHeader, Field: name}
		}
	}
	return nil
}

// fields returns the fields of the header that entries name, without empty ones.
func (h *Header) fields() map[string]string {
	all := map[string]string{
		"state": string(h.State), "title": h.Title, "scope": h.Scope, "dialect": h.Dialect, "conclusion": h.Conclusion,
	}
	for name, value := range h.Context.fields() {
		all[name] = *value
	}
	for k, v := range h.Labels {
		all[labelPrefix+k] = v
	}
	for name, v := range all {
		if v == "" {
			delete(all, name)
		}
	}
	return all
}

// labelPrefix begins the name of a field that is a label.
const labelPrefix = "labels."

// Entries returns a session's header and its whole log, with the proofs.
func (e *Engine) Entries(ctx context.Context, id ID) (Header, []Entry, error) {
	return e.EntriesAfter(ctx, id, Position{}, 0)
}

// EntriesAfter is [Engine.Entries] for a reader that has the log up to a position. It
// returns what [Store.Load] returns.
func (e *Engine) EntriesAfter(ctx context.Context, id ID, have Position, limit int) (Header, []Entry, error) {
	k, err := e.key(id)
	if err != nil {
		return Header{}, nil, err
	}
	leaveTrail(ctx, k, false)
	h, entries, err := e.store.Load(ctx, k, have, limit)
	if err == nil && h.Expired(e.now()) {
		return Header{}, nil, notFound(id)
	}
	return h, entries, err
}

// Verify checks the log of a session as the store has it; see the function [Verify].
func (e *Engine) Verify(ctx context.Context, id ID) (Verification, error) {
	h, entries, err := e.Entries(ctx, id)
	if err != nil && (h.Version == 0 || CodeOf(err) != CodeCorrupt) {
		return Verification{}, err
	}
	return Verify(h, entries), nil
}

package sequent

import (
	"iter"
	"slices"
	"time"
)

// A pages is a log in the form in which it is kept: it grows without moving what
// it holds, so that an append costs the same at any length, and readers of a
// prefix need not know that it grows. Its length is its owner's to keep.
//
// A ledger and a store of this package share pages. So a record is written once:
// who takes records back makes pages of its own first, with cut.
type pages []*[pageLen]record

// pageLen weighs what a short session leaves unused against what a long one
// spends on pointers.
const pageLen = 16

// A record is a thought with what is known of it, in a third of the space: most
// thoughts have a number, an estimate and a text, and nothing else. Its place in
// the log is its Seq.
type record struct {
	text   string
	rest   *rest // what most thoughts have not; nil if there is nothing of it
	at     int64 // microseconds since 1970
	number int
	total  int
	flags  uint8

	after, supersedes int32
	mark
}

// A mark holds what was true of a thought's line when it was appended.
type mark struct {
	line     int32 // place in the ledger's lines
	previous int32 // Seq of the thought before it on its own line, 0 for none
	namesake int32 // Seq of the thought before it with the same number on that line, 0 for none
	highest  int   // largest number on its path so far, its own included
}

// A rest is the part of a thought that few have. Thoughts of a branch that have
// nothing else of it share one.
type rest struct {
	note    string
	branch  string
	from    Ref
	revises Ref
	request Request
	labels  map[string]string
}

const (
	flagRevision = 1 << iota
	flagMore
	flagExtend
)

// newRecord returns t as a log keeps it. Like is the rest of a thought of the same
// branch, or nil.
func newRecord(t *Thought, like *rest) record {
	r := record{
		text: t.Text, at: t.At.UnixMicro(), number: t.Number, total: t.Total,
		after: int32(t.After), supersedes: int32(t.Supersedes),
	}
	for _, f := range []struct {
		set  bool
		flag uint8
	}{{t.Revision, flagRevision}, {t.More, flagMore}, {t.Extend, flagExtend}} {
		if f.set {
			r.flags |= f.flag
		}
	}
	switch plain := t.Note == "" && !t.From.set && !t.Revises.set && t.Request == (Request{}) && t.Labels == nil; {
	case plain && t.Branch == "":
	case plain && like != nil && like.onlyBranch():
		r.rest = like
	default:
		r.rest = &rest{t.Note, t.Branch, t.From, t.Revises, t.Request, t.Labels}
		if like != nil {
			r.rest.branch = like.branch // the same string once
		}
	}
	return r
}

func (r *rest) onlyBranch() bool {
	return r.note == "" && !r.from.set && !r.revises.set && r.request == (Request{}) && r.labels == nil
}

// set puts r at place i, which is at most one beyond the last.
func (p *pages) set(i int, r record) {
	if i/pageLen == len(*p) {
		*p = append(*p, new([pageLen]record))
	}
	(*p)[i/pageLen][i%pageLen] = r
}

// at returns the record at place i.
func (p pages) at(i int) *record { return &p[i/pageLen][i%pageLen] }

// thought returns the thought at place i.
func (p pages) thought(i int) Thought {
	r := p.at(i)
	t := Thought{
		Draft: Draft{
			Number: r.number, Total: r.total, Text: r.text,
			Revision: r.flags&flagRevision != 0, More: r.flags&flagMore != 0, Extend: r.flags&flagExtend != 0,
		},
		Seq: i + 1, After: int(r.after), Supersedes: int(r.supersedes), At: time.UnixMicro(r.at).UTC(),
	}
	if x := r.rest; x != nil {
		t.Note, t.Branch, t.From, t.Revises, t.Request, t.Labels = x.note, x.branch, x.from, x.revises, x.request, x.labels
	}
	return t
}

// slice yields the thoughts at the places from i to before j.
func (p pages) slice(i, j int) iter.Seq[Thought] {
	return func(yield func(Thought) bool) {
		for ; i < j; i++ {
			if !yield(p.thought(i)) {
				return
			}
		}
	}
}

// cut returns pages with the first n records, to be appended to. What others
// have of p stays as it is.
func (p pages) cut(n int) pages {
	out := slices.Clone(p[:(n+pageLen-1)/pageLen])
	if part := n % pageLen; part > 0 {
		last := new([pageLen]record)
		copy(last[:part], out[len(out)-1][:part])
		out[len(out)-1] = last
	}
	return out
}

package sequent

import (
	"iter"
	"slices"
	"time"
)

// A pages holds the records of a log. It grows without moving them, so that an
// append costs the same at any length, and readers of the first records need no
// lock. The owner keeps the length.
//
// A ledger and the memory store share pages, so that each record exists once.
// Code that removes records makes pages of its own first, with cut.
type pages []*[pageLen]record

// pageLen balances the unused records of short sessions and the pointers of long
// ones.
const pageLen = 16

// A record is a thought and its position among others, in a third of the space
// of a Thought: most thoughts have a number, an estimate and a text only. Its
// position in the log is its Seq.
type record struct {
	text   string
	extra  *extra // nil if the thought has none of these fields
	at     int64  // microseconds since 1970
	number int
	total  int
	flags  uint8

	after, supersedes int32 // Seq of other thoughts, as are the next; 0 for none

	// These fields are the ledger's.
	line       int32 // index in the ledger's lines
	previous   int32 // the previous thought on the same line
	sameNumber int32 // the previous thought with the same number on the same line
	highest    int   // largest number on the path to this thought
}

// An extra has the fields that few thoughts have. Thoughts of a branch that only
// have its label share one.
type extra struct {
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

// newRecord returns the record of t. Previous is the extra of the previous
// thought on the same line, or nil.
func newRecord(t *Thought, previous *extra) record {
	r := record{
		text: t.Text, at: t.At.UnixMicro(), number: t.Number, total: t.Total,
		after: int32(t.After), supersedes: int32(t.Supersedes),
	}
	if t.Revision {
		r.flags |= flagRevision
	}
	if t.More {
		r.flags |= flagMore
	}
	if t.Extend {
		r.flags |= flagExtend
	}
	x := extra{t.Note, t.Branch, t.From, t.Revises, t.Request, t.Labels}
	switch {
	case x.onlyBranch() && x.branch == "":
	case x.onlyBranch() && previous != nil && previous.onlyBranch():
		r.extra = previous
	default:
		if previous != nil {
			x.branch = previous.branch // the same string, stored once
		}
		r.extra = new(x)
	}
	return r
}

// dropTexts drops the text and the note. Others may have r.extra.
func (r *record) dropTexts() {
	r.text = ""
	if r.extra != nil && r.extra.note != "" {
		x := *r.extra
		x.note = ""
		r.extra = &x
	}
}

func (x *extra) onlyBranch() bool {
	return x.note == "" && !x.from.set && !x.revises.set && x.request == (Request{}) && x.labels == nil
}

// size returns the size of x and what it refers to, without the branch.
func (x *extra) size() int {
	return extraSize + textSize(len(x.note)) + textSize(len(x.request.Key)) + textSize(len(x.request.Digest)) + labelsSize(x.labels)
}

// set stores the record with an index, which is at most one beyond the last.
func (p *pages) set(i int, r record) {
	if i/pageLen == len(*p) {
		*p = append(*p, new([pageLen]record))
	}
	(*p)[i/pageLen][i%pageLen] = r
}

// at returns the record with an index.
func (p pages) at(i int) *record { return &p[i/pageLen][i%pageLen] }

// thought returns the thought with an index. It shares its labels with p.
func (p pages) thought(i int) Thought {
	r := p.at(i)
	t := Thought{
		Draft: Draft{
			Number: r.number, Total: r.total, Text: r.text,
			Revision: r.flags&flagRevision != 0, More: r.flags&flagMore != 0, Extend: r.flags&flagExtend != 0,
		},
		Seq: i + 1, After: int(r.after), Supersedes: int(r.supersedes), At: time.UnixMicro(r.at).UTC(),
	}
	if x := r.extra; x != nil {
		t.Note, t.Branch, t.From, t.Revises, t.Request, t.Labels = x.note, x.branch, x.from, x.revises, x.request, x.labels
	}
	return t
}

// slice yields the thoughts with the indexes from i to before j.
func (p pages) slice(i, j int) iter.Seq[Thought] {
	return func(yield func(Thought) bool) {
		for ; i < j; i++ {
			if !yield(p.thought(i)) {
				return
			}
		}
	}
}

// cut returns pages with the first n records, to which others can be appended
// without changing p.
func (p pages) cut(n int) pages {
	out := slices.Clone(p[:(n+pageLen-1)/pageLen])
	if part := n % pageLen; part > 0 {
		last := new([pageLen]record)
		copy(last[:part], out[len(out)-1][:part])
		out[len(out)-1] = last
	}
	return out
}

package sequent

import "sort"

// A memSession is a stored session. What header.Len says of its log never changes.
type memSession struct {
	header Header
	log    pages
	shared bool // an engine has the log, too, and writes beyond header.Len
	proofs proofs

	catalog *catalog // of its owner; nil before its first header
}

// A proof is an entry without its thought.
type proof struct {
	place int32
	seq   int32 // of the thought; 0 if the entry is of another kind
	salt  Salt
	hash  Hash
	more  *Entry // what most entries lack: a Body or masked texts; nil for none
}

// The proofs of a log are in pages, as its thoughts are, so that an append costs the
// same at any length.
type proofs struct {
	pages []*[pageLen]proof
	n     int
}

func (p *proofs) at(i int) *proof { return &p.pages[i/pageLen][i%pageLen] }

func (p *proofs) append(one proof) {
	if p.n%pageLen == 0 {
		p.pages = append(p.pages, new([pageLen]proof))
	}
	p.n++
	*p.at(p.n - 1) = one
}

// entry returns the entry with an index.
func (s *memSession) entry(i int) Entry {
	p := s.proofs.at(i)
	var e Entry
	if p.more != nil {
		e = *p.more
	}
	if p.seq > 0 {
		t := s.log.thought(int(p.seq) - 1)
		e.Kind, e.At, e.Thought = KindThought, t.At, t
	}
	e.Place, e.Salt, e.Hash = int(p.place), p.salt, p.hash
	return e
}

// beyond returns the entries that a reader at a position lacks, or all if they do not
// continue it; of either the first ones if limit is positive.
func (s *memSession) beyond(have Position, limit int) []Entry {
	first := sort.Search(s.proofs.n, func(i int) bool {
		p := s.proofs.at(i)
		return have.lacks(int(p.place), int(p.seq))
	})
	tail := s.entries(first, limit)
	if !s.header.Continues(have, tail) && first > 0 {
		return s.entries(0, limit)
	}
	return tail
}

// entries returns the entries from an index on, at most limit if that is positive.
func (s *memSession) entries(first, limit int) []Entry {
	n := s.proofs.n - first
	if limit > 0 {
		n = min(n, limit)
	}
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = s.entry(first + i)
	}
	return entries
}

// record takes over the entries of a write.
func (s *memSession) record(w *Write) {
	for i := range w.Entries {
		e := &w.Entries[i]
		p := proof{place: int32(e.Place), seq: int32(e.Thought.Seq), salt: e.Salt, hash: e.Hash}
		if e.Kind != KindThought || e.Masked != nil {
			more := *e
			more.Thought = Thought{}
			p.more = &more
		}
		s.proofs.append(p)
	}
	if w.log != nil {
		s.log, s.shared = w.log, true
		return
	}
	if s.shared {
		s.log, s.shared = s.log.cut(s.header.Len), false
	}
	for i := range w.Entries {
		if t := &w.Entries[i].Thought; t.Seq > 0 {
			s.log.set(t.Seq-1, newRecord(t, nil))
		}
	}
}

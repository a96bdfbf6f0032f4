package sequent

import "math/bits"

// The sizes in this file estimate what the cache keeps on the heap of a 64-bit
// program. TestCacheBytes compares them with the heap.

const (
	sessionSize = 640 // a Session, its empty ledger and its entry in the cache
	recordSize  = 88
	pageSize    = pageLen * recordSize
	lineSize    = 88
	extraSize   = 112
)

// textSize returns the size of a string of n bytes. The allocator rounds up.
func textSize(n int) int {
	if n <= 128 {
		return (n + 15) &^ 15
	}
	return n + n/16
}

// mapSize returns the size of a map with n entries, whose key and value have
// slotSize bytes together. A map has a power of two of slots, leaves an eighth
// of them empty, and has a byte of its own for each.
func mapSize(n, slotSize int) int {
	if n == 0 {
		return 0
	}
	slots := 1 << bits.Len(uint(max(n*8/7, 8)-1))
	return 48 + slots*(slotSize+1)
}

func labelsSize(labels map[string]string) int {
	n := mapSize(len(labels), 32)
	for k, v := range labels {
		n += textSize(len(k)) + textSize(len(v))
	}
	return n
}

// size returns the size of a session and its ledger.
func (s *Session) size() int {
	h := &s.header
	n := sessionSize + textSize(len(h.Owner)) + textSize(len(h.ID)) + textSize(len(h.Title)) +
		textSize(len(h.Scope)) + textSize(len(h.Conclusion)) + labelsSize(h.Labels) + s.marks.size()
	for _, value := range h.Context.fields() {
		n += textSize(len(*value))
	}
	l := s.ledger
	l.mu.RLock()
	defer l.mu.RUnlock()
	return n + l.bytes + len(l.log)*pageSize + cap(l.log)*8 + (cap(l.lines)-1)*lineSize +
		mapSize(len(l.byLabel), 24) + mapSize(len(l.byKey), 24)
}

// size returns the size of what r refers to. Previous is the extra of the
// previous thought on the same line, which r may share.
func (r *record) size(previous *extra) int {
	n := textSize(len(r.text))
	x := r.extra
	if x == nil || x == previous {
		return n
	}
	n += x.size()
	if previous == nil {
		n += textSize(len(x.branch))
	}
	return n
}

// size returns the size of what x refers to.
func (x *numbering) size() int { return cap(x.dense)*4 + mapSize(len(x.sparse), 16) }

const (
	noteSize     = 112
	decisionSize = 40
)

// size returns the size of the marks.
func (m *marks) size() int {
	if m == nil {
		return 0
	}
	n := cap(m.notes)*noteSize + cap(m.decisions)*decisionSize
	for i := range m.notes {
		n += textSize(len(m.notes[i].Text)) + textSize(len(m.notes[i].From))
	}
	for i := range m.decisions {
		n += textSize(len(m.decisions[i].Line))
	}
	return n
}

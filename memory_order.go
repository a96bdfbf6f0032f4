package sequent

import (
	"cmp"
	"iter"
	"slices"
	"sort"
)

// An order keeps sessions sorted by a time, oldest first. It is a B-tree of two
// levels: a session moves at the cost of one chunk, and to the newest place at
// no more than an append.
type order struct {
	chunks [][]place // none is empty
}

// maxChunk is the maximum number of sessions in a chunk.
const maxChunk = 512

// A place is where a session is in an order. Its time is copied, so that a
// search reads few sessions.
type place struct {
	at      int64 // microseconds since 1970
	session *memSession
}

// compare orders by time, then by what is unique to a session.
func (p place) compare(o place) int {
	if c := cmp.Compare(p.at, o.at); c != 0 || p.session == o.session {
		return c
	}
	a, b := &p.session.header, &o.session.header
	return cmp.Or(
		cmp.Compare(a.Epoch, b.Epoch),
		cmp.Compare(b.Owner, a.Owner),
		cmp.Compare(b.ID, a.ID),
	)
}

// find returns the first chunk whose last place is not before p, and the index
// in that chunk at which p is or would be.
func (o *order) find(p place) (c, i int) {
	c = sort.Search(len(o.chunks), func(c int) bool {
		chunk := o.chunks[c]
		return chunk[len(chunk)-1].compare(p) >= 0
	})
	if c < len(o.chunks) {
		i, _ = slices.BinarySearchFunc(o.chunks[c], p, place.compare)
	}
	return c, i
}

func (o *order) add(p place) {
	c, i := o.find(p)
	if c == len(o.chunks) { // it is the newest
		if c == 0 || len(o.chunks[c-1]) == maxChunk {
			o.chunks = append(o.chunks, []place{p})
			return
		}
		o.chunks[c-1] = append(o.chunks[c-1], p)
		return
	}
	chunk := slices.Insert(o.chunks[c], i, p)
	o.chunks[c] = chunk
	if len(chunk) > maxChunk {
		half := len(chunk) / 2
		o.chunks[c] = chunk[:half:half]
		o.chunks = slices.Insert(o.chunks, c+1, slices.Clone(chunk[half:]))
	}
}

func (o *order) remove(p place) {
	c, i := o.find(p)
	chunk := slices.Delete(o.chunks[c], i, i+1)
	o.chunks[c] = chunk
	switch {
	case len(chunk) == 0:
		o.chunks = slices.Delete(o.chunks, c, c+1)
	case c > 0 && len(chunk)+len(o.chunks[c-1]) <= maxChunk/2:
		o.chunks[c-1] = append(o.chunks[c-1], chunk...)
		o.chunks = slices.Delete(o.chunks, c, c+1)
	}
}

// move gives a session another time.
func (o *order) move(from, to place) {
	if last := o.chunks[len(o.chunks)-1]; last[len(last)-1] == from && to.at >= from.at {
		last[len(last)-1] = to // the newest stays the newest
		return
	}
	o.remove(from)
	o.add(to)
}

// before yields the places before p, newest first; all if p is nil.
func (o *order) before(p *place) iter.Seq[place] {
	return func(yield func(place) bool) {
		c, i := len(o.chunks), 0
		if p != nil {
			c, i = o.find(*p)
		}
		for {
			for i--; i >= 0; i-- {
				if !yield(o.chunks[c][i]) {
					return
				}
			}
			if c--; c < 0 {
				return
			}
			i = len(o.chunks[c])
		}
	}
}

// A catalog has the sessions of one owner, or of all, in both orders of a
// listing.
type catalog struct {
	updated, created order
}

// A scopeKey names a scope of an owner.
type scopeKey struct{ owner, scope string }

func updatedPlace(s *memSession, h *Header) place { return place{h.Updated.UnixMicro(), s} }
func createdPlace(s *memSession, h *Header) place { return place{h.Created.UnixMicro(), s} }

// set stores a header, the first if s is new, and keeps the orders in step. The
// caller holds mu.
func (m *MemoryStore) set(s *memSession, h Header) {
	old := s.header
	if s.catalog != nil && old.Epoch == h.Epoch && old.Created.Equal(h.Created) && old.Scope == h.Scope {
		for _, c := range []*catalog{&m.all, s.catalog} {
			c.updated.move(updatedPlace(s, &old), updatedPlace(s, &h))
		}
		s.header = h
		return
	}
	if s.catalog != nil {
		m.unlist(s)
	}
	s.header = h
	m.list(s)
}

// list adds s to the orders it belongs to. The caller holds mu.
func (m *MemoryStore) list(s *memSession) {
	h := &s.header
	if m.owners == nil {
		m.owners, m.scopes = make(map[string]*catalog), make(map[scopeKey]*order)
	}
	s.catalog = m.owners[h.Owner]
	if s.catalog == nil {
		s.catalog = new(catalog)
		m.owners[h.Owner] = s.catalog
	}
	for _, c := range []*catalog{&m.all, s.catalog} {
		c.updated.add(updatedPlace(s, h))
		c.created.add(createdPlace(s, h))
	}
	if h.Scope != "" {
		k := scopeKey{h.Owner, h.Scope}
		if m.scopes[k] == nil {
			m.scopes[k] = new(order)
		}
		m.scopes[k].add(createdPlace(s, h))
	}
}

// unlist takes s out of all orders. The caller holds mu.
func (m *MemoryStore) unlist(s *memSession) {
	h := &s.header
	for _, c := range []*catalog{&m.all, s.catalog} {
		c.updated.remove(updatedPlace(s, h))
		c.created.remove(createdPlace(s, h))
	}
	if len(s.catalog.created.chunks) == 0 {
		delete(m.owners, h.Owner)
	}
	s.catalog = nil
	if h.Scope != "" {
		k := scopeKey{h.Owner, h.Scope}
		m.scopes[k].remove(createdPlace(s, h))
		if len(m.scopes[k].chunks) == 0 {
			delete(m.scopes, k)
		}
	}
}

// ordered returns the sessions that a listing goes through, in an order that
// ends with its first. The caller holds mu.
func (m *MemoryStore) ordered(q Query) *order {
	c := &m.all
	if !q.AllOwners {
		if c = m.owners[q.Owner]; c == nil {
			return new(order)
		}
		if q.Scope != "" {
			return m.scoped(q)
		}
	}
	if q.ByCreated {
		return &c.created
	}
	return &c.updated
}

// scoped is ordered for a scope of one owner. A scope is kept in the order of
// creation, which finds its current session. For the other order it is sorted.
func (m *MemoryStore) scoped(q Query) *order {
	o := m.scopes[scopeKey{q.Owner, q.Scope}]
	if o == nil {
		return new(order)
	}
	if q.ByCreated {
		return o
	}
	var sorted []place
	for p := range o.before(nil) {
		sorted = append(sorted, updatedPlace(p.session, &p.session.header))
	}
	if len(sorted) == 0 {
		return new(order)
	}
	slices.SortFunc(sorted, place.compare)
	return &order{chunks: [][]place{sorted}}
}

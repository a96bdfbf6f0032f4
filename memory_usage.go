package sequent

import (
	"cmp"
	"context"
	"slices"
)

// Usage implements [Store]. It reads the headers of the owner, or of all.
func (m *MemoryStore) Usage(ctx context.Context, q UsageQuery) ([]Usage, error) {
	if err := ctx.Err(); err != nil {
		return nil, canceled(err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	owners := make(map[string]Usage)
	for p := range m.ordered(Query{Owner: q.Owner, AllOwners: q.AllOwners}).before(nil) {
		h := &p.session.header
		u := owners[h.Owner]
		u.Owner, u.Sessions, u.Thoughts, u.Bytes = h.Owner, u.Sessions+1, u.Thoughts+h.Len, u.Bytes+h.Bytes
		if h.Updated.After(u.Updated) {
			u.Updated = h.Updated
		}
		owners[h.Owner] = u
	}
	for owner, n := range m.refused {
		if q.AllOwners || owner == q.Owner {
			u := owners[owner]
			u.Owner, u.Refused = owner, n
			owners[owner] = u
		}
	}
	var all []Usage
	for _, u := range owners {
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b Usage) int { return cmp.Compare(a.Owner, b.Owner) })
	return all, nil
}

// AddRefused implements [Store].
func (m *MemoryStore) AddRefused(ctx context.Context, owner string, n int64) error {
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused == nil {
		m.refused = make(map[string]int64)
	}
	m.refused[owner] += n
	return nil
}

package jsonlines

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/sequent-dev/sequent"
)

// Usage implements [sequent.Store]. It reads the headers of all sessions.
func (s *Store) Usage(ctx context.Context, q sequent.UsageQuery) ([]sequent.Usage, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	owners := make(map[string]sequent.Usage)
	for owner, n := range s.refused {
		owners[owner] = sequent.Usage{Owner: owner, Refused: n}
	}
	for k, v := range s.sessions {
		u := owners[k.Owner]
		u.Owner, u.Sessions, u.Thoughts, u.Bytes = k.Owner, u.Sessions+1, u.Thoughts+v.header.Len, u.Bytes+v.header.Bytes
		if v.header.Updated.After(u.Updated) {
			u.Updated = v.header.Updated
		}
		owners[k.Owner] = u
	}
	maps.DeleteFunc(owners, func(owner string, _ sequent.Usage) bool { return !q.AllOwners && owner != q.Owner })
	return slices.SortedFunc(maps.Values(owners), func(a, b sequent.Usage) int { return cmp.Compare(a.Owner, b.Owner) }), nil
}

// AddRefused implements [sequent.Store].
func (s *Store) AddRefused(ctx context.Context, owner string, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	l := line{Header: sequent.Header{Key: sequent.Key{Owner: owner}}, Refused: n}
	if err := s.append([]line{l}); err != nil {
		return err
	}
	s.apply(nil, l)
	return nil
}

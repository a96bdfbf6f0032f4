package sequent

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"
)

// A Searcher is a [Store] that finds thoughts by an index. It finds a thought as soon as the
// thought's commit has returned.
type Searcher interface {
	Search(ctx context.Context, q SearchQuery) (Hits, error)
}

// A Watcher is a [Store] that reports changes.
type Watcher interface {
	// Watch returns a watch of no sessions. It reports the changes of all processes,
	// including those of a header, deletions and sweeps: from the call of Watch.Add on,
	// none is missed. Once changes may have been missed, for example because a connection
	// broke, all sessions are reported. Sessions may be reported that have not changed, but
	// not without end. A store has a [Feed] for this, and looks for the changes of other
	// processes once, however many sessions are watched. The caller closes the watch.
	Watch(ctx context.Context) (*Watch, error)
}

// A Sweeper is a [Store] that deletes many sessions at a time.
type Sweeper interface {
	// Sweep deletes at most limit of the sessions that q selects and returns how many it
	// deleted. It leaves room for writers. A session that has been changed meanwhile, so
	// that q no longer selects it, is kept.
	Sweep(ctx context.Context, q SweepQuery, limit int) (int, error)
}

// A UsageStore is a [Store] that counts what owners have.
type UsageStore interface {
	// Usage returns what is stored for the owners that q selects and that have sessions,
	// sorted by owner.
	Usage(ctx context.Context, q UsageQuery) ([]Usage, error)
}

// An OwnerStore is a [Store] that can give the sessions of an owner to another one.
type OwnerStore interface {
	// RenameOwner gives all sessions of an owner to another one, in one step, and returns
	// how many they are. If the other one has a session with the ID of one of them, the
	// error matches ErrExists, and nothing is changed. Each session gets the seal of its new
	// header; its log stays as it is.
	RenameOwner(ctx context.Context, from, to string) (int, error)
}

// Values is a [Store] that keeps small values beside the sessions, of which they are no part.
type Values interface {
	// PutValue keeps a value under a name until a time. It may remove others whose time has
	// come.
	PutValue(ctx context.Context, name string, value []byte, expires time.Time) error
	// ValuesOf returns the values whose names begin with a prefix, by name, perhaps also some
	// whose time has come.
	ValuesOf(ctx context.Context, prefix string) (map[string][]byte, error)
	// TakeValue removes a value and returns it. Of several calls at a time, in any process,
	// one gets it, and the others nil.
	TakeValue(ctx context.Context, name string) ([]byte, error)
}

// As returns s as a store that can do what T says, such as a [Searcher]: s itself, or one that
// it wraps and returns from a method Unwrap() Store.
func As[T any](s Store) (T, bool) {
	for s != nil {
		if t, ok := s.(T); ok {
			return t, true
		}
		w, ok := s.(interface{ Unwrap() Store })
		if !ok {
			break
		}
		s = w.Unwrap()
	}
	var none T
	return none, false
}

// headers yields the headers that q selects, in pages of q.Limit or 500. It ends after an error.
func headers(ctx context.Context, s Store, q Query) iter.Seq2[Header, error] {
	return func(yield func(Header, error) bool) {
		q.Limit = cmp.Or(q.Limit, 500)
		for {
			page, err := s.List(ctx, q)
			if err != nil {
				yield(Header{}, err)
				return
			}
			for _, h := range page.Headers {
				if !yield(h, nil) {
					return
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return
			}
		}
	}
}

// SweepStore does what [Sweeper] says with any store.
func SweepStore(ctx context.Context, s Store, q SweepQuery, limit int) (n int, err error) {
	if sweeper, ok := As[Sweeper](s); ok {
		return sweeper.Sweep(ctx, q, limit)
	}
	for h, err := range headers(ctx, s, Query{Owner: q.Owner, AllOwners: q.AllOwners}) {
		if err != nil || n == limit {
			return n, err
		}
		if !q.selects(&h) {
			continue
		}
		now, _, err := s.Load(ctx, h.Key, h.Position())
		if err == nil && q.selects(&now) {
			err = s.Delete(ctx, h.Key, now.Epoch)
			n++
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return n, err
		}
	}
	return n, nil
}

// UsageOf does what [UsageStore] says with any store.
func UsageOf(ctx context.Context, s Store, q UsageQuery) ([]Usage, error) {
	if counts, ok := As[UsageStore](s); ok {
		return counts.Usage(ctx, q)
	}
	owners := make(map[string]Usage)
	for h, err := range headers(ctx, s, Query{Owner: q.Owner, AllOwners: q.AllOwners}) {
		if err != nil {
			return nil, err
		}
		u := owners[h.Owner]
		u.Owner, u.Sessions, u.Thoughts, u.Bytes = h.Owner, u.Sessions+1, u.Thoughts+h.Len, u.Bytes+h.Bytes
		if h.Updated.After(u.Updated) {
			u.Updated = h.Updated
		}
		owners[h.Owner] = u
	}
	return slices.SortedFunc(maps.Values(owners), func(a, b Usage) int { return cmp.Compare(a.Owner, b.Owner) }), nil
}

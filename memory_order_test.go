package sequent

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// put commits a header as an engine would.
func (m *MemoryStore) put(t testing.TB, h Header) {
	t.Helper()
	now, _, err := m.Load(context.Background(), h.Key, Position{}, 0)
	if err == nil {
		h.Version = now.Version + 1
	}
	w := &Write{Base: now.Position(), Header: h}
	if err := m.Commit(context.Background(), []*Write{w}); err != nil || w.Err != nil {
		t.Fatal(err, w.Err)
	}
}

// TestOrderOfListings compares listings with those of a sorted slice while
// sessions come, change and go.
func TestOrderOfListings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := NewMemoryStore()
	model := make(map[Key]Header)
	at := func() time.Time { return time.UnixMicro(rng.Int64N(4000)).UTC() } // many ties
	var last Key
	for round := range 5000 {
		k := Key{Owner: []string{"", "a", "b"}[rng.IntN(3)], ID: ID(fmt.Sprint(rng.IntN(900)))}
		if rng.IntN(4) == 0 {
			k = last // most sessions are changed several times in a row
		}
		last = k
		h, exists := model[k]
		switch r := rng.IntN(10); {
		case round > 4000 && r < 8 && exists:
			if err := m.Delete(t.Context(), k, 0); err != nil {
				t.Fatal(err)
			}
			delete(model, k)
			continue
		case !exists:
			h = Header{Key: k, Epoch: 1 + rng.Int64N(3), Version: 1, Created: at(), Scope: []string{"", "x", "y"}[rng.IntN(3)]}
		case r == 0: // Restore may change these
			h.Created, h.Scope = at(), "y"
		}
		h.Updated = at()
		if rng.IntN(3) == 0 {
			h.Updated = time.UnixMicro(int64(5000 + round)).UTC() // as it mostly is
		}
		m.put(t, h)
		model[k] = h
		if round%500 != 0 {
			continue
		}
		for range 10 {
			q := Query{
				Owner: k.Owner, AllOwners: rng.IntN(3) == 0, Scope: []string{"", "", "x"}[rng.IntN(3)],
				ByCreated: rng.IntN(2) == 0, Limit: []int{0, 1, 7, 600}[rng.IntN(4)],
			}
			if rng.IntN(2) == 0 {
				q.Since = at()
			}
			compareListing(t, m, model, q)
		}
	}
	for k := range model {
		if err := m.Delete(t.Context(), k, 0); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.all.created.chunks) != 0 || len(m.all.updated.chunks) != 0 || len(m.owners) != 0 || len(m.scopes) != 0 {
		t.Errorf("deleted sessions are listed: %+v", m)
	}
}

func compareListing(t *testing.T, m *MemoryStore, model map[Key]Header, q Query) {
	t.Helper()
	stamp := func(h Header) time.Time {
		if q.ByCreated {
			return h.Created
		}
		return h.Updated
	}
	var want []Key
	for k, h := range model {
		if (q.AllOwners || k.Owner == q.Owner) && (q.Scope == "" || h.Scope == q.Scope) && !h.Updated.Before(q.Since) {
			want = append(want, k)
		}
	}
	slices.SortFunc(want, func(a, b Key) int {
		x, y := model[a], model[b]
		return cmp.Or(stamp(y).Compare(stamp(x)), cmp.Compare(y.Epoch, x.Epoch), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.ID, b.ID))
	})
	var got []Key
	for {
		page, err := m.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if n := cmp.Or(q.Limit, 100); len(page.Headers) > n || page.Next != "" && len(page.Headers) < n {
			t.Fatalf("%+v: a page of %d", q, len(page.Headers))
		}
		for _, h := range page.Headers {
			got = append(got, h.Key)
		}
		if page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%+v lists %d sessions, want %d:\n%v\n%v", q, len(got), len(want), got, want)
	}
}

// TestListingReadsFewSessions counts what listings read among 100,000 sessions.
func TestListingReadsFewSessions(t *testing.T) {
	m := manySessions(t, 100_000)
	for name, tt := range map[string]struct {
		q    Query
		most int
	}{
		"current session of a scope":    {Query{Scope: "scope 7", ByCreated: true, Limit: 1}, 2},
		"current session of an old one": {Query{Scope: "only", ByCreated: true, Limit: 1}, 1},
		"no such scope":                 {Query{Scope: "none", ByCreated: true, Limit: 1}, 0},
		"last changed":                  {Query{Limit: 20}, 21},
		"last begun":                    {Query{Limit: 20, ByCreated: true}, 21},
		"of all owners":                 {Query{Limit: 20, AllOwners: true}, 21},
		"of a small owner":              {Query{Limit: 20, Owner: "small"}, 1},
		"of nobody":                     {Query{Limit: 20, Owner: "nobody"}, 0},
	} {
		page, read, err := m.page(tt.q)
		if err != nil || read > tt.most || read < len(page.Headers) {
			t.Errorf("%s: %d read for %d, want at most %d (%v)", name, read, len(page.Headers), tt.most, err)
		}
		if page.Next == "" {
			continue
		}
		tt.q.Cursor = page.Next
		if next, read, err := m.page(tt.q); err != nil || read > tt.most || len(next.Headers) == 0 {
			t.Errorf("%s, next page: %d read for %d, want at most %d (%v)", name, read, len(next.Headers), tt.most, err)
		}
	}
}

// manySessions returns a store with n sessions in 1,000 scopes and two beside.
func manySessions(tb testing.TB, n int) *MemoryStore {
	m := NewMemoryStore()
	m.put(tb, Header{Key: Key{ID: "only"}, Epoch: 1, Version: 1, Scope: "only", Created: time.UnixMicro(1), Updated: time.UnixMicro(1)})
	m.put(tb, Header{Key: Key{Owner: "small", ID: "s"}, Epoch: 1, Version: 1, Created: time.UnixMicro(1), Updated: time.UnixMicro(1)})
	for i := range n {
		at := time.UnixMicro(int64(i))
		m.put(tb, Header{Key: Key{ID: ID(fmt.Sprint(i))}, Epoch: 1, Version: 1, Scope: fmt.Sprint("scope ", i%1000), Created: at, Updated: at})
	}
	return m
}

func BenchmarkMemoryStore(b *testing.B) {
	const n = 100_000
	m := manySessions(b, n)
	for name, q := range map[string]Query{
		"current session of a scope": {Scope: "scope 7", ByCreated: true, Limit: 1},
		"list of 20":                 {Limit: 20},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if page, err := m.List(b.Context(), q); err != nil || len(page.Headers) != q.Limit {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("change of any session", func(b *testing.B) {
		b.ReportAllocs()
		rng := rand.New(rand.NewPCG(1, 2))
		at := int64(n)
		for b.Loop() {
			at++
			h := m.sessions[Key{ID: ID(fmt.Sprint(rng.IntN(n)))}].header
			w := &Write{Base: h.Position(), Header: h}
			w.Header.Version++
			w.Header.Updated = time.UnixMicro(at)
			if err := m.Commit(b.Context(), []*Write{w}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// shareStore returns a new store, or skips the test if it keeps no shares.
func (h Harness) shareStore(t *testing.T) sequent.ShareStore {
	t.Helper()
	s, ok := h.open(t).(sequent.ShareStore)
	if !ok {
		t.Skip("the store keeps no shares")
	}
	return s
}

// share returns a share of a session that lasts for some hours.
func share(k sequent.Key, n byte, hours int) sequent.Share {
	s := sequent.Share{Key: k, Hash: [32]byte{n, 0, 7: n, 31: 0xff}, Created: start.Add(time.Duration(n) * time.Second), By: "x\x00\"ann", Mask: "\x00[" + string(rune(n))}
	s.Expires = s.Created.Add(time.Duration(hours) * time.Hour)
	return s
}

var shareTests = []test{
	{"until they are revoked", func(t *testing.T, h Harness) {
		s := h.shareStore(t)
		ann, bob := sequent.Key{Owner: "ann", ID: "a\x00"}, sequent.Key{Owner: "bob", ID: "a\x00"}
		other := sequent.Key{Owner: "ann", ID: "b"}
		if err := s.AddShare(t.Context(), share(ann, 1, 1)); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("a share of no session: %v", err)
		}
		put(t, s, begin(ann, "one"), begin(bob, "one"), begin(other, "one"))
		all := []sequent.Share{share(other, 4, 9), share(bob, 3, 9), share(ann, 2, 9), share(ann, 1, 2)}
		for _, a := range slices.Backward(all) {
			if err := s.AddShare(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		list := func(q sequent.ShareQuery, want ...sequent.Share) {
			t.Helper()
			if got, err := s.Shares(t.Context(), q); err != nil || !slices.Equal(got, want) {
				t.Errorf("Shares(%+v): %v, %v, want %v", q, got, err, want)
			}
		}
		list(sequent.ShareQuery{AllOwners: true, Now: start}, all...)
		list(sequent.ShareQuery{Owner: "ann", Now: start}, all[0], all[2], all[3])
		list(sequent.ShareQuery{Owner: "ann", Session: ann.ID, Now: start}, all[2], all[3])
		list(sequent.ShareQuery{Owner: "ann", Session: ann.ID, Now: all[3].Expires}, all[2])
		list(sequent.ShareQuery{Owner: "eve", Session: ann.ID, Now: start})
		for _, a := range all {
			if got, err := s.FindShare(t.Context(), a.Hash); err != nil || got != a {
				t.Errorf("FindShare: %v, %v, want %v", got, err, a)
			}
		}
		stranger := all[1]
		stranger.Key.Owner = "eve"
		for _, a := range []sequent.Share{stranger, all[2], all[2]} {
			if err := s.RemoveShare(t.Context(), a); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.FindShare(t.Context(), all[2].Hash); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("a revoked share: %v", err)
		}
		list(sequent.ShareQuery{AllOwners: true, Now: start}, all[0], all[1], all[3])
		late := share(ann, 200, 1) // when the first has expired
		late.Created = all[3].Expires
		late.Expires = late.Created.Add(time.Hour)
		if err := s.AddShare(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		list(sequent.ShareQuery{AllOwners: true, Now: start}, late, all[0], all[1])
	}},
	{"end with their session", func(t *testing.T, h Harness) {
		s := h.shareStore(t)
		deleted, swept, kept := key("deleted"), key("swept"), key("kept")
		goesOn := begin(kept, "one")
		put(t, s, begin(deleted, "one"), begin(swept, "one"), goesOn)
		for i, k := range []sequent.Key{deleted, swept, kept} {
			if err := s.AddShare(t.Context(), share(k, byte(1+i), 1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Delete(t.Context(), deleted, 0); err != nil {
			t.Fatal(err)
		}
		again := begin(deleted, "another")
		again.Header.Epoch++
		put(t, s, again, next(goesOn.Header, "two"))
		if got, err := s.Shares(t.Context(), sequent.ShareQuery{Now: start}); err != nil || len(got) != 2 {
			t.Errorf("after a deletion: %v, %v", got, err)
		}
		if _, err := s.FindShare(t.Context(), share(deleted, 1, 1).Hash); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("the share of a session that was begun again: %v", err)
		}
		if _, err := s.Sweep(t.Context(), sequent.SweepQuery{AllOwners: true, Before: start.Add(24 * time.Hour)}, 10); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Shares(t.Context(), sequent.ShareQuery{Now: start}); err != nil || len(got) != 0 {
			t.Errorf("after a sweep: %v, %v", got, err)
		}
	}},
	{"in every process", func(t *testing.T, h Harness) {
		s := h.shareStore(t)
		other, ok := h.second(t, s).(sequent.ShareStore)
		if !ok {
			t.Fatal("the second store keeps no shares")
		}
		put(t, s, begin(key("a"), "one"))
		a := share(key("a"), 1, 1)
		if err := s.AddShare(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if got, err := other.FindShare(t.Context(), a.Hash); err != nil || got != a {
			t.Errorf("FindShare: %v, %v", got, err)
		}
		if err := other.RemoveShare(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if _, err := s.FindShare(t.Context(), a.Hash); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("a share that another process has revoked: %v", err)
		}
	}},
	{"tickets are taken once", func(t *testing.T, h Harness) {
		s := h.shareStore(t)
		ticket := func(n byte, seconds int) sequent.Ticket {
			created := start.Add(time.Duration(n) * time.Minute)
			return sequent.Ticket{Hash: [32]byte{n, 0, 31: 0xff}, Sealed: []byte{n, 0, 0xff}, Created: created, Expires: created.Add(time.Duration(seconds) * time.Second)}
		}
		if _, err := s.TakeTicket(t.Context(), ticket(1, 1).Hash); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("no ticket: %v", err)
		}
		for _, n := range []byte{1, 2, 3} {
			if err := s.AddTicket(t.Context(), ticket(n, 3600)); err != nil {
				t.Fatal(err)
			}
		}
		stores := []sequent.ShareStore{s}
		if h.Second != nil {
			stores = append(stores, h.second(t, s).(sequent.ShareStore))
		}
		const callers = 8
		results := make(chan error, callers)
		for i := range callers {
			go func() {
				got, err := stores[i%len(stores)].TakeTicket(t.Context(), ticket(2, 0).Hash)
				if want := ticket(2, 3600); err == nil && (got.Hash != want.Hash || !slices.Equal(got.Sealed, want.Sealed) || !got.Created.Equal(want.Created) || !got.Expires.Equal(want.Expires)) {
					t.Errorf("the ticket is %v, want %v", got, want)
				}
				results <- err
			}()
		}
		taken := 0
		for range callers {
			switch err := <-results; {
			case err == nil:
				taken++
			case !errors.Is(err, sequent.ErrNotFound):
				t.Error(err)
			}
		}
		if taken != 1 {
			t.Errorf("the ticket was taken %d times", taken)
		}
		for _, n := range []byte{1, 3} {
			if _, err := s.TakeTicket(t.Context(), ticket(n, 0).Hash); err != nil {
				t.Errorf("another ticket: %v", err)
			}
		}
	}},
}

package storetest

import (
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
)

// usage returns what s stores for the selected owners.
func usage(t *testing.T, s sequent.Store, q sequent.Query) []sequent.Usage {
	t.Helper()
	all, err := sequent.UsageOf(t.Context(), s, q)
	if err != nil {
		t.Fatalf("Usage(%+v): %v", q, err)
	}
	return all
}

// sized returns a write to a session that has n bytes afterwards.
func sized(w *sequent.Write, n int64) *sequent.Write {
	w.Header.Bytes = n
	return w
}

var usageTests = []test{
	{"of each owner", func(t *testing.T, h Harness) {
		s := h.open(t)
		everyone := sequent.Query{AllOwners: true}
		if all := usage(t, s, everyone); len(all) != 0 {
			t.Errorf("Usage of an empty store is %+v", all)
		}
		if all := usage(t, s, sequent.Query{Owner: "ann"}); len(all) != 0 {
			t.Errorf("Usage of an owner without sessions is %+v", all)
		}
		ann, bob := sequent.Key{Owner: "ann", ID: "a"}, sequent.Key{Owner: "bob", ID: "a"}
		a := sized(begin(ann, "one"), 1000)
		put(t, s, a, sized(begin(bob, "one", "two"), 20), sized(begin(key("a"), "one"), 3))
		latest := sized(next(a.Header, "two", "three"), 5_000_000_000)
		other := sized(begin(sequent.Key{Owner: "ann", ID: "b"}, "one"), 7)
		put(t, s, latest)
		put(t, s, other)
		first, last := other.Header.Updated, latest.Header.Updated
		if !last.After(first) {
			t.Fatalf("the session was changed at %v, the other at %v", last, first)
		}
		want := []sequent.Usage{
			{Sessions: 1, Thoughts: 1, Bytes: 3, Updated: first},
			{Owner: "ann", Sessions: 2, Thoughts: 4, Bytes: 5_000_000_007, Updated: last},
			{Owner: "bob", Sessions: 1, Thoughts: 2, Bytes: 20, Updated: first},
		}
		s = h.reopen(t, s)
		if all := usage(t, s, everyone); !slices.Equal(all, want) {
			t.Errorf("Usage of all owners is %+v, want %+v", all, want)
		}
		for _, u := range want {
			if one := usage(t, s, sequent.Query{Owner: u.Owner}); !slices.Equal(one, []sequent.Usage{u}) {
				t.Errorf("Usage of %q is %+v, want %+v", u.Owner, one, u)
			}
		}
		if err := s.Delete(t.Context(), ann, 0); err != nil {
			t.Fatal(err)
		}
		want[1] = sequent.Usage{Owner: "ann", Sessions: 1, Thoughts: 1, Bytes: 7, Updated: first}
		if all := usage(t, s, everyone); !slices.Equal(all, want) {
			t.Errorf("Usage after a deletion is %+v, want %+v", all, want)
		}
	}},
	{"of the bytes in a header", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := sized(begin(key("a"), "one"), 1)
		for i := range int64(3) {
			put(t, s, w)
			if head, _ := load(t, s, key("a")); head.Bytes != 1+i {
				t.Errorf("after write %d the header has %d bytes, want %d", i+1, head.Bytes, i+1)
			}
			w = sized(next(w.Header, "more"), 2+i)
		}
		w.Header.Title, w.Header.Bytes = "another", 100 // other statements than an append needs
		put(t, s, w)
		page, err := s.List(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 1 || page.Headers[0].Bytes != 100 {
			t.Errorf("List has %+v, %v; want 100 bytes", page.Headers, err)
		}
	}},
}

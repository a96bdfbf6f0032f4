package storetest

import (
	"fmt"
	"testing"

	"github.com/sequent-dev/sequent"
)

// owners returns a new store, or skips the test if it cannot rename owners.
func (h Harness) owners(t *testing.T) (sequent.Store, sequent.OwnerStore) {
	t.Helper()
	s := h.Open(t)
	owners, ok := sequent.As[sequent.OwnerStore](s)
	if !ok {
		t.Skip("the store cannot rename owners")
	}
	return s, owners
}

var ownerTests = []test{
	{"gets the sessions of another", func(t *testing.T, h Harness) {
		s, owners := h.owners(t)
		var batch []*sequent.Write
		for i, owner := range []string{"ann", "ann", "bob", ""} {
			w := begin(sequent.Key{Owner: owner, ID: sequent.ID(fmt.Sprint(i))}, "one", "two "+owner)
			w.Header.Labels = map[string]string{"a": "b"}
			prove(w)
			batch = append(batch, w)
		}
		put(t, s, batch...)
		if n, err := owners.RenameOwner(t.Context(), "ann", "bob"); err != nil || n != 2 {
			t.Fatalf("RenameOwner = %d, %v; want 2", n, err)
		}
		s = h.reopen(t, s)
		for i := range 2 {
			was := batch[i].Header
			missing(t, s, was.Key)
			k := sequent.Key{Owner: "bob", ID: was.ID}
			intact(t, s, k)
			got, _ := load(t, s, k)
			was.Owner, was.Seal = "bob", got.Seal
			sameHeader(t, got, was)
			put(t, s, next(got, "three"))
			intact(t, s, k)
		}
		if got := texts(hits(t, s, sequent.SearchQuery{Owner: "bob", Text: "two"})); len(got) != 3 {
			t.Errorf("a search of bob's found %q, want 3 thoughts", got)
		}
		if got := texts(hits(t, s, sequent.SearchQuery{Owner: "ann", Text: "two"})); len(got) != 0 {
			t.Errorf("a search of ann's found %q", got)
		}
		if got := ids(t, s, sequent.Query{}); got != "3" {
			t.Errorf("the local user has %q, want 3", got)
		}
	}},
	{"refuses an id that both have", func(t *testing.T, h Harness) {
		s, owners := h.owners(t)
		put(t, s, begin(sequent.Key{Owner: "ann", ID: "a"}, "one"), begin(sequent.Key{Owner: "ann", ID: "b"}, "one"), begin(sequent.Key{Owner: "bob", ID: "b"}, "mine"))
		if n, err := owners.RenameOwner(t.Context(), "ann", "bob"); sequent.CodeOf(err) != sequent.CodeSessionExists || n != 0 {
			t.Errorf("RenameOwner = %d, %v; want 0 and code %s", n, err, sequent.CodeSessionExists)
		}
		has(t, s, sequent.Key{Owner: "ann", ID: "a"}, "one")
		has(t, s, sequent.Key{Owner: "ann", ID: "b"}, "one")
		has(t, s, sequent.Key{Owner: "bob", ID: "b"}, "mine")
	}},
}

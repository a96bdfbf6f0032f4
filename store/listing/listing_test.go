package listing_test

import (
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/listing"
)

func TestCursor(t *testing.T) {
	h := sequent.Header{Created: time.UnixMicro(-5), Updated: time.UnixMicro(1 << 50)}
	for _, byCreated := range []bool{false, true} {
		q := sequent.Query{ByCreated: byCreated}
		if c, err := listing.After(q); c != nil || err != nil {
			t.Errorf("After without a cursor = %v, %v, want nil", c, err)
		}
		c := listing.At(q, 42, &h)
		want := listing.Cursor{ByCreated: byCreated, At: 1 << 50, Key: 42}
		if byCreated {
			want.At = -5
		}
		if c != want {
			t.Errorf("At = %+v, want %+v", c, want)
		}
		q.Cursor = c.String()
		if got, err := listing.After(q); err != nil || *got != c {
			t.Errorf("After(%+v) = %+v, %v", c, got, err)
		}
		q.ByCreated = !byCreated
		if _, err := listing.After(q); sequent.CodeOf(err) != sequent.CodeInvalidQuery {
			t.Errorf("After with a cursor from the other order = %v, want %s", err, sequent.CodeInvalidQuery)
		}
	}
}

func FuzzAfter(f *testing.F) {
	f.Add("dHJ1ZSAxIDI", true)
	f.Add("*", false)
	f.Add(listing.Cursor{At: 1, Key: 2}.String()+"\n", false)
	f.Fuzz(func(t *testing.T, s string, byCreated bool) {
		c, err := listing.After(sequent.Query{Cursor: s, ByCreated: byCreated})
		switch {
		case err != nil && sequent.CodeOf(err) != sequent.CodeInvalidQuery:
			t.Errorf("After(%q): %v", s, err)
		case err == nil && s != "" && c.String() != s:
			t.Errorf("After(%q) = %q, want the same", s, c)
		}
	})
}

package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// values returns a new store, or skips the test if it keeps no values.
func (h Harness) values(t *testing.T) (sequent.Store, sequent.Values) {
	t.Helper()
	s := h.open(t)
	v, ok := sequent.As[sequent.Values](s)
	if !ok {
		t.Skip("the store keeps no values")
	}
	return s, v
}

var keptTests = []test{
	{"by name and prefix", func(t *testing.T, h Harness) {
		s, v := h.values(t)
		later := time.Now().Add(time.Hour)
		for _, name := range []string{"link/a", "link/b", "link%", "code/a", "LINK/a", "link/\u00e9"} {
			if err := v.PutValue(t.Context(), name, []byte("of \x00 "+name), later); err != nil {
				t.Fatal(err)
			}
		}
		if err := v.PutValue(t.Context(), "link/b", []byte("another"), later); err != nil {
			t.Fatal(err)
		}
		if h.Second != nil {
			v, _ = sequent.As[sequent.Values](h.second(t, s))
		}
		for prefix, want := range map[string]map[string]string{
			"link/": {"link/a": "of \x00 link/a", "link/b": "another", "link/\u00e9": "of \x00 link/\u00e9"},
			"link%": {"link%": "of \x00 link%"}, "code/a": {"code/a": "of \x00 code/a"}, "none": {},
		} {
			got, err := v.ValuesOf(t.Context(), prefix)
			if err != nil || len(got) != len(want) {
				t.Errorf("the values of %q are %q, %v; want %q", prefix, got, err, want)
			}
			for name := range want {
				if string(got[name]) != want[name] {
					t.Errorf("%q is %q, want %q", name, got[name], want[name])
				}
			}
		}
		if page, err := s.List(t.Context(), sequent.Query{AllOwners: true}); err != nil || len(page.Headers) != 0 {
			t.Errorf("values are listed: %+v, %v", page, err)
		}
	}},
	{"one of many takes a value", func(t *testing.T, h Harness) {
		s, v := h.values(t)
		other := v
		if h.Second != nil {
			other, _ = sequent.As[sequent.Values](h.second(t, s))
		}
		for i := range 10 {
			name := fmt.Sprint("code/", i)
			if err := v.PutValue(t.Context(), name, []byte("once"), time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			var taken atomic.Int64
			concurrently(t, 8, func(i int) error {
				got, err := []sequent.Values{v, other}[i%2].TakeValue(t.Context(), name)
				if string(got) == "once" {
					taken.Add(1)
				}
				return err
			})
			if n := taken.Load(); n != 1 {
				t.Errorf("%d callers took the value, want 1", n)
			}
		}
	}},
	{"values whose time has come make room", func(t *testing.T, h Harness) {
		_, v := h.values(t)
		put := func(name string, expires time.Time) {
			t.Helper()
			if err := v.PutValue(t.Context(), name, []byte("x"), expires); err != nil {
				t.Fatal(err)
			}
		}
		put("old", time.Now().Add(-time.Hour))
		put("new", time.Now().Add(time.Hour))
		if got, err := v.ValuesOf(t.Context(), ""); err != nil || len(got) != 1 || got["new"] == nil {
			t.Errorf("the values are %q, %v; want only the new one", got, err)
		}
	}},
}

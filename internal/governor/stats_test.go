package governor

import "testing"

func TestStats(t *testing.T) {
	g := New(Config{Limits: Limits{Calls: 3}, Rate: 1, Burst: 1})
	a, b := g.Subject("a"), g.Subject("b")
	defer a.Release()
	defer b.Release()
	for _, s := range []*Subject{a, b} {
		if err := s.Request(); err != nil {
			t.Fatal(err)
		}
	}
	if a.Request() == nil {
		t.Error("the second request at once was admitted")
	}
	if err := a.Take(Calls, 2); err != nil {
		t.Fatal(err)
	}
	if a.Take(Calls, 1) == nil || b.TakeUnshared(Calls, 2) == nil {
		t.Error("more was taken than there is")
	}
	s := g.Stats()
	if s.Requests != 3 || s.Throttled != 1 {
		t.Errorf("%d requests, %d throttled; want 3 and 1", s.Requests, s.Throttled)
	}
	if want := (ResourceStats{Resource: Calls, Used: 2, Limit: 3, RefusedOwn: 1, RefusedAll: 1}); s.Resources[Calls] != want {
		t.Errorf("calls: %+v, want %+v", s.Resources[Calls], want)
	}
}

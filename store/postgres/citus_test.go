//go:build unix

package postgres

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// The first start decides whether a store is distributed, whatever later ones say. Renaming an
// owner moves sessions to other shards.
func TestDistributedStays(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	url := citus.Schema(t)
	openAt(t, url).Close()
	s := openAt(t, strings.Replace(url, "distributed=1", "distributed=0", 1))
	defer s.Close()
	if !s.distributed {
		t.Error("a store without distributed=1 does not see that its tables are distributed")
	}
	e := sequent.New(sequent.Config{Store: s})
	for _, id := range []sequent.ID{"a", "b", "c", "d", "e", "f"} {
		if _, err := e.Owned("ann").Ensure(t.Context(), id, adding("heron "+string(id))); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.RenameOwner(t.Context(), "ann", "bob"); n != 6 || err != nil {
		t.Fatalf("RenameOwner = %d, %v, want 6", n, err)
	}
	if got, err := e.Owned("bob").Session(t.Context(), "c"); err != nil || got.Fault() != nil || got.Len() != 1 {
		t.Errorf("Session = %+v, %v", got, err)
	}
	for _, f := range Diagnose(t.Context(), url) {
		if f.Status == diagnosis.Fail {
			t.Errorf("%s: %s", f.Check, f.Detail)
		}
	}
}

// A process that ends between a worker's commit and its reply has stored the thought; this one
// asks the worker, and does not store it again.
func TestCommitOfWorkerLost(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	s, err := Open(t.Context(), Config{URL: citus.Schema(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})
	if _, err := e.Ensure(t.Context(), "a", adding("one")); err != nil {
		t.Fatal(err)
	}
	h, _, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	w := &sequent.Write{Base: h.Position(), Header: h, Rebase: func(sequent.Header, []sequent.Entry) bool {
		t.Error("a write that is stored was rebased")
		return false
	}}
	w.Entries = sequent.Entries([]sequent.Thought{{Draft: sequent.Draft{Text: "two"}, Seq: 2, After: 1, At: h.Updated}})
	w.Header.Version, w.Header.Len = 2, 2
	w.Header.Prove(w.Entries)
	for range 2 { // as if the first had not been acknowledged
		s.apart(t.Context(), []*sequent.Write{w}, true)
		if w.Err != nil {
			t.Fatal(w.Err)
		}
	}
	if h, log, err := s.Load(t.Context(), h.Key, sequent.Position{}); err != nil || len(log) != 2 || sequent.Verify(h, log).Fault != nil {
		t.Errorf("the session has %d entries, %v, want 2", len(log), err)
	}
}

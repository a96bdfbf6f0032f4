package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/sequent-dev/sequent"
)

var loadTests = []test{
	{"a missing session", func(t *testing.T, h Harness) {
		s := h.open(t)
		missing(t, s, key("a"))
		missing(t, s, sequent.Key{})
		put(t, s, begin(key("a"), "one"))
		missing(t, s, key("b"))
		missing(t, s, sequent.Key{Owner: "a"})
		missing(t, s, sequent.Key{Owner: "someone", ID: "a"})
	}},
	{"only the thoughts that the caller lacks", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one", "two", "three", "four")
		put(t, s, w)
		at := w.Header.Position()
		all := []string{"one", "two", "three", "four"}
		upto := func(n int) sequent.Position {
			return sequent.Position{Epoch: at.Epoch, Version: 1, Entries: n, Head: w.Entries[n-1].Hash}
		}
		for _, test := range []struct {
			name  string
			have  sequent.Position
			texts []string
		}{
			{"nothing", sequent.Position{}, []string{"one", "two", "three", "four"}},
			{"the epoch only", sequent.Position{Epoch: at.Epoch}, all},
			{"two", upto(2), []string{"three", "four"}},
			{"three", upto(3), []string{"four"}},
			{"all", at, nil},
			{"more than the session has", sequent.Position{Epoch: at.Epoch, Version: 9, Entries: 9, Head: at.Head}, all},
			{"two of another history", sequent.Position{Epoch: at.Epoch, Version: 1, Entries: 2, Head: at.Head}, all},
			{"four of another history", sequent.Position{Epoch: at.Epoch, Version: 1, Entries: 4, Head: upto(2).Head}, all},
			{"another session's", sequent.Position{Epoch: at.Epoch + 1, Version: 1, Entries: 2}, all},
			{"entries without an epoch", sequent.Position{Version: 1, Entries: 2}, all},
		} {
			t.Run(test.name, func(t *testing.T) {
				got, log, err := s.Load(t.Context(), key("a"), test.have)
				if err != nil {
					t.Fatalf("Load with %+v: %v", test.have, err)
				}
				sameHeader(t, got, w.Header)
				sameTexts(t, sequent.Thoughts(log), 5-len(test.texts), test.texts...)
			})
		}
	}},
	{"a session without thoughts", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"))
		put(t, s, w)
		got, log := load(t, s, key("a"))
		sameHeader(t, got, w.Header)
		sameTexts(t, log, 1)
		put(t, s, next(got, "one"))
		has(t, s, key("a"), "one")
	}},
	{"a loaded session does not change", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), "one"))
		before, log := load(t, s, key("a"))
		put(t, s, next(before, "two"))
		if before.Len != 1 || before.Version != 1 {
			t.Errorf("the loaded header changed to %+v", before.Position())
		}
		sameTexts(t, log, 1, "one")
		_ = append(log, sequent.Thought{Seq: 2, Draft: sequent.Draft{Text: "not in the store"}})
		has(t, s, key("a"), "one", "two")
	}},
	{"a cancelled context", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), "one"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := s.Load(ctx, key("a"), sequent.Position{})
		wantCanceled(t, "Load", err)
		_, err = s.List(ctx, sequent.Query{})
		wantCanceled(t, "List", err)
		_, err = sequent.SweepStore(ctx, s, expired(start), 10)
		wantCanceled(t, "Sweep", err)
		wantCanceled(t, "Delete", s.Delete(ctx, key("a"), 0))
		wantCanceled(t, "Commit", s.Commit(ctx, []*sequent.Write{begin(key("b"), "one")}))
		has(t, s, key("a"), "one")
		missing(t, s, key("b"))
		put(t, s, begin(key("b"), "later"))
		has(t, s, key("b"), "later")
	}},
}

func wantCanceled(t *testing.T, call string, err error) {
	t.Helper()
	if sequent.CodeOf(err) != sequent.CodeCanceled || !errors.Is(err, context.Canceled) {
		t.Errorf("%s with a cancelled context: %v, want code %s and an error matching context.Canceled",
			call, err, sequent.CodeCanceled)
	}
}

package sequent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A forked store commits, and then says that it has not.
type forked struct {
	*sequent.MemoryStore
	broken bool
}

var errLine = errors.New("the line went dead")

func (f *forked) Commit(ctx context.Context, batch []*sequent.Write) error {
	err := f.MemoryStore.Commit(ctx, batch)
	if f.broken {
		return errLine
	}
	return err
}

// The engine and the store in memory keep one log. What the engine takes back, or
// writes beyond what is committed, must not be seen there.
func TestWhatIsStoredStays(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := &forked{MemoryStore: sequent.NewMemoryStore()}
	e := sequent.New(sequent.Config{Store: store})
	var want []string
	texts := func(thoughts []sequent.Thought) (out []string) {
		for _, th := range thoughts {
			out = append(out, th.Text)
		}
		return out
	}
	check := func(when string) {
		t.Helper()
		_, entries, err := store.Load(ctx, sequent.Key{ID: "s"}, sequent.Position{})
		got := sequent.Thoughts(entries)
		if err != nil || !slices.Equal(texts(got), want) {
			t.Fatalf("%s the store has %q (%v), want %q", when, texts(got), err, want)
		}
		s, err := e.Session(ctx, "s")
		if err != nil || !slices.Equal(texts(slices.Collect(s.All())), want) {
			t.Fatalf("%s the engine has %q (%v), want %q", when, texts(slices.Collect(s.All())), err, want)
		}
	}
	for i := range 40 {
		text := fmt.Sprint("thought ", i)
		if _, err := e.Ensure(ctx, "s", add(sequent.Draft{Number: i, Text: text})); err != nil {
			t.Fatal(err)
		}
		want = append(want, text)

		refused := errors.New("no")
		if _, err := e.Update(ctx, "s", func(c *sequent.Change) error {
			for range 20 {
				if _, err := c.Append(sequent.Draft{Number: i, Text: "taken back"}); err != nil {
					return err
				}
			}
			return refused
		}); !errors.Is(err, refused) {
			t.Fatal(err)
		}
		check("after a refusal")

		text = fmt.Sprint("unknown ", i)
		store.broken = true
		if _, err := e.Update(ctx, "s", add(sequent.Draft{Number: i, Text: text})); !errors.Is(err, errLine) {
			t.Fatal(err)
		}
		store.broken = false
		want = append(want, text)
		check("after a commit that seemed to fail")

		// Another program writes to the store without an engine.
		h, _, err := store.Load(ctx, sequent.Key{ID: "s"}, sequent.Position{})
		if err != nil {
			t.Fatal(err)
		}
		base := h.Position()
		h.Version++
		h.Len++
		text = fmt.Sprint("by hand ", i)
		w := &sequent.Write{Base: base, Entries: sequent.Entries([]sequent.Thought{{Draft: sequent.Draft{Text: text}, Seq: h.Len}})}
		h.Prove(w.Entries)
		w.Header = h
		if err := store.Commit(ctx, []*sequent.Write{w}); err != nil || w.Err != nil {
			t.Fatal(err, w.Err)
		}
		want = append(want, text)
		check("after a write by hand")
	}
}

// Readers of the store need no lock of the engine's.
func TestReadingWhileWriting(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := sequent.NewMemoryStore()
	engines := []*sequent.Engine{sequent.New(sequent.Config{Store: store}), sequent.New(sequent.Config{Store: store})}
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for i, e := range engines {
		writers.Go(func() {
			for n := range 300 {
				refuse := n%7 == 3
				_, err := e.Ensure(ctx, "s", func(c *sequent.Change) error {
					d := sequent.Draft{Number: n, Text: fmt.Sprint("word ", i, n), Branch: []string{"", "a", "b"}[n%3]}
					if _, err := c.Append(d); err != nil || !refuse {
						return err
					}
					return errLine
				})
				if refuse != errors.Is(err, errLine) || !refuse && err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				_, entries, err := store.Load(ctx, sequent.Key{ID: "s"}, sequent.Position{})
				if err != nil {
					continue // not begun
				}
				thoughts := sequent.Thoughts(entries)
				for i, th := range thoughts {
					if th.Seq != i+1 || th.Text == "" {
						t.Errorf("thought %d of %d is %+v", i+1, len(thoughts), th)
						return
					}
				}
				if _, err := sequent.SearchStore(ctx, store, sequent.SearchQuery{Text: "word"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

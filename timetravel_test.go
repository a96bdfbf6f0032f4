package sequent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// A restorable store can be set back to a copy of itself, as an administrator does with
// a backup. The processes that use it are not told.
type restorable struct{ sequent.Store }

func (r *restorable) backup(t *testing.T) sequent.Store {
	t.Helper()
	copied := sequent.NewMemoryStore()
	page, err := r.List(t.Context(), sequent.Query{AllOwners: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range page.Headers {
		h, entries, err := r.Load(t.Context(), h.Key, sequent.Position{})
		if err == nil {
			err = copied.Commit(t.Context(), []*sequent.Write{{Header: h, Entries: entries}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

var errRefused = errors.New("refused")

func refusing(*sequent.Change) error { return errRefused }

// TestTimeTravel sets a store back under two engines that have what it then lacks. They go on with
// what it has, and one of them notes which thoughts are gone.
func TestTimeTravel(t *testing.T) {
	t.Parallel()
	texts := func(e *sequent.Engine) []string {
		t.Helper()
		s, err := e.Session(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for th := range s.All() {
			all = append(all, th.Text)
		}
		if v := verify(t, e, "s"); v.Fault != nil || v.Head != s.Header().Head {
			t.Errorf("Verify = %+v, fault %v", v, v.Fault)
		}
		return all
	}
	for name, lost := range map[string]func(*sequent.Change) error{
		"a thought":       add(plain(3)),
		"two thoughts":    func(c *sequent.Change) error { return errors.Join(add(plain(3))(c), add(plain(4))(c)) },
		"only the header": func(c *sequent.Change) error { c.Conclude("too early"); return nil },
		"only the expiry": func(c *sequent.Change) error { c.ExpireAt(time.Now().Add(time.Hour)); return nil },
	} {
		gone := map[string]string{"a thought": "3", "two thoughts": "3-4"}[name]
		for _, again := range []int{0, 1, 2, 5} { // thoughts that another process adds after that
			t.Run(fmt.Sprint(name, " and ", again, " others"), func(t *testing.T) {
				store := &restorable{sequent.NewMemoryStore()}
				var said []string
				cfg := sequent.Config{Store: store, Lost: func(_ context.Context, k sequent.Key, numbers string) {
					said = append(said, fmt.Sprint(k.ID, " ", numbers))
				}}
				a, b := sequent.New(cfg), sequent.New(cfg)
				want := []string{"first", "second"}
				for _, text := range want {
					if _, err := a.Ensure(t.Context(), "s", add(sequent.Draft{Text: text})); err != nil {
						t.Fatal(err)
					}
				}
				backup := store.backup(t)
				if _, err := a.Update(t.Context(), "s", lost); err != nil {
					t.Fatal(err)
				}
				texts(b) // it caches what will be lost
				store.Store = backup
				other := sequent.New(sequent.Config{Store: store})
				for i := range again {
					text := fmt.Sprint("other ", i)
					if _, err := other.Update(t.Context(), "s", add(sequent.Draft{Text: text})); err != nil {
						t.Fatal(err)
					}
					want = append(want, text)
				}
				// It fits what the engine knows, and is refused on what the store has.
				if _, err := a.Update(t.Context(), "s", func(c *sequent.Change) error {
					if n := c.Session().Len(); n == 2+again {
						return errRefused
					}
					return add(plain(9))(c)
				}); !errors.Is(err, errRefused) {
					t.Errorf("a change that is refused: %v", err)
				}
				for i, e := range []*sequent.Engine{a, b, a, b, other} {
					text := fmt.Sprint("next ", i)
					if i > 0 {
						if got := texts(e); !slices.Equal(got, want) {
							t.Errorf("before thought %d an engine has %q, want %q", i, got, want)
						}
					}
					if i > 0 { // the first engine hears of it when it appends
						if _, err := e.Update(t.Context(), "s", refusing); !errors.Is(err, errRefused) {
							t.Errorf("a change that is refused: %v", err)
						}
					}
					if _, err := e.Update(t.Context(), "s", func(*sequent.Change) error { return nil }); err != nil {
						t.Errorf("a change of nothing: %v", err)
					}
					s, err := e.Update(t.Context(), "s", add(sequent.Draft{Text: text}))
					if notes := s.Notes(); (len(notes) == 1) != (gone != "") || len(notes) == 1 &&
						(notes[0].From != sequent.FromStore || notes[0].After != 2+again || !strings.Contains(notes[0].Text, ": "+gone+";")) {
						t.Errorf("append %d: the notes are %+v, want one about %q", i, notes, gone)
					}
					want = append(want, text)
					if err != nil || s.Len() != len(want) {
						t.Fatalf("Update = %d thoughts, %v; want %d", s.Len(), err, len(want))
					}
				}
				if once := slices.DeleteFunc([]string{"s " + gone}, func(string) bool { return gone == "" }); !slices.Equal(said, once) {
					t.Errorf("Lost was called with %q, want %q", said, once)
				}
				for _, e := range []*sequent.Engine{a, b, other} {
					if got := texts(e); !slices.Equal(got, want) {
						t.Errorf("an engine has %q, want %q", got, want)
					}
				}
			})
		}
	}
}

// A forked store commits, and then says that it has not.
type forked struct {
	sequent.Store
	broken bool
}

var errLine = errors.New("the line went dead")

func (f *forked) Commit(ctx context.Context, batch []*sequent.Write) error {
	err := f.Store.Commit(ctx, batch)
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
	store := &forked{Store: sequent.NewMemoryStore()}
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
		if err != nil || !slices.Equal(texts(s.Thoughts()), want) {
			t.Fatalf("%s the engine has %q (%v), want %q", when, texts(s.Thoughts()), err, want)
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

package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sequent-dev/sequent"
)

// An Upgrade changes the format of a store, as a newer version of the program does,
// while others use it.
type Upgrade struct {
	Open func(t *testing.T) sequent.Store // opens the store as another process does
	Add  func(t *testing.T)               // makes an addition that leaves older programs alone
	Bar  func(t *testing.T)               // makes a change after which they must not write
}

// RunUpgrade tests that programs write side by side after an addition, and that a
// program which is too old stops writing at once, and says so.
func RunUpgrade(t *testing.T, u Upgrade) {
	var writers sync.WaitGroup
	var acknowledged atomic.Int64
	progress, refused := make(chan struct{}), make(chan error, 8)
	write := func(s sequent.Store, name string) {
		e := sequent.New(sequent.Config{Store: s})
		for i := range 2 {
			writers.Go(func() {
				for n := 0; ; n++ {
					_, err := e.Ensure(t.Context(), sequent.ID(fmt.Sprint("s", i)), func(c *sequent.Change) error {
						if n%10 == 0 {
							c.SetLabel(name, fmt.Sprint(n))
						}
						_, err := c.Append(sequent.Draft{Number: n, Text: fmt.Sprint(name, n), More: true})
						return err
					})
					if err != nil {
						refused <- err
						return
					}
					acknowledged.Add(1)
					select {
					case progress <- struct{}{}:
					default:
					}
				}
			})
		}
	}
	more := func() { // waits for the writers to go on
		t.Helper()
		for range 100 {
			select {
			case <-progress:
			case err := <-refused:
				t.Fatalf("before the change that bars them, a write failed: %v", err)
			}
		}
	}
	old := closeAtEnd(t, u.Open(t))
	write(old, "old")
	more()
	u.Add(t)
	more()
	newer := closeAtEnd(t, u.Open(t))
	write(newer, "newer")
	more()
	u.Bar(t)
	writers.Wait()
	close(refused)
	barred := func(call string, err error) {
		t.Helper()
		if sequent.CodeOf(err) != sequent.CodeNewerSchema {
			t.Errorf("%s by a program that is too old: %v, want code %s", call, err, sequent.CodeNewerSchema)
		}
	}
	for err := range refused {
		barred("an append", err)
	}
	e := sequent.New(sequent.Config{Store: old})
	_, err := e.Begin(t.Context(), "another", func(c *sequent.Change) error { c.Conclude("no"); return nil })
	barred("Begin", err)
	barred("Delete", e.Delete(t.Context(), "s0"))
	_, err = e.DeleteAll(t.Context())
	barred("DeleteAll", err)
	total := 0
	for _, s := range []sequent.Store{old, newer} {
		total = 0
		for i := range 2 {
			total += len(sequent.Thoughts(intact(t, s, key(fmt.Sprint("s", i)))))
		}
		if int64(total) != acknowledged.Load() {
			t.Errorf("%d thoughts are stored, %d were acknowledged", total, acknowledged.Load())
		}
	}
	if got := ids(t, old, sequent.Query{ByCreated: true}); got != "s0 s1" && got != "s1 s0" {
		t.Errorf("the sessions are %q, want s0 and s1", got)
	}
}

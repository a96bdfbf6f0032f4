package sequent

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A forgetful store accepts writes and keeps nothing, so that what a session
// takes in memory is what the cache keeps of it.
type forgetful struct{ MemoryStore }

func (*forgetful) Commit(context.Context, []*Write) error { return nil }

// heap returns the bytes of the heap that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first has found to be finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestCacheBytes measures what the cache takes in memory for sessions of
// different shapes.
func TestCacheBytes(t *testing.T) {
	text := func(i, n int) string { return fmt.Sprintf("%0*d", n, i) }
	thoughts := func(n, length int) func(*Change) error {
		return func(c *Change) error {
			for i := range n {
				if _, err := c.Append(Draft{Number: i + 1, Total: n, Text: text(i, length), More: true}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	with := func(n int, add func(i int, d *Draft)) func(*Change) error {
		return func(c *Change) error {
			for i := range n {
				d := Draft{Number: i + 1, Total: n, Text: text(i, 100), More: true}
				add(i, &d)
				if _, err := c.Append(d); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for name, change := range map[string]func(*Change) error{
		"1 thought of 20 bytes":        thoughts(1, 20),
		"1 thought of 20 KB":           thoughts(1, 20_000),
		"3 thoughts of 300 bytes":      thoughts(3, 300),
		"17 thoughts of 20 bytes":      thoughts(17, 20),
		"500 thoughts of 20 bytes":     thoughts(500, 20),
		"500 thoughts of 200 bytes":    thoughts(500, 200),
		"20 thoughts of 20 KB":         thoughts(20, 20_000),
		"1 thought in a scope":         with(1, func(int, *Draft) {}),
		"labels of thoughts":           with(50, func(i int, d *Draft) { d.Labels = map[string]string{"agent": text(i, 10)} }),
		"request keys":                 with(50, func(i int, d *Draft) { d.Request = Request{Key: text(i, 36), Digest: text(i, 64)} }),
		"notes":                        with(50, func(i int, d *Draft) { d.Note = text(i, 100) }),
		"branches of one thought":      with(50, func(i int, d *Draft) { d.Branch = text(i, 10) }),
		"branches of ten thoughts":     with(50, func(i int, d *Draft) { d.Branch = text(i/10, 10) }),
		"revisions":                    with(50, func(i int, d *Draft) { d.Revises = To(i) }),
		"numbers that are all one":     with(50, func(i int, d *Draft) { d.Number = 1 }),
		"numbers that are far between": with(50, func(i int, d *Draft) { d.Number = i * 1000 }),
		"a long conclusion":            func(c *Change) error { c.Conclude(text(1, 20_000)); return thoughts(1, 20)(c) },
		"labels of sessions": func(c *Change) error {
			for i := range 20 {
				c.SetLabel(text(i, 10), text(i, 500))
			}
			return thoughts(1, 20)(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 8 << 20
			e := New(Config{Store: new(forgetful), CacheBytes: most})
			for i := 0; ; i++ {
				if _, err := e.Begin(t.Context(), ID(fmt.Sprintf("session-%08d", i)), change); err != nil {
					t.Fatal(err)
				}
				if e.cache.recent.Len() <= i-i/4 { // a quarter has been forgotten
					break
				}
			}
			n := e.cache.recent.Len()
			full := heap()
			e.cache = nil
			took := full - heap()
			t.Logf("%d sessions of %d bytes", n, took/int64(n))
			if ratio := float64(took) / most; ratio < 0.8 || ratio > 1.2 {
				t.Errorf("%d sessions take %d bytes, %.2f of the bound", n, took, ratio)
			}
			runtime.KeepAlive(e)
		})
	}
}

// TestCacheBytesOfLoadedSessions measures sessions that were read from a store.
func TestCacheBytesOfLoadedSessions(t *testing.T) {
	const most = 8 << 20
	store := new(copying)
	writer := New(Config{Store: store})
	reader := New(Config{Store: store, CacheBytes: most})
	const n = 1000
	for i := range n {
		id := ID(fmt.Sprint("s", i))
		if _, err := writer.Begin(t.Context(), id, func(c *Change) error {
			for i := range 50 {
				if _, err := c.Append(Draft{Number: i, Text: fmt.Sprintf("%0200d", i), Branch: []string{"", "b"}[i%2]}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Session(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if kept := reader.cache.recent.Len(); kept > n*3/4 {
		t.Fatalf("%d of %d sessions are kept", kept, n)
	}
	full := heap()
	reader.cache = nil
	took := full - heap()
	if ratio := float64(took) / most; ratio < 0.8 || ratio > 1.2 {
		t.Errorf("the sessions take %d bytes, %.2f of the bound", took, ratio)
	}
	runtime.KeepAlive(writer)
}

// A copying store returns thoughts with strings of their own, as a store on
// disk does.
type copying struct{ MemoryStore }

func (s *copying) Load(ctx context.Context, k Key, have Position, limit int) (Header, []Entry, error) {
	h, log, err := s.MemoryStore.Load(ctx, k, have, limit)
	for i := range log {
		t := &log[i].Thought
		t.Text, t.Branch = strings.Clone(t.Text), strings.Clone(t.Branch)
	}
	return h, log, err
}

// TestCacheForgetsDeletedSessions deletes sessions in every way there is.
func TestCacheForgetsDeletedSessions(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	const n = 2000
	for name, deleteAll := range map[string]func(e *Engine) (int, error){
		"Sweep":          func(e *Engine) (int, error) { now = now.Add(2 * time.Hour); return e.Sweep(t.Context()) },
		"SweepUnchanged": func(e *Engine) (int, error) { return e.SweepUnchanged(t.Context(), now.Add(time.Second)) },
		"DeleteAll":      func(e *Engine) (int, error) { return e.DeleteAll(t.Context()) },
		"Delete": func(e *Engine) (int, error) {
			for i := range n {
				if err := e.Delete(t.Context(), ID(fmt.Sprint(i))); err != nil {
					return i, err
				}
			}
			return n, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := New(Config{Now: func() time.Time { return now }, TTL: time.Hour})
			before := heap()
			for i := range n {
				if _, err := e.Begin(t.Context(), ID(fmt.Sprint(i)), func(c *Change) error {
					_, err := c.Append(Draft{Number: 1, Text: fmt.Sprintf("%01000d", i)})
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			if grown := heap() - before; grown < n*2000 {
				t.Fatalf("%d bytes for %d sessions cannot be", grown, n)
			}
			if got, err := deleteAll(e); err != nil || got != n {
				t.Fatalf("%d deleted, %v", got, err)
			}
			if grown := heap() - before; grown > 100<<10 || e.cache.bytes != 0 {
				t.Errorf("%d bytes of the heap stay, and %d sessions of %d bytes in the cache", grown, e.cache.recent.Len(), e.cache.bytes)
			}
			runtime.KeepAlive(e)
		})
	}
}

// A sweep leaves alone what it does not select.
func TestCacheKeepsOtherSessions(t *testing.T) {
	e := New(Config{})
	for _, owner := range []string{"", "a"} {
		if _, err := e.Owned(owner).Begin(t.Context(), "s", func(c *Change) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := e.Owned("a").DeleteAll(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d deleted, %v", n, err)
	}
	if e.cache.get(Key{ID: "s"}) == nil || e.cache.get(Key{Owner: "a", ID: "s"}) != nil {
		t.Error("the cache has forgotten the wrong session")
	}
}

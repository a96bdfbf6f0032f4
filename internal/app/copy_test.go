package app

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

var long = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// fill records random sessions of several owners: branches, revisions, labels,
// request keys, texts of all kinds, times of expiry.
func fill(t *testing.T, s sequent.Store, r *rand.Rand, sessions int, now time.Time) {
	t.Helper()
	root := sequent.New(sequent.Config{Store: s, Now: func() time.Time { now = now.Add(time.Duration(r.IntN(1e9))); return now }})
	texts := []string{"plain", "é 日本語 🧠", "a\x00b", "\x01base64:AA==", "<b>\u2028&", " ", strings.Repeat("long ", 300), "''; --", "\\x00\n\t\r"}
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	for i := range sessions {
		e := root.Owned(pick("", "alice", "al ice", "日本"))
		id := sequent.ID(pick("", "..", "__proto__", "'", "日本 ") + fmt.Sprint(i))
		steps := 1 + r.IntN(12)
		if r.IntN(20) == 0 {
			steps = 120
		}
		for n := 1; n <= steps; n++ {
			_, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
				d := sequent.Draft{Number: n, Total: steps, Text: pick(texts...), Final: n == steps, Note: pick("", "", "a note")}
				if r.IntN(4) == 0 && n > 1 {
					d.Branch, d.From = pick("b", "ü"), sequent.To(1+r.IntN(n-1))
				} else if r.IntN(4) == 0 && n > 1 {
					d.Revision, d.Revises = true, sequent.To(1+r.IntN(n-1))
				}
				if r.IntN(3) == 0 {
					d.Request = sequent.Request{Key: fmt.Sprint(now.UnixNano(), r.Int()), Digest: fmt.Sprint(r.Int())}
					d.Labels = map[string]string{"stage": pick(texts...), "": ""}
				}
				if r.IntN(3) == 0 {
					c.SetLabel(pick("x", "y"), pick(texts...))
				}
				if r.IntN(10) == 0 {
					c.ExpireAt(time.Date(2099, 1, 1, 0, 0, 0, r.IntN(1e9), time.UTC))
				}
				_, err := c.Append(d)
				return err
			})
			if err != nil {
				t.Error(err) // perhaps from a goroutine
				return
			}
		}
	}
}

// same fails the test unless two stores export the same sessions byte by byte.
func same(t *testing.T, a, b sequent.Store) (sessions, thoughts int) {
	t.Helper()
	x, y := exports(t, a), exports(t, b)
	if len(x) != len(y) {
		t.Errorf("there are %d sessions in one and %d in the other", len(x), len(y))
	}
	for k, doc := range x {
		if doc != y[k] {
			t.Errorf("%q is exported as\n%s\nand\n%s", k, doc, y[k])
		}
		sessions, thoughts = sessions+1, thoughts+strings.Count(doc, `"seq":`)
	}
	return sessions, thoughts
}

func exports(t *testing.T, s sequent.Store) map[sequent.Key]string {
	t.Helper()
	docs := make(map[sequent.Key]string)
	e := sequent.New(sequent.Config{Store: s})
	for h, err := range e.AllSessions(t.Context(), sequent.Query{AllOwners: true}) {
		if err != nil {
			t.Fatal(err)
		}
		h, log, err := s.Load(t.Context(), h.Key, sequent.Position{})
		if err != nil {
			t.Fatal(err)
		}
		if v := sequent.Verify(h, log); v.Fault != nil {
			t.Errorf("%q: %v", h.Key, v.Fault)
		}
		docs[h.Key] = string(archive.Log(h, log))
	}
	return docs
}

// A count counts sessions by what became of them.
type count map[archive.Outcome]int

// copyAll copies everything and returns the reported results with their count.
func copyAll(t *testing.T, from, to sequent.Store) (sum count, told []archive.Result) {
	t.Helper()
	sum = make(count)
	err := copySessions(t.Context(), from, to, func(r archive.Result) {
		sum[r.Outcome]++
		if r.Outcome != archive.Unchanged {
			told = append(told, r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum, told
}

func TestCopy(t *testing.T) {
	t.Parallel()
	from, to := sequent.NewMemoryStore(), sequent.NewMemoryStore()
	fill(t, from, rand.New(rand.NewPCG(1, 2)), 60, long)
	sum, _ := copyAll(t, from, to)
	sessions, _ := same(t, from, to)
	if want := (count{archive.Added: sessions}); !maps.Equal(sum, want) {
		t.Errorf("the first copy is %+v, want %+v", sum, want)
	}
	if sum, told := copyAll(t, from, to); !maps.Equal(sum, count{archive.Unchanged: sessions}) || len(told) > 0 {
		t.Errorf("the second copy is %+v with %v, want all unchanged", sum, told)
	}
}

// A copy that was stopped between any two commits continues there.
func TestCopyIsStopped(t *testing.T) {
	t.Parallel()
	from, to := sequent.NewMemoryStore(), sequent.NewMemoryStore()
	fill(t, from, rand.New(rand.NewPCG(3, 4)), 100, long)
	stops := 0
	for ; ; stops++ {
		ctx, stop := context.WithCancel(t.Context())
		once := &onlyOnce{Store: to, then: stop}
		added := 0
		err := copySessions(ctx, from, once, func(archive.Result) { added++ })
		stop()
		if err == nil {
			break
		}
		if sequent.CodeOf(err) != sequent.CodeCanceled || added == 0 {
			t.Fatalf("stopped with %v after %d sessions", err, added)
		}
	}
	if stops < 3 {
		t.Errorf("it was stopped %d times only", stops)
	}
	all, _ := same(t, from, to)

	// One that was cancelled at its very end is complete.
	ctx, stop := context.WithCancel(t.Context())
	sessions := 0
	if err := copySessions(ctx, from, sequent.NewMemoryStore(), func(archive.Result) {
		if sessions++; sessions == all {
			stop()
		}
	}); err != nil {
		t.Errorf("after all %d sessions: %v", sessions, err)
	}
	stop()
}

// onlyOnce calls a function after a commit.
type onlyOnce struct {
	sequent.Store
	then func()
}

func (o *onlyOnce) Commit(ctx context.Context, batch []*sequent.Write) error {
	defer o.then()
	return o.Store.Commit(ctx, batch)
}

// What is thought while it is copied comes with it or with the next run, and
// nothing is torn.
func TestCopyWhileInUse(t *testing.T) {
	t.Parallel()
	from, to := sequent.NewMemoryStore(), sequent.NewMemoryStore()
	fill(t, from, rand.New(rand.NewPCG(5, 6)), 50, long)
	done := make(chan struct{})
	go func() {
		defer close(done)
		fill(t, from, rand.New(rand.NewPCG(5, 6)), 50, long.AddDate(0, 1, 0)) // goes on with the same sessions
	}()
	for busy := true; busy; {
		select {
		case <-done:
			busy = false
		default:
		}
		if sum, told := copyAll(t, from, to); sum[archive.Failed] > 0 {
			t.Fatalf("%+v: %v", sum, told)
		}
	}
	same(t, from, to)
}

// A session that is not what was recorded is reported and left where it is.
func TestCopyOfAlteredSession(t *testing.T) {
	t.Parallel()
	from, to := sequent.NewMemoryStore(), sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: from})
	for _, id := range []sequent.ID{"whole", "altered"} {
		if _, err := e.Append(t.Context(), id, sequent.Draft{Text: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	h, log, err := from.Load(t.Context(), sequent.Key{ID: "altered"}, sequent.Position{})
	if err == nil {
		err = from.Delete(t.Context(), h.Key, 0)
	}
	h.Title = "another one" // without a new seal
	if err == nil {
		err = from.Commit(t.Context(), []*sequent.Write{{Header: h, Entries: log}})
	}
	if err != nil {
		t.Fatal(err)
	}
	sum, told := copyAll(t, from, to)
	if !maps.Equal(sum, count{archive.Added: 1, archive.Failed: 1}) {
		t.Errorf("Copy = %+v, %+v", sum, told)
	}
	for _, r := range told {
		if (r.Key.ID == "altered") != (sequent.CodeOf(r.Err) == sequent.CodeCorrupt) {
			t.Errorf("%+v", r)
		}
	}
}

package transfer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// logs returns the headers and logs of an owner's sessions, as text that tells all but the
// owner.
func logs(t *testing.T, s sequent.Store, owner string) map[sequent.ID]string {
	t.Helper()
	all := make(map[sequent.ID]string)
	for q := (sequent.Query{Owner: owner}); ; {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Headers {
			h, log, err := s.Load(t.Context(), h.Key, sequent.Position{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if v := sequent.Verify(h, log); v.Fault != nil {
				t.Errorf("%v: %v", h.Key, v.Fault)
			}
			h.Owner = ""
			all[h.ID] = fmt.Sprintf("%+v %+v", h, log)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return all
		}
	}
}

func sameLogs(t *testing.T, got, want map[sequent.ID]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("there are %d sessions, want %d", len(got), len(want))
	}
	for id, text := range want {
		if got[id] != text {
			t.Errorf("the session %q is\n%.500s\nwant\n%.500s", id, got[id], text)
		}
	}
}

// The sessions of an owner are those of another one afterwards, byte for byte, and those of
// other owners are as they were.
func testRename(t *testing.T, s sequent.Store) {
	t.Helper()
	fill(t, s, rand.New(rand.NewPCG(7, 8)), 60, long)
	alice, others, local := logs(t, s, "alice"), logs(t, s, "al ice"), logs(t, s, "")
	if len(alice) == 0 {
		t.Fatal("alice has no sessions")
	}
	cfg := RenameConfig{Store: s, From: "alice", To: "oidc:248"}
	cfg.DryRun = true
	dry, err := Rename(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	sameLogs(t, logs(t, s, "alice"), alice)
	cfg.DryRun = false
	done, err := Rename(t.Context(), cfg)
	if err != nil || done != dry || done.Sessions != len(alice) || done.Failed != 0 {
		t.Errorf("Rename = %+v, %v; want %+v of %d sessions", done, err, dry, len(alice))
	}
	sameLogs(t, logs(t, s, "oidc:248"), alice)
	sameLogs(t, logs(t, s, "alice"), nil)
	sameLogs(t, logs(t, s, "al ice"), others)
	sameLogs(t, logs(t, s, ""), local)
	found := func(owner string) int {
		t.Helper()
		hits, err := s.Search(t.Context(), sequent.SearchQuery{Owner: owner, Text: "plain", Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return len(hits.Hits)
	}
	if n := found("alice"); n != 0 {
		t.Errorf("search finds %d thoughts of alice", n)
	}
	if found("oidc:248") == 0 {
		t.Error("search finds no thought of the new owner")
	}
	if again, err := Rename(t.Context(), cfg); err != nil || again != (Renamed{}) {
		t.Errorf("the second Rename = %+v, %v", again, err)
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	testRename(t, sequent.NewMemoryStore())
}

// If both owners have a session of the same ID, nothing is changed.
func TestRenameConflict(t *testing.T) {
	t.Parallel()
	s := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: s})
	for _, k := range []sequent.Key{{Owner: "alice", ID: "one"}, {Owner: "alice", ID: "two"}, {Owner: "bob", ID: "two"}} {
		think(t, e.Owned(k.Owner), k.ID, "by "+k.Owner)
	}
	alice, bob := logs(t, s, "alice"), logs(t, s, "bob")
	for _, dry := range []bool{true, false} {
		_, err := Rename(t.Context(), RenameConfig{Store: s, From: "alice", To: "bob", DryRun: dry})
		if sequent.CodeOf(err) != sequent.CodeSessionExists || !strings.Contains(err.Error(), ": two") {
			t.Errorf("Rename: %v", err)
		}
		sameLogs(t, logs(t, s, "alice"), alice)
		sameLogs(t, logs(t, s, "bob"), bob)
	}
}

func think(t *testing.T, e *sequent.Engine, id sequent.ID, text string) {
	t.Helper()
	if _, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: text, More: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A failingStore fails once the number of calls that change it is reached.
type failingStore struct {
	sequent.Store
	left atomic.Int64
}

var errKilled = errors.New("killed")

func (f *failingStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	if f.left.Add(-1) < 0 {
		return errKilled
	}
	return f.Store.Commit(ctx, batch)
}

func (f *failingStore) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	if f.left.Add(-1) < 0 {
		return errKilled
	}
	return f.Store.Delete(ctx, k, epoch)
}

// Wherever it is interrupted, the same call completes it.
func TestRenameInterrupted(t *testing.T) {
	t.Parallel()
	for n := int64(0); ; n++ {
		s := sequent.NewMemoryStore()
		e := sequent.New(sequent.Config{Store: s})
		for i := range 3 {
			think(t, e.Owned("alice"), sequent.ID(fmt.Sprint(i)), "a thought")
		}
		alice := logs(t, s, "alice")
		failing := &failingStore{Store: s}
		failing.left.Store(n)
		_, first := Rename(t.Context(), RenameConfig{Store: failing, From: "alice", To: "bob"})
		if _, err := Rename(t.Context(), RenameConfig{Store: s, From: "alice", To: "bob"}); err != nil {
			t.Fatalf("after an interruption at change %d: %v", n, err)
		}
		sameLogs(t, logs(t, s, "bob"), alice)
		sameLogs(t, logs(t, s, "alice"), nil)
		if t.Failed() {
			t.Fatalf("interrupted at change %d", n)
		}
		if first == nil {
			return
		}
	}
}

// Writers that record in the sessions meanwhile lose no thought that was acknowledged: it
// is either in the new owner's session, or in one that was begun afterwards.
func testRenameWhileWritten(t *testing.T, open func() sequent.Store) {
	t.Helper()
	const sessions, writers = 6, 3
	const pause = 20 * time.Millisecond // faster than any agent, and slower than three commits
	for i := range sessions {
		think(t, sequent.New(sequent.Config{Store: open()}).Owned("alice"), sequent.ID(fmt.Sprint(i)), "first")
	}
	var acknowledged sync.Map
	var recorded atomic.Int64
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for w := range writers {
		e := sequent.New(sequent.Config{Store: open()}).Owned("alice")
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				time.Sleep(pause)
				text := fmt.Sprintf("writer %d thought %d", w, n)
				_, err := e.Update(context.WithoutCancel(ctx), sequent.ID(fmt.Sprint(n%sessions)), func(c *sequent.Change) error {
					_, err := c.Append(sequent.Draft{Text: text, More: true})
					return err
				})
				switch {
				case err == nil:
					acknowledged.Store(text, true)
					recorded.Add(1)
				case errors.Is(err, sequent.ErrNotFound):
					time.Sleep(time.Millisecond) // another one has it
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	for deadline := time.Now().Add(time.Minute); recorded.Load() < 30 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	s := open()
	for round := 1; ; round++ { // a session that keeps changing is reported, and moved by the next call
		done, err := Rename(t.Context(), RenameConfig{Store: s, From: "alice", To: "bob"})
		if err != nil {
			t.Fatal(err)
		}
		if done.Failed == 0 {
			break
		}
		if round == 20 {
			t.Fatalf("after %d rounds %+v", round, done)
		}
	}
	cancel()
	wg.Wait()
	sameLogs(t, logs(t, s, "alice"), nil)
	all := fmt.Sprint(logs(t, s, "bob"))
	acknowledged.Range(func(text, _ any) bool {
		if !strings.Contains(all, text.(string)+" ") {
			t.Errorf("%q was acknowledged and is gone", text)
		}
		return true
	})
	t.Logf("%d thoughts were recorded meanwhile", recorded.Load())
}

func TestRenameWhileWritten(t *testing.T) {
	t.Parallel()
	s := sequent.NewMemoryStore()
	testRenameWhileWritten(t, func() sequent.Store { return s })
}

// A session that grows between copy and close is copied again.
func TestRenameGrown(t *testing.T) {
	t.Parallel()
	s := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: s})
	think(t, e.Owned("alice"), "one", "first")
	times := 0
	if _, err := Rename(t.Context(), RenameConfig{Store: s, From: "alice", To: "bob", moved: func(sequent.Key) {
		if times++; times < 3 {
			think(t, e.Owned("alice"), "one", "more")
		}
	}}); err != nil {
		t.Fatal(err)
	}
	got, err := e.Owned("bob").Session(t.Context(), "one")
	if err != nil || got.Len() != 3 {
		t.Errorf("the session has %d thoughts, %v; want 3", got.Len(), err)
	}
	if _, err := e.Owned("alice").Session(t.Context(), "one"); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("alice still has it: %v", err)
	}
}

// A label that an imported session brings along does not pass for one of Rename: the session
// is moved like any other.
func TestRenameLabelled(t *testing.T) {
	t.Parallel()
	for _, owner := range []string{"bob", "carol"} {
		s := sequent.NewMemoryStore()
		e := sequent.New(sequent.Config{Store: s}).Owned("alice")
		think(t, e, "one", "first")
		if _, err := e.Update(t.Context(), "one", func(c *sequent.Change) error { c.SetLabel(labelMoved, owner); return nil }); err != nil {
			t.Fatal(err)
		}
		alice := logs(t, s, "alice")
		done, err := Rename(t.Context(), RenameConfig{Store: s, From: "alice", To: "bob"})
		if err != nil || done.Sessions != 1 || done.Thoughts != 1 {
			t.Errorf("Rename with the label %q = %+v, %v", owner, done, err)
		}
		sameLogs(t, logs(t, s, "bob"), alice)
		sameLogs(t, logs(t, s, "alice"), nil)
	}
}

// A session that was closed before an interruption stays closed, even if its clock was ahead.
func TestRenameFromTheFuture(t *testing.T) {
	t.Parallel()
	s := sequent.NewMemoryStore()
	ahead := func() time.Time { return time.Now().Add(48 * time.Hour) }
	think(t, sequent.New(sequent.Config{Store: s, Now: ahead}).Owned("alice"), "one", "first")
	alice := logs(t, s, "alice")
	failing := &failingStore{Store: s}
	failing.left.Store(2) // it is copied and closed, and not deleted
	if done, err := Rename(t.Context(), RenameConfig{Store: failing, From: "alice", To: "bob"}); done.Sessions != 0 {
		t.Fatalf("Rename = %+v, %v; want an interruption", done, err)
	}
	e := sequent.New(sequent.Config{Store: s}).Owned("alice")
	if _, err := e.Session(t.Context(), "one"); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("alice still has the session: %v", err)
	}
	if _, err := Rename(t.Context(), RenameConfig{Store: s, From: "alice", To: "bob"}); err != nil {
		t.Fatal(err)
	}
	sameLogs(t, logs(t, s, "bob"), alice)
	sameLogs(t, logs(t, s, "alice"), nil)
}

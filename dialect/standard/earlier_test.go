package standard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/tool"
)

// A countingStore counts the calls that read.
type countingStore struct {
	sequent.Store
	searched, listed, loaded atomic.Int64
}

func (c *countingStore) Search(ctx context.Context, q sequent.SearchQuery) (sequent.Hits, error) {
	c.searched.Add(1)
	return sequent.SearchStore(ctx, c.Store, q)
}

func (c *countingStore) List(ctx context.Context, q sequent.Query) (sequent.Page, error) {
	c.listed.Add(1)
	return c.Store.List(ctx, q)
}

func (c *countingStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	c.loaded.Add(1)
	return c.Store.Load(ctx, k, have)
}

// The first thought of a session costs one search, whatever the number of sessions, and loads of the sessions that it
// is compared with. Later thoughts cost nothing, and neither do first ones if no session is to be named.
func TestEarlierCost(t *testing.T) {
	const sessions, compared = 10_000, 16 // each is read for the search and to compare it
	memory := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: memory})
	problem := func(n int) string {
		return fmt.Sprintf("The indexer%d deadlocks with compactor%[1]d when journal%[1]d rotates on overlayfs%[1]d.", n)
	}
	for n := range sessions {
		drafts := []sequent.Draft{{Number: 1, Text: problem(n)}, {Number: 2, Text: "They hold two locks.", Final: true}}
		if _, err := e.Append(t.Context(), sequent.ID(fmt.Sprint("s", n)), drafts...); err != nil {
			t.Fatal(err)
		}
	}
	for _, off := range []bool{false, true} {
		store := &countingStore{Store: memory}
		d := standard.New(standard.Config{Engine: sequent.New(sequent.Config{Store: store}), NoEarlier: off})
		think := func(s dialecttest.Step) string {
			caller := tool.Caller{Scope: tool.Scope{Name: fmt.Sprint(off), Exclusive: true}}
			reply, err := d.Tools[0].Call(t.Context(), tool.Call{Caller: caller, Args: json.RawMessage(call(s))})
			if err != nil || reply.Failed {
				t.Fatalf("%s, %v", reply.Text, err)
			}
			return reply.Text
		}
		begun := time.Now()
		reply := think(dialecttest.Step{Text: problem(4711), Number: 1, Total: 3})
		took := time.Since(begun)
		searched, listed, loaded := store.searched.Load(), store.listed.Load(), store.loaded.Load()
		t.Logf("off %v: %d searches, %d lists, %d loads, %v in memory: %s", off, searched, listed, loaded, took, reply)
		if off != !strings.Contains(reply, `"earlier":"s`) {
			t.Errorf("off %v: the reply is %s", off, reply)
		}
		if off && searched+listed+loaded > 0 || !off && (searched != 1 || listed > 1 || loaded > 2*(compared+1)) {
			t.Errorf("off %v: %d searches, %d lists and %d loads", off, searched, listed, loaded)
		}
		for n := 2; n <= 3; n++ {
			think(dialecttest.Step{Text: problem(4711), Number: n, Total: 3})
		}
		if store.searched.Load() != searched || store.listed.Load() != listed || store.loaded.Load() != loaded {
			t.Errorf("off %v: later thoughts made %d searches, %d lists and %d loads", off,
				store.searched.Load()-searched, store.listed.Load()-listed, store.loaded.Load()-loaded)
		}
	}
}

// How many commits there are since the earlier session is said as it was when the session began.
func TestEarlierCommits(t *testing.T) {
	const commit, project = "0123456789abcdef0123456789abcdef01234567", "https://example.com/p"
	e := sequent.New(sequent.Config{})
	from := sequent.WithOrigin(t.Context(), func() sequent.Origin { return sequent.Origin{Project: project, Commit: commit} })
	const problem = "The indexer deadlocks with the compactor when the journal rotates."
	if _, err := e.Append(from, "old", sequent.Draft{Number: 1, Text: problem}, sequent.Draft{Number: 2, Text: "Two locks.", Final: true}); err != nil {
		t.Fatal(err)
	}
	commits := 31
	d := standard.New(standard.Config{Engine: e, Commits: func(p, since string) (int, bool) {
		return commits, p == project && since == commit
	}})
	for range 2 {
		reply, err := d.Tools[0].Call(t.Context(), tool.Call{
			Args:   json.RawMessage(`{"thought":"` + problem + `","thoughtNumber":1,"nextThoughtNeeded":true,"requestKey":"k"}`),
			Caller: tool.Caller{Scope: tool.Scope{Name: "s", Project: project}},
		})
		if err != nil || !strings.Contains(reply.Text, `"earlier":"old, just now, 31 commits since: Two locks."`) {
			t.Errorf("the reply is %s, %v", reply.Text, err)
		}
		commits++
	}
}

// A session counts as used if a reply names it, not if it was only compared: a log of who has read what has no others.
func TestEarlierIsUsed(t *testing.T) {
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	const problem = "The indexer deadlocks with the compactor when the journal rotates."
	for id, text := range map[sequent.ID]string{"same": problem, "other": "The journal of the indexer grows."} {
		if _, err := e.Append(t.Context(), id, sequent.Draft{Number: 1, Text: text, Final: true}); err != nil {
			t.Fatal(err)
		}
	}
	var used []sequent.ID
	d := standard.New(standard.Config{Engine: sequent.New(sequent.Config{Store: store, Used: func(_ context.Context, k sequent.Key, _ bool) {
		used = append(used, k.ID)
	}})})
	reply, err := d.Tools[0].Call(t.Context(), tool.Call{
		Args:   json.RawMessage(call(dialecttest.Step{Text: problem, Number: 1, Total: 2})),
		Caller: tool.Caller{Scope: tool.Scope{Name: "s"}},
	})
	if err != nil || !strings.Contains(reply.Text, `"earlier":"same, `) {
		t.Fatalf("the reply is %s, %v", reply.Text, err)
	}
	if slices.Contains(used, "other") || !slices.Contains(used, "same") {
		t.Errorf("used are %q, want the new session and same", used)
	}
}

package dialecttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
)

// secret stands for what the cause of a fault may hold and a client must not see.
const secret = "/home/somebody/secret.db"

// A faultyStore is a store whose operations fail on demand.
type faultyStore struct {
	sequent.Store
	mu   sync.Mutex // guards what follows
	op   string     // which operation fails: load, commit, list, search; empty for none
	code sequent.Code
}

func (f *faultyStore) set(op string, code sequent.Code) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.op, f.code = op, code
}

func (f *faultyStore) fault(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.op != op {
		return nil
	}
	return &sequent.Error{Code: f.code, Msg: "the store says " + string(f.code), Err: errors.New(secret)}
}

func (f *faultyStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Thought, error) {
	if err := f.fault("load"); err != nil {
		return sequent.Header{}, nil, err
	}
	return f.Store.Load(ctx, k, have)
}

func (f *faultyStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	if err := f.fault("commit"); err != nil {
		return err
	}
	return f.Store.Commit(ctx, batch)
}

func (f *faultyStore) List(ctx context.Context, q sequent.Query) (sequent.Page, error) {
	if err := f.fault("list"); err != nil {
		return sequent.Page{}, err
	}
	return f.Store.List(ctx, q)
}

func (f *faultyStore) Search(ctx context.Context, q sequent.SearchQuery) (sequent.Hits, error) {
	if err := f.fault("search"); err != nil {
		return sequent.Hits{}, err
	}
	return f.Store.Search(ctx, q)
}

// checkFaults lets the store fail with every code there is. The dialect has
// words for all but the internal error, which it leaves to the transport.
func checkFaults(t *testing.T, cfg Config) {
	for _, code := range sequent.Codes() {
		for _, op := range []string{"commit", "load", "list", "search"} {
			store := &faultyStore{Store: sequent.NewMemoryStore()}
			w := newWorld(t, cfg, store.Store) // so that dumps do not fail
			w.store = store
			w.restart(t)
			w.accept(t, cfg.Call(Step{Number: 1, Total: 9, Text: "a"}), "test")
			id := string(w.one(t).ID())
			w.store = store.Store

			calls := []OtherCall{
				{"", cfg.Call(Step{Number: 1, Total: 9, Text: "b"})},
				{"", cfg.Call(Step{Number: 2, Total: 9, Text: "b", Session: id})},
				{"", cfg.Call(Step{Number: 2, Total: 9, Text: "b", Session: id, Branch: "x", From: 1})},
			}
			for _, c := range append(calls, cfg.Others...) {
				t.Run(fmt.Sprintf("%s %s %s", code, op, c.Args), func(t *testing.T) {
					w.store = store
					w.restart(t) // so that nothing is cached
					w.store = store.Store
					before := dump(t, w.store)
					store.set(op, code)
					a := w.try(t, c.Tool, c.Args, "test")
					store.set("", "")
					switch {
					case a.fault != nil && code != sequent.CodeInternal:
						t.Errorf("the dialect has no words for %s: %v", code, a.fault)
					case a.refused && a.words == "":
						t.Errorf("the refusal for %s is empty", code)
					case !a.refused && a.fault == nil && op == "commit" && dump(t, w.store) == before && c.Tool == "":
						t.Errorf("the call was answered, though nothing was stored: %s", a.words)
					}
				})
			}
		}
	}
}

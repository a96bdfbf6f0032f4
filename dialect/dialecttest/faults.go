package dialecttest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
)

// secret is in the cause of each fault. A client must not see it.
const secret = "/home/somebody/secret.db"

// A faultyStore is a store whose operations fail on demand.
type faultyStore struct {
	sequent.Store
	mu  sync.Mutex // guards the fields below
	op  string     // which operation fails: load, commit, list, search; empty for none
	err error
}

func (f *faultyStore) set(op string, e sequent.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e.Err = errors.New(secret)
	f.op, f.err = op, &e
}

func (f *faultyStore) fault(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.op != op {
		return nil
	}
	return f.err
}

func (f *faultyStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	if err := f.fault("load"); err != nil {
		return sequent.Header{}, nil, err
	}
	return f.Store.Load(ctx, k, have)
}

func (f *faultyStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	err := f.fault("commit")
	if err == nil || sequent.IsUncertain(err) {
		if failed := f.Store.Commit(ctx, batch); failed != nil {
			return failed
		}
	}
	return err
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
	return sequent.SearchStore(ctx, f.Store, q)
}

// checkFaults makes the store fail with each code. The dialect must have words for all
// but internal errors, which it returns to the transport.
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
					store.set(op, sequent.Error{Code: code, Msg: "the store says " + string(code)})
					a := w.try(t, c.Tool, c.Args, "test")
					store.set("", sequent.Error{})
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

// checkUncertain makes commits fail after they were stored, with the codes of a failing
// store. The dialect must not claim that nothing was recorded, nor that the call can
// simply be repeated.
func checkUncertain(t *testing.T, cfg Config) {
	claim := regexp.MustCompile(`(?i)nothing (was|is|has been) (recorded|stored|changed|written)|repeat the call("|$)`)
	for _, code := range []sequent.Code{
		sequent.CodeUnavailable, sequent.CodeFull, sequent.CodeBusy, sequent.CodeReadOnly, sequent.CodeCorrupt, sequent.CodeInternal,
	} {
		t.Run(string(code), func(t *testing.T) {
			store := &faultyStore{Store: sequent.NewMemoryStore()}
			w := newWorld(t, cfg, store.Store)
			w.store = store
			w.restart(t)
			w.store = store.Store
			store.set("commit", sequent.Error{
				Code: code, Uncertain: true, Msg: "the change may or may not have been stored", Fix: sequent.FixUncertain,
			})
			a := w.do(t, cfg.Call(Step{Number: 1, Total: 9, Text: "a"}), "test")
			store.set("", sequent.Error{})
			words := a.words
			if a.fault != nil {
				if !sequent.IsUncertain(a.fault) {
					t.Errorf("the fault %v does not say that the outcome is unknown", a.fault)
				}
				return // worded by the transport
			}
			if !a.refused {
				t.Fatalf("the call was answered, though its commit failed: %s", words)
			}
			if claim.MatchString(words) {
				t.Errorf("the refusal claims that nothing was recorded, or that the call can be repeated, but the thought was recorded: %s", words)
			}
			if !strings.Contains(words, "may or may not") {
				t.Errorf("the refusal does not say that the outcome is unknown: %s", words)
			}
		})
	}
}

// An alteredStore is a store whose thoughts are not those that were recorded.
type alteredStore struct{ sequent.Store }

func (a alteredStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	h, log, err := a.Store.Load(ctx, k, have)
	log = slices.Clone(log)
	for i := range log {
		log[i].Thought.Total++
	}
	return h, log, err
}

// checkAltered continues a session that is not what was recorded. The dialect must refuse
// that and say what to do.
func checkAltered(t *testing.T, cfg Config) {
	w := newWorld(t, cfg, sequent.NewMemoryStore())
	w.accept(t, cfg.Call(Step{Number: 1, Total: 9, Text: "a"}), "test")
	id := string(w.one(t).ID())
	w.store = alteredStore{w.store}
	w.restart(t)
	a := w.refuse(t, cfg.Call(Step{Number: 2, Total: 9, Text: "b", Session: id}), "test")
	if !strings.Contains(a.words, "is not what was recorded") || !strings.Contains(a.words, dialect.BeginAnother) {
		t.Errorf("the refusal does not say what to do with the session: %s", a.words)
	}
}

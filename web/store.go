package web

import (
	"context"
	"slices"

	"github.com/sequent-dev/sequent"
)

// The methods below /api/v1/store/ are those with which commands on other machines read sessions, as
// they read those of a store. Queries are in the body, since a log of URLs must not have the
// words of a search.

// A LoadQuery asks for the log of a session, as [sequent.Store.Load] does.
type LoadQuery struct {
	Key  sequent.Key
	Have sequent.Position
}

// A Loaded is a session's header and a part of its log. What it lacks of the log follows its last
// entry.
type Loaded struct {
	Header  sequent.Header
	Entries []sequent.Entry
}

// MaxFound is how many hits a reply has at most. Each can be two thoughts of 64 KiB.
const MaxFound = 20

// Limits of a reply of the store.
const (
	maxListed       = 1000
	maxLoaded       = 2048    // entries
	maxLoadedBytes  = 4 << 20 // of JSON; a reply has at least one entry
	loadedEntrySize = 400     // bytes of an entry in JSON besides its texts
)

func (x *exchange) storeList(q sequent.Query) error {
	return x.fromStore(q.Owner, q.AllOwners, func(ctx context.Context, e *sequent.Engine) (any, error) {
		q.Limit = min(q.PageSize(), maxListed)
		return e.Sessions(ctx, q)
	})
}

func (x *exchange) storeSearch(q sequent.SearchQuery) error {
	return x.fromStore(q.Owner, q.AllOwners, func(ctx context.Context, e *sequent.Engine) (any, error) {
		q.Limit = min(q.PageSize(), MaxFound)
		return e.Search(ctx, q)
	})
}

func (x *exchange) storeUsage(q sequent.Query) error {
	return x.fromStore(q.Owner, q.AllOwners, func(ctx context.Context, e *sequent.Engine) (any, error) {
		return e.Usage(ctx, q)
	})
}

func (x *exchange) storeLoad(q LoadQuery) error {
	return x.fromStore(q.Key.Owner, false, func(ctx context.Context, e *sequent.Engine) (any, error) {
		h, entries, err := e.Entries(ctx, q.Key.ID, q.Have)
		size := 0
		for i := range entries {
			t := &entries[i].Thought
			if size += loadedEntrySize + len(encoded(t.Text)) + len(encoded(t.Note)); i == maxLoaded || size > maxLoadedBytes && i > 0 {
				entries = slices.Clone(entries[:i]) // the rest is not kept while the reply is made
				break
			}
		}
		return Loaded{h, entries}, err
	})
}

// fromStore answers with what read returns of the sessions of an owner, or of all owners.
func (x *exchange) fromStore(owner string, all bool, read func(context.Context, *sequent.Engine) (any, error)) error {
	e, err := x.engineOf(owner, all)
	if err != nil {
		return err
	}
	return x.compute(func(ctx context.Context) (any, error) { return read(ctx, e) })
}

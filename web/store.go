package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
)

// A LoadQuery asks for the log of a session, as [sequent.Store.Load] does.
type LoadQuery struct {
	Key   sequent.Key
	Have  sequent.Position
	Limit int
}

// A Loaded is a session's header and a part of its log.
type Loaded struct {
	Header  sequent.Header
	Entries []sequent.Entry
	Corrupt *Refusal `json:",omitempty"` // what is wrong with a log that lacks entries
}

// A WatchQuery asks for a stream of the sessions that change.
type WatchQuery struct {
	Owner     string
	AllOwners bool // of all owners instead of Owner
}

// The events of a stream of changes.
const (
	// ChangedEvent has the keys of sessions that may have changed, as a list of [sequent.Key].
	ChangedEvent = "changed"
	// LostEvent says that any session may have changed. It is the first event of a stream.
	LostEvent = "lost"
)

// Limits of a reply of the store.
const (
	maxListed       = 1000
	maxLoaded       = 2048    // entries
	maxLoadedBytes  = 4 << 20 // of texts; a reply has at least one entry
	loadedEntrySize = 400     // bytes of an entry in JSON besides its texts
)

// routeStore registers the methods with which commands on other machines read sessions, as
// they read those of a store. Queries are in the body, since a log of URLs must not have
// the words of a search. Owned registers a method that needs a token.
func (h *Handler) routeStore(open, owned func(pattern string, f func(*visit) error)) {
	open("POST /api/v1/store/watch", (*visit).watchStore)
	owned("POST /api/v1/store/list", func(v *visit) error {
		return answer(v, true, func(ctx context.Context, q sequent.Query) (any, error) {
			e, err := v.engineOf(q.Owner, q.AllOwners)
			if err != nil {
				return nil, err
			}
			q.Limit = min(q.PageSize(), maxListed)
			return e.Sessions(ctx, q)
		})
	})
	owned("POST /api/v1/store/search", func(v *visit) error {
		return answer(v, false, func(ctx context.Context, q sequent.SearchQuery) (any, error) {
			e, err := v.engineOf(q.Owner, q.AllOwners)
			if err != nil {
				return nil, err
			}
			return e.Search(ctx, q)
		})
	})
	owned("POST /api/v1/store/load", func(v *visit) error {
		return answer(v, false, func(ctx context.Context, q LoadQuery) (any, error) {
			e, err := v.engineOf(q.Key.Owner, false)
			if err != nil {
				return nil, err
			}
			return load(ctx, e, q)
		})
	})
	owned("POST /api/v1/store/usage", func(v *visit) error {
		return answer(v, false, func(ctx context.Context, q sequent.UsageQuery) (any, error) {
			e, err := v.engineOf(q.Owner, q.AllOwners)
			if err != nil {
				return nil, err
			}
			all, err := e.Usage(ctx)
			if !q.AllOwners { // the engine of the local user returns all
				all = slices.DeleteFunc(all, func(u sequent.Usage) bool { return u.Owner != e.Owner() })
			}
			return all, err
		})
	})
}

// answer reads a query from the body, and answers with what f returns. Unless it is light,
// f waits for a turn to compute.
func answer[Q any](v *visit, light bool, f func(context.Context, Q) (any, error)) error {
	var q Q
	if err := v.body(&q); err != nil {
		return err
	}
	if !light {
		done, err := v.heavy()
		if err != nil {
			return err
		}
		defer done()
	}
	doc, err := f(v.r.Context(), q)
	if err != nil {
		return err
	}
	body, err := json.Marshal(doc)
	if err != nil { // a time after the year 9999
		return fmt.Errorf("a session cannot be sent: %w", err)
	}
	v.sendBytes(http.StatusOK, "application/json", body)
	return nil
}

// load returns a part of a log that is small enough for a reply.
func load(ctx context.Context, e *sequent.Engine, q LoadQuery) (Loaded, error) {
	limit := maxLoaded
	if q.Limit > 0 {
		limit = min(q.Limit, maxLoaded)
	}
	h, entries, err := e.EntriesAfter(ctx, q.Key.ID, q.Have, limit)
	size := 0
	for i := range entries {
		t := &entries[i].Thought
		if size += loadedEntrySize + len(t.Text) + len(t.Note); size > maxLoadedBytes && i > 0 {
			entries = entries[:i]
			break
		}
	}
	loaded := Loaded{Header: h, Entries: entries}
	if e, ok := errors.AsType[*sequent.Error](err); ok && e.Code == sequent.CodeCorrupt && h.Version > 0 { // sequent verify says what is there
		loaded.Corrupt, err = &Refusal{Code: string(e.Code), Field: e.Field, Message: e.Msg, Fix: e.Fix}, nil
	}
	return loaded, err
}

// watchStore is a stream of the sessions that have changed, for [sequent.Store.Watch].
func (v *visit) watchStore() error {
	if err := v.admit(); err != nil {
		return err
	}
	var q WatchQuery
	if err := v.body(&q); err != nil {
		return err
	}
	var err error
	if v.engine, err = v.engineOf(q.Owner, q.AllOwners); err != nil {
		return err
	}
	return v.stream(func(ctx context.Context, watch *sequent.Watch, out *stream) error {
		return v.followStore(ctx, watch, q.AllOwners, out)
	})
}

// followStore sends the keys of the sessions that change. The deletion of one that is none of the
// latest is not noticed.
func (v *visit) followStore(ctx context.Context, watch *sequent.Watch, all bool, out *stream) error {
	watch.Add(sequent.Key{})
	var known positions
	for first := true; ; first = false {
		page, err := v.engine.Sessions(ctx, sequent.Query{AllOwners: all, Limit: maxSessions})
		if err != nil {
			return out.end(ctx, err)
		}
		changed, gone := known.changed(page.Headers)
		keys := append(gone, slices.Collect(maps.Keys(changed))...)
		switch {
		case first || page.Next != "" && len(changed) == len(page.Headers): // more may have changed than the page has
			err = out.event(LostEvent, "", struct{}{})
		case len(keys) > 0:
			err = out.event(ChangedEvent, "", keys)
		}
		if err != nil {
			return err
		}
		if err := out.wait(ctx, watch, nil); err != nil {
			return out.end(ctx, err)
		}
	}
}

// engineOf returns the engine of an owner, or that of the local user for all owners. Whoever
// sends the request sees the sessions of its own subject, and with the scope admin those of
// others.
func (v *visit) engineOf(owner string, all bool) (*sequent.Engine, error) {
	if owner == v.engine.Owner() && !all {
		return v.engine, nil
	}
	if v.h.config.Auth == nil {
		return nil, &Refusal{
			Status: http.StatusForbidden, Code: "insufficient_scope", Message: "without tokens this server shows the sessions of its own user only",
			Fix: "start it with --auth FILE, and pass a token with the scope admin",
		}
	}
	if v.granted.Scope < auth.Admin {
		fix := "ask whoever runs the server for a token of `sequent token new " + v.granted.Subject + " --scope admin`"
		if strings.HasPrefix(v.granted.Subject, "oidc:") {
			fix = "sign in with `sequent login --scope admin`, if the provider gives you that scope"
		}
		return nil, &Refusal{
			Status: http.StatusForbidden, Code: "insufficient_scope",
			Message: fmt.Sprintf("the token of %q sees only its own sessions: those of other owners need the scope %v", v.granted.Subject, auth.Admin),
			Fix:     fix,
		}
	}
	if all {
		owner = ""
	}
	return v.h.config.Engine.Owned(owner), nil
}

package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/web"
)

// openServer is [app.OpenExisting] for the server of --server. The sessions are those of
// the token's subject.
func (p *program) openServer(ctx context.Context, cfg app.Config) (*app.App, error) {
	r, err := p.connect()
	if err != nil {
		return nil, err
	}
	var about struct{ Owner, Scope, SignIn string }
	if err := r.call(ctx, http.MethodGet, "", nil, nil, &about); err != nil {
		return nil, r.explain(err)
	}
	p.self, r.signIn = about.Owner, about.SignIn != ""
	s := &remoteStore{remote: r, watches: url.Values{"owner": {cmp.Or(p.owner, p.self)}}, followed: make(chan struct{})}
	if p.allOwners {
		s.watches = url.Values{"all": {"true"}}
	}
	s.report = func(err error) {
		p.tell("The connection to %s is lost: %v. Reconnecting.", r.base.Host, withoutURL(err))
	}
	s.lasting, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if p.allVisible { // what the token sees
		p.allOwners = p.self == "" || about.Scope == auth.Admin.String()
	}
	return app.Over(s, cfg), nil
}

// A remoteStore is the sessions of a server, as far as the token allows. It cannot be
// changed. What each method returns is what the engine of the server does.
type remoteStore struct {
	*remote
	watches url.Values  // which sessions are watched
	report  func(error) // tells that the connection was lost

	feed     sequent.Feed
	begin    sync.Once
	watching atomic.Bool     // there is a watch: reads wait for the server
	lost     atomic.Bool     // a lost connection was reported
	lasting  context.Context // until Close
	cancel   context.CancelFunc
	followed chan struct{} // closed when nothing follows the server
}

// Load implements [sequent.Store].
func (s *remoteStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	var log []sequent.Entry
	for {
		var part web.Loaded
		if err := s.ask(ctx, "load", web.LoadQuery{Key: k, Have: have}, &part); err != nil {
			return sequent.Header{}, nil, err
		}
		h, n := part.Header, len(part.Entries)
		if n > 0 && part.Entries[0].Place != have.Entries+1 { // begun again meanwhile: this is its beginning
			log = nil
		}
		log = append(log, part.Entries...)
		if n == 0 || part.Entries[n-1].Place <= have.Entries || part.Entries[n-1].Place >= h.Entries {
			return h, log, nil
		}
		last := &part.Entries[n-1]
		have = sequent.Position{Epoch: h.Epoch, Entries: last.Place, Head: last.Hash}
	}
}

// List implements [sequent.Store].
func (s *remoteStore) List(ctx context.Context, q sequent.Query) (page sequent.Page, err error) {
	err = s.ask(ctx, "list", q, &page)
	return page, err
}

// Search implements [sequent.Searcher]. A long page comes in parts.
func (s *remoteStore) Search(ctx context.Context, q sequent.SearchQuery) (hits sequent.Hits, err error) {
	for left := q.PageSize(); ; {
		q.Limit = min(left, web.MaxFound)
		var part sequent.Hits
		if err := s.ask(ctx, "search", q, &part); err != nil {
			return sequent.Hits{}, err
		}
		part.Hits = append(hits.Hits, part.Hits...)
		hits = part
		if left, q.Cursor = left-q.Limit, hits.Next; left == 0 || q.Cursor == "" {
			return hits, nil
		}
	}
}

// Usage implements [sequent.UsageStore].
func (s *remoteStore) Usage(ctx context.Context, q sequent.UsageQuery) (all []sequent.Usage, err error) {
	err = s.ask(ctx, "usage", q, &all)
	return all, err
}

// errRemote is the error of all that changes sessions.
var errRemote = sequent.Errorf(sequent.CodeReadOnly, "", "run sequent on the server's machine, with --store",
	"the sessions of a server can only be read from here")

// Commit implements [sequent.Store].
func (s *remoteStore) Commit(context.Context, []*sequent.Write) error { return errRemote }

// Delete implements [sequent.Store].
func (s *remoteStore) Delete(context.Context, sequent.Key, int64) error { return errRemote }

// Watch implements [sequent.Watcher]. From then on, reads wait for a server that is restarted.
func (s *remoteStore) Watch(context.Context) (*sequent.Watch, error) {
	s.watching.Store(true)
	s.begin.Do(func() {
		go func() {
			defer close(s.followed)
			s.feed.Close(s.follow(s.lasting))
		}()
	})
	return s.feed.Watch(), nil
}

// Close implements [sequent.Store].
func (s *remoteStore) Close() error {
	s.cancel()
	s.begin.Do(func() { close(s.followed) })
	<-s.followed
	s.client.CloseIdleConnections()
	return nil
}

// ask sends a query to a method of the store.
func (s *remoteStore) ask(ctx context.Context, method string, query, into any) error {
	return s.retry(ctx, func(func()) error { return s.call(ctx, http.MethodPost, "store/"+method, nil, query, into) })
}

// follow reports to the feed what changes on the server, through restarts of it. It returns an
// error that does not pass by itself, or that of ctx.
func (s *remoteStore) follow(ctx context.Context) error {
	return s.retry(ctx, func(works func()) error {
		first := true
		return s.events(ctx, s.watches, func(data []byte) error {
			works()
			var list web.List
			if err := json.Unmarshal(data, &list); err != nil {
				return fmt.Errorf("the server's stream cannot be read: %w", err)
			}
			if first || list.More && len(list.Changed) == len(list.Order) { // more may have changed than is listed
				s.feed.Lost()
			}
			for _, c := range append(list.Changed, list.Gone...) {
				s.feed.Touched(sequent.Key{Owner: c.Owner, ID: sequent.ID(c.ID)}.Topic())
			}
			first = false
			return nil
		})
	})
}

// Waits before a request is repeated, and how often one is sent that the server has no room for.
const (
	firstWait   = 250 * time.Millisecond
	lastWait    = 10 * time.Second
	maxAttempts = 5
)

// retry calls try until it succeeds or fails for good. It waits for a server that asks to wait. While
// sessions are watched it also waits for one that fails or cannot be reached. Try may call works when the
// server answers, so that the next wait is short again.
func (s *remoteStore) retry(ctx context.Context, try func(works func()) error) error {
	wait, attempts := firstWait, 0
	for {
		err := try(func() {
			wait, attempts = firstWait, 0
			s.lost.Store(false)
		})
		if err == nil || ctx.Err() != nil {
			return cmp.Or(ctx.Err(), err)
		}
		attempts++
		pause := wait*3/4 + rand.N(wait/2)
		refused, ok := errors.AsType[*remoteError](err)
		if ok && refused.wait > 0 {
			pause = min(refused.wait, lastWait)
		}
		switch watching := s.watching.Load(); {
		case watching && passes(err):
			if attempts > 1 && !s.lost.Swap(true) {
				s.report(err)
			}
		case watching || !ok || refused.wait == 0 || attempts == maxAttempts:
			return s.explain(err)
		}
		wait = min(2*wait, lastWait)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// passes reports whether an error passes by itself, when the server or its provider come back.
func passes(err error) bool {
	if refused, ok := errors.AsType[*remoteError](err); ok {
		return refused.status >= 500 || refused.status == http.StatusTooManyRequests
	}
	e, ok := errors.AsType[*sequent.Error](err) // of another code: the sign-in has ended, for example
	return !ok || e.Code == sequent.CodeUnavailable
}

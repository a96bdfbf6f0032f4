package command

import (
	"cmp"
	"context"
	"errors"
	"net/http"
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
	r, err := newRemote(p.server, p.getenv(tokenVariable))
	if err != nil {
		return nil, err
	}
	var about struct{ Owner, Scope string }
	if err := r.call(ctx, http.MethodGet, "", nil, nil, &about); err != nil {
		return nil, r.explain(err)
	}
	p.remote, p.self = r, about.Owner
	if p.allVisible { // what the token sees
		p.allOwners = p.self == "" || about.Scope == auth.Admin.String()
	}
	s := &remoteStore{remote: r, shown: sequent.Query{Owner: cmp.Or(p.owner, p.self), AllOwners: p.allOwners}}
	s.lost = func(err error) {
		p.tell("The connection to %s is lost: %v. Reconnecting.", r.base.Host, withoutURL(err))
	}
	s.lasting, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return app.Over(s, cfg), nil
}

// A remoteStore is the sessions of a server, as far as the token allows. It cannot be
// changed. What each method returns is what the engine of the server does.
type remoteStore struct {
	*remote
	shown sequent.Query // the sessions that are watched
	lost  func(error)   // tells that the connection was lost

	feed     sequent.Feed
	watching atomic.Bool     // there is a watch: reads wait for a server that is restarted
	lasting  context.Context // until Close
	cancel   context.CancelFunc
	polls    sync.WaitGroup
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

// Watch implements [sequent.Watcher]. It asks for the latest sessions each second, and goes on when a server is
// restarted.
func (s *remoteStore) Watch(context.Context) (*sequent.Watch, error) {
	if !s.watching.Swap(true) {
		s.polls.Go(func() { s.feed.Close(s.poll(s.lasting)) })
	}
	return s.feed.Watch(), nil
}

// poll reports to the feed that sessions have changed. It returns an error that does not pass by itself, or
// that of ctx.
func (s *remoteStore) poll(ctx context.Context) error {
	latest := make(map[sequent.Key]sequent.Position)
	for lost := false; ; {
		var page sequent.Page
		err := s.call(ctx, http.MethodPost, "store/list", nil, s.shown, &page)
		switch {
		case err != nil && (ctx.Err() != nil || !passes(err)):
			return s.explain(err)
		case err != nil && !lost:
			s.lost(err)
		case err == nil:
			now := make(map[sequent.Key]sequent.Position)
			for _, h := range page.Headers {
				now[h.Key] = h.Position()
				if latest[h.Key] != h.Position() {
					s.feed.Touched(h.Topic())
				}
			}
			for k := range latest {
				if _, there := now[k]; !there {
					s.feed.Touched(k.Topic())
				}
			}
			latest = now
		}
		lost = err != nil
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements [sequent.Store].
func (s *remoteStore) Close() error {
	s.cancel()
	s.polls.Wait()
	s.client.CloseIdleConnections()
	return nil
}

// ask sends a query to a method of the store. It asks again when the server has asked it to wait, and while
// sessions are watched also when the server fails or cannot be reached.
func (s *remoteStore) ask(ctx context.Context, method string, query, into any) error {
	const maxAttempts = 5
	for attempt := 1; ; attempt++ {
		err := s.call(ctx, http.MethodPost, "store/"+method, nil, query, into)
		refused, _ := errors.AsType[*remoteError](err)
		waits := refused != nil && refused.wait > 0 || s.watching.Load() && passes(err)
		if err == nil || ctx.Err() != nil || !waits || attempt == maxAttempts {
			return cmp.Or(ctx.Err(), s.explain(err))
		}
		wait := time.Duration(attempt) * time.Second
		if refused != nil {
			wait = max(wait, min(refused.wait, 10*time.Second))
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

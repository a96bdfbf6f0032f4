package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
)

// maxWatched is how many documents one session of the protocol may be told of.
const maxWatched = 100

// noteUpdated tells a client that a document has changed.
const noteUpdated = "notifications/resources/updated"

// A watches knows which documents the sessions of the protocol want to be told
// of. The SDK has a list of its own, which does not tell whose documents they are.
type watches struct {
	mu sync.Mutex
	by map[*mcp.ServerSession]map[string]*watch // by URI
}

// A watch tells a session of each change of one document.
type watch struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it tells of nothing more
}

func (w *watch) stop() {
	w.cancel()
	<-w.done
}

// canWatch reports whether there is a document of whose changes clients are told.
func (s *Server) canWatch() bool {
	return slices.ContainsFunc(s.dialect.Templates, func(t dialect.Template) bool { return t.Watch != nil })
}

// subscribe answers resources/subscribe.
func (s *Server) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	b := bridgeIn(ctx)
	uri := req.Params.URI
	t, value, ok := s.watched(uri)
	if !ok || b == nil {
		return notFound(uri, modern(req))
	}
	s.watches.mu.Lock()
	defer s.watches.mu.Unlock()
	mine := s.watches.by[req.Session]
	switch {
	case mine[uri] != nil:
		return nil
	case len(mine) >= maxWatched:
		return invalidParams("a session may subscribe to %d resources at a time: unsubscribe from some of them", maxWatched)
	}
	next, err := t.Watch(ctx, s.callerOf(ctx), value)
	if errors.Is(err, sequent.ErrNotFound) {
		return notFound(uri, modern(req))
	}
	if err != nil {
		return err
	}
	params, err := marshal(struct {
		URI string `json:"uri"`
	}{uri})
	if err != nil {
		return err
	}
	if mine == nil {
		mine = make(map[string]*watch)
		if s.watches.by == nil {
			s.watches.by = make(map[*mcp.ServerSession]map[string]*watch)
		}
		s.watches.by[req.Session] = mine
	}
	watchCtx, cancel := context.WithCancel(context.Background()) // it outlives the request
	w := &watch{cancel: cancel, done: make(chan struct{})}
	mine[uri] = w
	go func() {
		defer close(w.done)
		b.announce(watchCtx, next, params)
	}()
	return nil
}

// announce sends a notification at each change, until there are no more. The last
// one is that the document is gone.
func (b *bridge) announce(ctx context.Context, next func(context.Context) error, params json.RawMessage) {
	for more := true; more; {
		err := next(ctx)
		if ctx.Err() != nil || err != nil && !errors.Is(err, sequent.ErrNotFound) {
			return // a store that fails tells those who read
		}
		more = err == nil
		_ = b.unasked(ctx, &jsonrpc.Request{Method: noteUpdated, Params: params}) // nobody may listen now
	}
}

// watched finds the template of a document of whose changes clients are told.
func (s *Server) watched(uri string) (t *dialect.Template, value string, ok bool) {
	for i := range s.dialect.Templates {
		t = &s.dialect.Templates[i]
		before, _, after := variable(t.URI)
		inner, begins := strings.CutPrefix(uri, before)
		inner, ends := strings.CutSuffix(inner, after)
		if t.Watch == nil || !begins || !ends || strings.Contains(inner, "/") && !strings.Contains(t.URI, "{+") {
			continue
		}
		if value, err := url.PathUnescape(inner); err == nil && value != "" {
			return t, value, true
		}
	}
	return nil, "", false
}

// unsubscribe answers resources/unsubscribe.
func (s *Server) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	s.watches.mu.Lock()
	w := s.watches.by[req.Session][req.Params.URI]
	delete(s.watches.by[req.Session], req.Params.URI)
	s.watches.mu.Unlock()
	if w != nil {
		w.stop()
	}
	return nil
}

// forget ends what a session was told, when it has ended.
func (w *watches) forget(session *mcp.ServerSession) {
	w.mu.Lock()
	mine := w.by[session]
	delete(w.by, session)
	w.mu.Unlock()
	for _, watch := range mine {
		watch.stop()
	}
}

// Clients of 2026-07-28 would be told in the reply to a request that does not end,
// which on standard input would hold up all that come after it. They are not
// offered that, and if they ask for it, are told that it was not agreed.

func refuseWatching(req mcp.Request) {
	if p, ok := req.GetParams().(*mcp.SubscriptionsListenParams); ok && p != nil && p.Notifications != nil {
		p.Notifications.ResourceSubscriptions = nil
	}
}

func offerNoWatching(r *mcp.DiscoverResult) {
	if r.Capabilities == nil || r.Capabilities.Resources == nil {
		return
	}
	all, resources := *r.Capabilities, *r.Capabilities.Resources // the server's own
	resources.Subscribe = false
	all.Resources = &resources
	r.Capabilities = &all
}

// bridgeKey is where the context of a handler has the bridge.
type bridgeKey struct{}

func bridgeIn(ctx context.Context) *bridge {
	b, _ := ctx.Value(bridgeKey{}).(*bridge)
	return b
}

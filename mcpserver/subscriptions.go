package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// MaxWatched is the maximum number of documents of one subscription, or of one session of
// the handshake era.
const maxWatched = 100

// subscriptions are the documents whose changes are reported to a client. Several changes
// of a document before the next notification are one. They are safe for concurrent use.
type subscriptions struct {
	server *Server
	meta   *subscriptionMeta // of notifications; nil for none
	wake   chan struct{}

	mu     sync.Mutex // guards the fields below
	by     map[string]*watched
	due    []*watched // in the order in which they changed
	say    []byte     // a line to be sent; nil for none
	closed bool
}

// A watched is one document.
type watched struct {
	uri     string
	stop    func() // nil until the watch has begun
	due     bool   // it is in Subscriptions.due
	removed bool   // its changes are no longer reported
}

// newSubscriptions returns empty subscriptions. For a request of subscriptions/listen,
// all notifications have its id.
func newSubscriptions(server *Server, id json.RawMessage) *subscriptions {
	return &subscriptions{server: server, meta: subscriptionMetaOf(id), wake: make(chan struct{}, 1), by: make(map[string]*watched)}
}

// subscriptionMeta is the _meta that names a subscription.
type subscriptionMeta struct {
	ID json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
}

func subscriptionMetaOf(id json.RawMessage) *subscriptionMeta {
	if id == nil {
		return nil
	}
	return &subscriptionMeta{id}
}

// Subscribe adds the document at a URI. The error matches sequent.ErrNotFound if
// there is no such document.
func (s *subscriptions) Subscribe(ctx context.Context, c tool.Caller, uri string) error {
	w, err := s.reserve(uri)
	if w == nil {
		return err
	}
	begun := false
	defer func() {
		if !begun {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.by, uri)
		}
	}()
	stop, err := s.server.watch(ctx, c, uri, func(gone bool) { s.changed(w, gone) })
	if err != nil {
		return err
	}
	begun = true
	s.mu.Lock()
	w.stop = stop
	removed := w.removed
	s.mu.Unlock()
	if removed { // meanwhile
		stop()
	}
	return nil
}

// reserve adds a document before it is watched. It returns nil if the document is there
// already or the limit is reached.
func (s *subscriptions) reserve(uri string) (*watched, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errCancelled
	case s.by[uri] != nil:
		return nil, nil
	case len(s.by) >= maxWatched:
		return nil, invalidParams("a session may subscribe to %d resources at a time: unsubscribe from some of them", maxWatched)
	}
	w := &watched{uri: uri}
	s.by[uri] = w
	return w, nil
}

// changed records that a document has changed. It does not block.
func (s *subscriptions) changed(w *watched, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.removed {
		return
	}
	if gone && s.by[w.uri] == w {
		delete(s.by, w.uri)
	}
	if !w.due {
		w.due = true
		s.due = append(s.due, w)
	}
	s.Nudge()
}

// Say has a line sent that is not about a document. It replaces one that was not sent.
func (s *subscriptions) Say(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say = line
	s.Nudge()
}

// Nudge makes Wake readable.
func (s *subscriptions) Nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Unsubscribe removes the document at a URI, if the client has subscribed to it.
func (s *subscriptions) Unsubscribe(uri string) {
	s.mu.Lock()
	w := s.by[uri]
	delete(s.by, uri)
	s.mu.Unlock()
	if w != nil {
		s.remove(w)
	}
}

// remove ends the watch of a document that is no longer in by. When it returns, changed
// is not called any more.
func (s *subscriptions) remove(w *watched) {
	s.mu.Lock()
	w.removed = true
	stop := w.stop
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// Wake is readable when Take returns something.
func (s *subscriptions) Wake() <-chan struct{} { return s.wake }

// Take returns a notification for each document that has changed since the previous call,
// as lines.
func (s *subscriptions) Take() (lines [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.say != nil {
		lines, s.say = append(lines, s.say), nil
	}
	for _, w := range s.due {
		w.due = false
		if !w.removed {
			lines = append(lines, notification("notifications/resources/updated", struct {
				Meta *subscriptionMeta `json:"_meta,omitempty"`
				URI  string            `json:"uri"`
			}{s.meta, w.uri}))
		}
	}
	s.due = nil
	return lines
}

// Close removes all documents and refuses others.
func (s *subscriptions) Close() {
	s.mu.Lock()
	all := s.by
	s.by, s.closed = make(map[string]*watched), true
	s.mu.Unlock()
	for _, w := range all {
		s.remove(w)
	}
}

// A listening is an accepted request of subscriptions/listen. The caller sends
// Acknowledgement, then the lines from Take, at the end Result unless the client has
// cancelled the request, and calls Close.
type listening struct {
	*subscriptions
	agreed []string
	result []byte
}

// listen begins a subscription. It omits documents that do not exist or cannot be
// watched. If no document is left, Empty is true and the subscription has ended.
func listen(ctx context.Context, server *Server, r *request) (*listening, *rpcError) {
	uris, fault := server.checkListen(r)
	if fault != nil {
		return nil, fault
	}
	l := &listening{subscriptions: newSubscriptions(server, r.ID)}
	if len(uris) > maxWatched {
		return nil, invalidParams("a subscription may name %d resources: use several requests", maxWatched)
	}
	fault = server.guard(ctx, r, func() error {
		for _, uri := range uris {
			err := l.Subscribe(ctx, r.Caller, uri)
			switch {
			case errors.Is(err, sequent.ErrNotFound):
			case err != nil:
				return err
			case !slices.Contains(l.agreed, uri):
				l.agreed = append(l.agreed, uri)
			}
		}
		return nil
	})
	if fault != nil {
		l.Close()
		return nil, fault
	}
	meta := append([]byte(`"`+metaSubscription+`":`), r.ID...)
	l.result, _ = server.appendResult(nil, r, meta, struct{}{}) // nothing can fail
	return l, nil
}

// Empty reports whether the subscription has no documents.
func (l *listening) Empty() bool { return len(l.agreed) == 0 }

// Acknowledgement returns the notification with the accepted documents, a line.
func (l *listening) Acknowledgement() []byte {
	type notifications struct {
		URIs []string `json:"resourceSubscriptions,omitempty"`
	}
	return notification("notifications/subscriptions/acknowledged", struct {
		Meta *subscriptionMeta `json:"_meta"`
		Sent notifications     `json:"notifications"`
	}{l.meta, notifications{l.agreed}})
}

// Result returns the reply that ends the subscription, a line.
func (l *listening) Result() []byte { return l.result }

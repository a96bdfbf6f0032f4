package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/tool"
)

// MaxWatched is how many documents one subscription, or one session of the
// handshake era, may have.
const MaxWatched = 100

// Subscriptions are the documents of whose changes a client is told. Changes of
// one document that the client has not been told of yet are one change. They are
// safe for concurrent use.
type Subscriptions struct {
	server *method.Server
	open   []byte // a notification up to where its uri begins
	wake   chan struct{}

	mu     sync.Mutex // guards what follows
	by     map[string]*watched
	due    []*watched // in the order in which they changed
	closed bool
}

// A watched is one document.
type watched struct {
	uri     string
	stop    func() // nil until the watching has begun
	due     bool   // it is in Subscriptions.due
	removed bool   // the client is not told of it any more
}

// NewSubscriptions returns no subscriptions yet.
func NewSubscriptions(server *method.Server) *Subscriptions { return newSubscriptions(server, nil) }

// newSubscriptions returns those of a request of subscriptions/listen with an id,
// which all its notifications name.
func newSubscriptions(server *method.Server, id json.RawMessage) *Subscriptions {
	s := &Subscriptions{server: server, wake: make(chan struct{}, 1), by: make(map[string]*watched)}
	s.open = message.OpenNotification(nil, "notifications/resources/updated")
	if id != nil {
		s.open = appendSubscription(s.open, id)
	}
	s.open = slices.Clip(message.AppendName(s.open, "uri"))
	return s
}

// appendSubscription appends the _meta that names a subscription.
func appendSubscription(params []byte, id json.RawMessage) []byte {
	params = message.AppendName(params, "_meta")
	params = append(params, '{')
	params = append(message.AppendName(params, message.MetaSubscription), id...)
	return append(params, '}')
}

// Subscribe adds the document at a URI. The error matches sequent.ErrNotFound if
// there is no such document.
func (s *Subscriptions) Subscribe(ctx context.Context, c tool.Caller, uri string) error {
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
	stop, err := s.server.Watch(ctx, c, uri, func(gone bool) { s.changed(w, gone) })
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

// reserve adds a document before it is watched; nil if that is done already, or
// cannot be.
func (s *Subscriptions) reserve(uri string) (*watched, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, message.ErrCancelled
	case s.by[uri] != nil:
		return nil, nil
	case len(s.by) >= MaxWatched:
		return nil, message.InvalidParams("a session may subscribe to %d resources at a time: unsubscribe from some of them", MaxWatched)
	}
	w := &watched{uri: uri}
	s.by[uri] = w
	return w, nil
}

// changed notes that a document has changed. It does not wait.
func (s *Subscriptions) changed(w *watched, gone bool) {
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

// Nudge makes Wake readable.
func (s *Subscriptions) Nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Unsubscribe removes the document at a URI, if it is there.
func (s *Subscriptions) Unsubscribe(uri string) {
	s.mu.Lock()
	w := s.by[uri]
	delete(s.by, uri)
	s.mu.Unlock()
	if w != nil {
		s.remove(w)
	}
}

// remove ends the watching of a document that is no longer in by. It returns when
// changed is not called any more.
func (s *Subscriptions) remove(w *watched) {
	s.mu.Lock()
	w.removed = true
	stop := w.stop
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// Wake is readable when there is something to Take.
func (s *Subscriptions) Wake() <-chan struct{} { return s.wake }

// Take returns a notification for each document that has changed since it was
// called last, as lines.
func (s *Subscriptions) Take() (lines [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.due {
		w.due = false
		if !w.removed {
			lines = append(lines, message.CloseNotification(message.AppendQuoted(s.open, w.uri)))
		}
	}
	s.due = nil
	return lines
}

// Close removes all documents and refuses others.
func (s *Subscriptions) Close() {
	s.mu.Lock()
	all := s.by
	s.by, s.closed = make(map[string]*watched), true
	s.mu.Unlock()
	for _, w := range all {
		s.remove(w)
	}
}

// A Listening is a request of subscriptions/listen that was accepted. The caller
// sends Acknowledgement, then what Take returns, and in the end Result, unless the
// client has cancelled it; and calls Close.
type Listening struct {
	*Subscriptions
	id     json.RawMessage
	agreed []string
	result []byte
}

// Listen begins a subscription. Documents that do not exist or cannot be watched
// are left out; if that is all of them, Empty is true and the subscription is over.
func Listen(ctx context.Context, server *method.Server, r *method.Request) (*Listening, *message.Error) {
	uris, fault := server.CheckListen(r)
	if fault != nil {
		return nil, fault
	}
	l := &Listening{Subscriptions: newSubscriptions(server, r.ID), id: r.ID}
	if len(uris) > MaxWatched {
		return nil, message.InvalidParams("a subscription may name %d resources: use several requests", MaxWatched)
	}
	fault = server.Guard(ctx, r, func() error {
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
	l.result = message.CloseResult(server.AppendCommon(message.OpenResult(nil, r.ID), l.subscription()))
	return l, nil
}

// subscription returns the members of _meta that name the subscription.
func (l *Listening) subscription() []byte {
	return append([]byte(`"`+message.MetaSubscription+`":`), l.id...)
}

// Empty reports whether the client is told of nothing.
func (l *Listening) Empty() bool { return len(l.agreed) == 0 }

// Acknowledgement returns the notification that says what was agreed, a line.
func (l *Listening) Acknowledgement() []byte {
	line := message.OpenNotification(nil, "notifications/subscriptions/acknowledged")
	line = appendSubscription(line, l.id)
	line = append(message.AppendName(line, "notifications"), '{')
	if len(l.agreed) > 0 {
		line = append(message.AppendName(line, "resourceSubscriptions"), '[')
		for i, uri := range l.agreed {
			if i > 0 {
				line = append(line, ',')
			}
			line = message.AppendQuoted(line, uri)
		}
		line = append(line, ']')
	}
	return message.CloseNotification(append(line, '}'))
}

// Result returns the reply that ends the subscription, a line.
func (l *Listening) Result() []byte { return l.result }

package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/tool"
)

// MaxWatched is the maximum number of documents of one subscription, or of one session of
// the handshake era.
const MaxWatched = 100

// Subscriptions are the documents whose changes are reported to a client. Several changes
// of a document before the next notification are one. They are safe for concurrent use.
type Subscriptions struct {
	server *method.Server
	client method.Client // nil for no limits
	open   []byte        // the beginning of a notification, up to its uri
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
	counted bool   // it counts towards the limit of the client
}

// newSubscriptions returns empty subscriptions. For a request of subscriptions/listen,
// all notifications have its id.
func newSubscriptions(server *method.Server, client method.Client, id json.RawMessage) *Subscriptions {
	s := &Subscriptions{server: server, client: client, wake: make(chan struct{}, 1), by: make(map[string]*watched)}
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
			s.uncount(w)
		}
	}()
	if err := s.count(w); err != nil {
		return err
	}
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

// reserve adds a document before it is watched. It returns nil if the document is there
// already or the limit is reached.
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

// count counts a document towards the limit of the client.
func (s *Subscriptions) count(w *watched) error {
	if s.client == nil {
		return nil
	}
	if err := s.client.Take(governor.Watches, 1); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.counted = true
	if w.removed { // meanwhile
		s.uncount(w)
	}
	return nil
}

// uncount returns what count has taken. The caller holds mu.
func (s *Subscriptions) uncount(w *watched) {
	if w.counted {
		w.counted = false
		s.client.Give(governor.Watches, 1)
	}
}

// changed records that a document has changed. It does not block.
func (s *Subscriptions) changed(w *watched, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.removed {
		return
	}
	if gone && s.by[w.uri] == w {
		delete(s.by, w.uri)
		s.uncount(w)
	}
	if !w.due {
		w.due = true
		s.due = append(s.due, w)
	}
	s.Nudge()
}

// Say has a line sent that is not about a document. It replaces one that was not sent.
func (s *Subscriptions) Say(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say = line
	s.Nudge()
}

// Nudge makes Wake readable.
func (s *Subscriptions) Nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Unsubscribe removes the document at a URI, if the client has subscribed to it.
func (s *Subscriptions) Unsubscribe(uri string) {
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
func (s *Subscriptions) remove(w *watched) {
	s.mu.Lock()
	w.removed = true
	s.uncount(w)
	stop := w.stop
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// Wake is readable when Take returns something.
func (s *Subscriptions) Wake() <-chan struct{} { return s.wake }

// Take returns a notification for each document that has changed since the previous call,
// as lines.
func (s *Subscriptions) Take() (lines [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.say != nil {
		lines, s.say = append(lines, s.say), nil
	}
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

// A Listening is an accepted request of subscriptions/listen. The caller sends
// Acknowledgement, then the lines from Take, at the end Result unless the client has
// cancelled the request, and calls Close.
type Listening struct {
	*Subscriptions
	id     json.RawMessage
	agreed []string
	result []byte
}

// Listen begins a subscription. It omits documents that do not exist or cannot be
// watched. If no document is left, Empty is true and the subscription has ended.
func Listen(ctx context.Context, server *method.Server, r *method.Request) (*Listening, *message.Error) {
	uris, fault := server.CheckListen(r)
	if fault != nil {
		return nil, fault
	}
	l := &Listening{Subscriptions: newSubscriptions(server, r.Client, r.ID), id: r.ID}
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

// Empty reports whether the subscription has no documents.
func (l *Listening) Empty() bool { return len(l.agreed) == 0 }

// Acknowledgement returns the notification with the accepted documents, a line.
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

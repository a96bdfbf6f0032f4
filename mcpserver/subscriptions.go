package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// maxWatched is the maximum number of documents of one subscription, or of one session of
// the handshake era.
const maxWatched = 100

// subscriptions are the documents whose changes are reported to a client. Several changes
// of a document before the next notification are one. They are safe for concurrent use.
type subscriptions struct {
	server *Server
	meta   map[string]json.RawMessage // of notifications; nil for none
	wake   chan struct{}              // readable when take returns something

	changing sync.Mutex // held while a document is added or removed

	mu    sync.Mutex        // guards the fields below
	stops map[string]func() // end the watch of each document, by URI; nil once closed
	due   []string          // URIs, in the order in which the documents changed
	other []byte            // a line that is not about a document
}

// newSubscriptions returns empty subscriptions. For a request of subscriptions/listen,
// all notifications have its id.
func newSubscriptions(server *Server, id json.RawMessage) *subscriptions {
	s := &subscriptions{server: server, wake: make(chan struct{}, 1), stops: make(map[string]func())}
	if id != nil {
		s.meta = map[string]json.RawMessage{metaSubscription: id}
	}
	return s
}

// add adds the document at a URI. The error matches sequent.ErrNotFound if there is no such document.
func (s *subscriptions) add(ctx context.Context, c tool.Caller, uri string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	n, known, closed := len(s.stops), s.stops[uri] != nil, s.stops == nil
	s.mu.Unlock()
	switch {
	case known:
		return nil
	case closed:
		return errCancelled
	case n >= maxWatched:
		return invalidParams("a session may subscribe to %d resources at a time: unsubscribe from some of them", maxWatched)
	}
	stop, err := s.server.watch(ctx, c, uri, func(gone bool) { s.changed(uri, gone) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops[uri] = stop
	return nil
}

// changed records that a document has changed. It does not block.
func (s *subscriptions) changed(uri string, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone {
		delete(s.stops, uri)
	}
	if !slices.Contains(s.due, uri) {
		s.due = append(s.due, uri)
	}
	s.nudge()
}

// send has a line sent that is not about a document. It replaces one that was not sent.
func (s *subscriptions) send(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.other = line
	s.nudge()
}

// nudge makes wake readable.
func (s *subscriptions) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// remove removes the document at a URI, if the client has subscribed to it.
func (s *subscriptions) remove(uri string) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	stop := s.stops[uri]
	delete(s.stops, uri)
	s.mu.Unlock()
	if stop == nil {
		return
	}
	stop() // from here on changed is not called
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = slices.DeleteFunc(s.due, func(due string) bool { return due == uri })
}

// take returns a notification for each document that has changed since the previous call,
// as lines.
func (s *subscriptions) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.other
	for _, uri := range s.due {
		lines = append(lines, notification("notifications/resources/updated", struct {
			Meta map[string]json.RawMessage `json:"_meta,omitempty"`
			URI  string                     `json:"uri"`
		}{s.meta, uri})...)
	}
	s.other, s.due = nil, nil
	return lines
}

// follow sends the notifications until ctx is done, sending fails, or ending is closed, which it reports. At
// each tick it sends nothing, to see whether the client is there.
func (s *subscriptions) follow(
	ctx context.Context, ending <-chan struct{}, tick <-chan time.Time, send func(lines []byte) error,
) (ended bool) {
	for {
		var lines []byte
		select {
		case <-s.wake:
			if ctx.Err() != nil {
				s.nudge() // what is due is for who follows next
				return false
			}
			lines = s.take()
		case <-tick:
		case <-ctx.Done():
			return false
		case <-ending:
			return true
		}
		if send(lines) != nil {
			return false
		}
	}
}

// close removes all documents and refuses others.
func (s *subscriptions) close() {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	all := s.stops
	s.stops = nil
	s.mu.Unlock()
	for _, stop := range all {
		stop()
	}
}

// A listening is an accepted request of subscriptions/listen. The client gets the acknowledgement, then
// notifications, and at the end the result unless it has cancelled the request.
type listening struct {
	*subscriptions
	empty                   bool // it has no documents, and has ended
	acknowledgement, result []byte
}

// listen begins a subscription. It omits documents that do not exist or cannot be watched. The caller closes it.
func listen(ctx context.Context, server *Server, r *request) (*listening, *rpcError) {
	if _, fault := server.find(r); fault != nil {
		return nil, fault
	}
	p, err := decode[struct {
		Notifications *struct {
			ResourceSubscriptions                                      []string
			ToolsListChanged, PromptsListChanged, ResourcesListChanged bool
		}
	}](r)
	switch {
	case err != nil:
		return nil, badParams(r)
	case p.Notifications == nil:
		return nil, invalidParams("invalid params: missing required 'notifications' field")
	case len(p.Notifications.ResourceSubscriptions) > maxWatched:
		return nil, invalidParams("a subscription may name %d resources: use several requests", maxWatched)
	}
	s := newSubscriptions(server, r.ID)
	var agreed struct {
		URIs []string `json:"resourceSubscriptions,omitempty"`
	}
	fault := server.guard(ctx, r, func() error {
		for _, uri := range p.Notifications.ResourceSubscriptions {
			err := s.add(ctx, r.Caller, uri)
			switch {
			case errors.Is(err, sequent.ErrNotFound):
			case err != nil:
				return err
			case !slices.Contains(agreed.URIs, uri):
				agreed.URIs = append(agreed.URIs, uri)
			}
		}
		return nil
	})
	if fault != nil {
		s.close()
		return nil, fault
	}
	l := &listening{subscriptions: s, empty: len(agreed.URIs) == 0}
	l.acknowledgement = notification("notifications/subscriptions/acknowledged", struct {
		Meta map[string]json.RawMessage `json:"_meta"`
		Sent any                        `json:"notifications"`
	}{s.meta, agreed})
	l.result, _ = server.appendResult(nil, r, append([]byte(`"`+metaSubscription+`":`), r.ID...), struct{}{}) // nothing can fail
	return l, nil
}

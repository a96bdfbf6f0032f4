package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/limits"
)

const (
	// heartbeat is how long a stream may be silent. A closed connection is noticed by
	// writing to it.
	heartbeat = 20 * time.Second
	// checkInterval is how often a stream looks whether its token or link has ended, and whether a model
	// writes; draftInterval is how often it looks for text while one does.
	checkInterval = 500 * time.Millisecond
	draftInterval = 100 * time.Millisecond
	// gather is how long changes are gathered before they are sent together. Documents and masks cost
	// the length of the session: pauseFactor times what the last one took is added, up to maxPause.
	gather      = 50 * time.Millisecond
	pauseFactor = 4
	maxPause    = 2 * time.Second
)

// A stream is a reply of server-sent events.
type stream struct {
	*exchange
	ctx     context.Context // ends with the request, and with the server
	changes chan error      // notices of the watch, and the error with which it ends
	drafts  func() []Draft  // that models are writing
	shown   []Draft         // as they were sent
	sent    time.Time       // when something was sent last; zero before
}

// events is a stream of changes: of the session of the parameter id, or of the list of
// sessions. The id of an event is a position; a client that sends it as Last-Event-ID gets
// what follows it, each thought once.
func (x *exchange) events() error {
	id, all := sequent.ID(x.query().Get("id")), x.linked == nil && x.query().Has("all")
	if all {
		var err error
		if x.engine, err = x.engineOf("", true); err != nil {
			return err
		}
	}
	if x.h.config.Ending.Err() != nil {
		return errEnding
	}
	if err := x.client.Take(limits.Streams); err != nil {
		return err
	}
	x.client.Give(limits.Calls)
	x.held = limits.Streams
	ctx, cancel := context.WithCancel(x.r.Context())
	defer cancel()
	defer context.AfterFunc(x.h.config.Ending, cancel)()
	watch, err := x.engine.Watch(ctx)
	if err != nil {
		return err
	}
	defer watch.Close()
	s := &stream{exchange: x, ctx: ctx, changes: make(chan error), drafts: func() []Draft { return nil }}
	if id != "" {
		err = s.follow(watch, id)
	} else {
		err = s.followList(watch, all)
	}
	return s.over(err)
}

// follow sends the document of a session, and again whenever the session has changed, with the
// rows that are new. Each has the position of its last row as its id.
func (s *stream) follow(watch *sequent.Watch, id sequent.ID) error {
	epoch, seq, err := parsePosition(cmp.Or(s.r.Header.Get("Last-Event-ID"), s.query().Get("after")))
	if err != nil {
		return err
	}
	before, err := s.snapshot(id) // the checks of the id come before Watch.Add
	if err != nil {
		return err
	}
	k := sequent.Key{Owner: s.engine.Owner(), ID: id}
	s.watch(watch, k)
	if s.linked == nil { // no pattern finds the beginning of a secret
		defer s.h.config.Drafts.follow(k)()
		s.drafts = func() []Draft { return s.h.config.Drafts.of(k) }
	}
	for version := 0; ; {
		begun := time.Now()
		now, err := s.snapshot(id)
		switch {
		case errors.Is(err, sequent.ErrNotFound):
			return s.event("deleted", "", struct{}{})
		case errors.Is(err, errOver):
			return s.event("revoked", "", struct{}{})
		case err != nil:
			return err
		case epoch != 0 && epoch != now.Epoch() || seq > now.Len() || s.linked != nil && !sameTexts(before, now, seq):
			return s.event("replaced", "", struct{}{})
		}
		before, epoch = now, now.Epoch()
		for more := now.Version() != version; more; version = now.Version() {
			d := documentOf(now, seq, maxRows)
			seq, more = seq+len(d.Rows), d.More
			s.public(&d)
			if err := s.event("session", d.Position, d); err != nil {
				return err
			}
		}
		if err := s.wait(min(gather+pauseFactor*time.Since(begun), maxPause)); errors.Is(err, errOver) {
			return s.event("revoked", "", struct{}{})
		} else if err != nil {
			return err
		}
	}
}

// snapshot returns a session as the client may see it. Masking takes a turn.
func (s *stream) snapshot(id sequent.ID) (*sequent.Session, error) {
	if s.linked != nil {
		done, err := s.heavy(s.ctx)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	return s.session(s.ctx, id)
}

// A List is the first page of the list of sessions, or what has changed of it since the last
// event. The deletion of a session that is not on the page is not noticed.
type List struct {
	Order   []string         `json:"order"` // ids of the page
	Changed []sequent.Header `json:"changed"`
	Gone    []sequent.Key    `json:"gone,omitempty"` // of sessions that were on the page before
	More    bool             `json:"more"`           // there are older sessions
}

// followList sends the sessions of the first page of the list, of a project or of all owners, that
// have changed, and the order of all of that page.
func (s *stream) followList(watch *sequent.Watch, all bool) error {
	s.watch(watch, sequent.Key{})
	q := sequent.Query{AllOwners: all, Limit: maxSessions, Project: s.query().Get("project")}
	var before map[sequent.Key]sequent.Position
	for {
		page, err := s.engine.Sessions(s.ctx, q)
		if err != nil {
			return err
		}
		list, now := List{Order: []string{}, Changed: []sequent.Header{}, More: page.Next != ""}, make(map[sequent.Key]sequent.Position)
		for i := range page.Headers {
			h := &page.Headers[i]
			list.Order = append(list.Order, string(h.ID))
			if now[h.Key] = h.Position(); before[h.Key] != now[h.Key] {
				list.Changed = append(list.Changed, listed(*h))
			}
			delete(before, h.Key)
		}
		for k := range before {
			list.Gone = append(list.Gone, k)
		}
		if before == nil || len(list.Changed)+len(list.Gone) > 0 {
			if err := s.event("sessions", "", list); err != nil {
				return err
			}
		}
		before = now
		if err := s.wait(gather); err != nil {
			return err
		}
	}
}

// watch has changes of a session reported, or of all with the zero key.
func (s *stream) watch(watch *sequent.Watch, k sequent.Key) {
	watch.Add(k)
	go func() {
		for err := error(nil); err == nil; {
			_, err = watch.Wait(s.ctx)
			select {
			case s.changes <- err:
			case <-s.ctx.Done():
				return
			}
		}
	}()
}

// errClosed says that the stream is over and nothing is to be answered.
var errClosed = errors.New("web: the stream is closed")

// event sends an event. An error says that the client has closed the connection.
func (s *stream) event(name, id string, data any) error {
	text := "event: " + name + "\n"
	if id != "" {
		text += "id: " + id + "\n"
	}
	return s.text(append(append([]byte(text+"data: "), encoded(data)...), '\n'))
}

func (s *stream) text(text []byte) error {
	if s.sent.IsZero() {
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("X-Accel-Buffering", "no") // a proxy that gathers would keep it
		s.status = http.StatusOK
		s.w.WriteHeader(http.StatusOK)
		s.answered()
	}
	s.sent = time.Now()
	if s.write(text) != nil {
		return errClosed
	}
	s.limitWrite()
	if err := s.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errClosed
	}
	return nil
}

// wait waits for a change, at least for a pause after what was sent last, and keeps the
// connection alive meanwhile. It returns an error if the client's access has ended.
func (s *stream) wait(pause time.Duration) error {
	tick := time.NewTicker(s.interval())
	defer tick.Stop()
	checked := time.Now()
	var due <-chan time.Time // nil before a change
	for {
		changed := false
		select {
		case err := <-s.changes:
			if err != nil {
				return err
			}
			if due == nil {
				due = time.After(time.Until(s.sent.Add(pause)))
			}
			continue
		case <-due:
			changed = true
		case <-tick.C:
			if err := s.ticked(); err != nil {
				return err
			}
			if tick.Reset(s.interval()); time.Since(checked) < checkInterval {
				continue
			}
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
		checked = time.Now()
		if err := s.still(s.ctx); err != nil || changed {
			return err
		}
	}
}

// interval returns how long it is until the stream looks for drafts.
func (s *stream) interval() time.Duration {
	if len(s.shown) > 0 {
		return draftInterval
	}
	return checkInterval
}

// ticked sends drafts that have changed, and something to a client that was sent nothing for long.
func (s *stream) ticked() error {
	if now := s.drafts(); !slices.Equal(now, s.shown) {
		s.shown = now
		return s.event("writing", "", now)
	}
	if time.Since(s.sent) > heartbeat {
		return s.text([]byte(": still here\n\n"))
	}
	return nil
}

// over ends the stream because of an error. Before the first event the error is the reply.
func (s *stream) over(err error) error {
	switch {
	case s.r.Context().Err() != nil:
		return errClosed
	case s.sent.IsZero():
		return err
	case s.ctx.Err() == nil && err != nil && !errors.Is(err, errClosed):
		s.h.config.Logger.WarnContext(s.ctx, "a stream of the viewer ended", "error", err)
	}
	return errClosed // the client connects again
}

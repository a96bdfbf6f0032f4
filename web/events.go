package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/governor"
)

const (
	// heartbeat is how long a stream may be silent. A closed connection is noticed by
	// writing to it.
	heartbeat = 20 * time.Second
	// gather is how long changes are gathered before they are sent together.
	gather = 50 * time.Millisecond
	// gatherText is the same for the text of a thought that is being written.
	gatherText = 100 * time.Millisecond
	// maxEventRows is the maximum number of rows in an event.
	maxEventRows = 500
)

// events is a stream of changes: of the session of the parameter id, or of the list of
// sessions. The id of an event is a position; a client that sends it as Last-Event-ID gets
// what follows it, each thought once.
func (v *visit) events() error {
	if err := v.admit(); err != nil {
		return err
	}
	return v.stream(v.follow)
}

// stream sends what follow finds out to a visitor that was admitted.
func (v *visit) stream(follow func(context.Context, *sequent.Watch, *stream) error) error {
	if err := v.h.config.Ending.Err(); err != nil {
		return &Refusal{
			Status: http.StatusServiceUnavailable, Code: "ending", Message: "the server is shutting down",
			Fix: "try again", retryAfter: time.Second,
		}
	}
	if err := v.take(governor.Streams); err != nil {
		return err
	}
	if err := v.take(governor.Watches); err != nil {
		return err
	}
	v.drop(governor.Calls) // from here on it is a stream
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.h.config.Ending, cancel)()
	watch, err := v.engine.Watch(ctx)
	if err != nil {
		return err
	}
	defer watch.Close()
	return follow(ctx, watch, &stream{visit: v})
}

// follow sends the changes of the session of the request or, without one, of the list.
func (v *visit) follow(ctx context.Context, watch *sequent.Watch, out *stream) error {
	if id := sequent.ID(v.query().Get("id")); id != "" {
		return v.followOne(ctx, watch, id, out)
	}
	return v.followList(ctx, watch, out)
}

// followOne sends the rows of a session after a position, and its state.
func (v *visit) followOne(ctx context.Context, watch *sequent.Watch, id sequent.ID, out *stream) error {
	epoch, seq, err := parsePosition(cmp.Or(v.r.Header.Get("Last-Event-ID"), v.query().Get("after")))
	if err != nil {
		return err
	}
	if _, err := v.snapshot(ctx, id); err != nil { // the checks of the id come before Watch.Add
		return err
	}
	k := sequent.Key{Owner: v.engine.Owner(), ID: id} // that of a masked session may be masked
	watch.Add(k)
	version := 0
	board := &board{}
	if v.h.config.Drafts != nil && v.masks == nil { // no pattern finds the beginning of a secret
		var stop func()
		board.read, stop = v.h.config.Drafts.Follow(k)
		defer stop()
	}
	var shown *sequent.Session // masked, as it was sent
	for {
		s, err := v.snapshot(ctx, id)
		switch {
		case errors.Is(err, sequent.ErrNotFound):
			return out.event("deleted", "", struct {
				At time.Time `json:"at"`
			}{v.h.config.Now()})
		case err != nil:
			return out.end(ctx, err)
		case epoch != 0 && epoch != s.Epoch() || seq > s.Len():
			// Begun again under the same id, or its store has gone back to an earlier state.
			return out.event("replaced", "", struct{}{})
		case shown != nil && !sameTexts(shown, s, seq):
			return out.event("masked", "", struct{}{}) // the page reads the whole session again
		}
		if v.masks != nil {
			shown = s
		}
		epoch = s.Epoch()
		if h := s.Header(); h.Version != version {
			version = h.Version
			// Its id is the position of the rows that were sent, not of those that follow.
			if err := out.event("session", position(epoch, seq), v.public(newSession(&h))); err != nil {
				return err
			}
		}
		rows := make([]Row, 0, min(s.Len()-seq, maxEventRows))
		for t := range s.Since(seq) {
			rows = append(rows, newRow(&t))
			if seq = t.Seq; len(rows) == maxEventRows {
				if err := out.event("thoughts", position(epoch, seq), rows); err != nil {
					return err
				}
				rows = rows[:0]
			}
		}
		if len(rows) > 0 {
			if err := out.event("thoughts", position(epoch, seq), rows); err != nil {
				return err
			}
		}
		drafts, changed := board.take()
		if len(drafts) > 0 {
			if err := out.event("writing", "", drafts); err != nil {
				return err
			}
		}
		switch err := out.wait(ctx, watch, changed); {
		case errors.Is(err, errRevoked):
			return out.event("revoked", "", struct {
				At time.Time `json:"at"`
			}{v.h.config.Now()})
		case err != nil:
			return out.end(ctx, err)
		}
	}
}

// snapshot is session for a stream, which takes a turn to mask texts.
func (v *visit) snapshot(ctx context.Context, id sequent.ID) (*sequent.Session, error) {
	if v.masks != nil {
		done, err := v.heavy()
		if err != nil {
			return nil, err
		}
		defer done()
	}
	return v.session(ctx, id)
}

// followList sends the sessions of the first page of the list, of a project or of all, that
// have changed, and the order of all of that page.
func (v *visit) followList(ctx context.Context, watch *sequent.Watch, out *stream) error {
	watch.Add(sequent.Key{})
	var known positions
	for first := true; ; first = false {
		page, err := v.engine.Sessions(ctx, sequent.Query{Limit: maxSessions, Project: v.r.URL.Query().Get("project")})
		if err != nil {
			return out.end(ctx, err)
		}
		keys, gone := known.changed(page.Headers)
		order, changed := make([]string, len(page.Headers)), []Session{}
		for i := range page.Headers {
			h := &page.Headers[i]
			order[i] = string(h.ID)
			if keys[h.Key] {
				changed = append(changed, newSession(h))
			}
		}
		if first || len(changed) > 0 || len(gone) > 0 {
			err := out.event("sessions", "", struct {
				Order   []string  `json:"order"`
				Changed []Session `json:"changed"`
				More    bool      `json:"more"` // there are older sessions
			}{order, changed, page.Next != ""})
			if err != nil {
				return err
			}
		}
		if err := out.wait(ctx, watch, nil); err != nil {
			return out.end(ctx, err)
		}
	}
}

// positions are those of the sessions of a list.
type positions map[sequent.Key]sequent.Position

// changed returns which sessions of a list have changed since the last call, and those that are
// not in it any more.
func (p *positions) changed(list []sequent.Header) (changed map[sequent.Key]bool, gone []sequent.Key) {
	now := make(positions, len(list))
	changed = make(map[sequent.Key]bool)
	for i := range list {
		k, at := list[i].Key, list[i].Position()
		if now[k] = at; (*p)[k] != at {
			changed[k] = true
		}
	}
	for k := range *p {
		if _, ok := now[k]; !ok {
			gone = append(gone, k)
		}
	}
	*p = now
	return changed, gone
}

// A stream is a reply of server-sent events.
type stream struct {
	*visit
	begun bool
	sent  time.Time // when something was sent last
}

// event sends an event. Errors are those of the connection, of which the client needs no
// reply; so it returns only whether to go on.
func (s *stream) event(name, id string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		panic("web: " + err.Error()) // documents have no types that fail
	}
	text := "event: " + name + "\n"
	if id != "" {
		text += "id: " + id + "\n"
	}
	return s.text(fmt.Sprintf("%sdata: %s\n\n", text, body))
}

// errClosed says that the stream is over and nothing is to be answered.
var errClosed = errors.New("web: the stream is closed")

func (s *stream) text(text string) error {
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("X-Accel-Buffering", "no") // a proxy that gathers would keep it
		s.status = http.StatusOK
		s.w.WriteHeader(http.StatusOK)
		s.answered()
	}
	if s.write([]byte(text)) != nil {
		return errClosed
	}
	s.limitWrite()
	if err := s.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errClosed
	}
	s.sent = time.Now()
	return nil
}

// wait waits for a change and the changes that follow at once, and keeps the connection
// alive meanwhile.
func (s *stream) wait(ctx context.Context, watch *sequent.Watch, changed <-chan struct{}) error {
	for {
		pause := heartbeat
		if s.shared != nil {
			pause = shareInterval
		}
		limited, cancel := context.WithTimeout(ctx, pause)
		written, gather := make(chan bool, 1), gather
		go func() {
			select {
			case <-changed:
				written <- true
				cancel()
			case <-limited.Done():
				written <- false
			}
		}()
		_, err := watch.Wait(limited)
		cancel()
		if <-written && ctx.Err() == nil {
			err, gather = nil, gatherText
		}
		switch {
		case err == nil:
			if rest := gather - time.Since(s.sent); rest > 0 {
				t := time.NewTimer(rest)
				defer t.Stop()
				select {
				case <-t.C:
				case <-ctx.Done():
				}
			}
			return cmp.Or(ctx.Err(), s.still(ctx))
		case ctx.Err() != nil || limited.Err() == nil:
			return err
		}
		if err := s.still(ctx); err != nil {
			return err
		}
		if time.Since(s.sent) < heartbeat-shareInterval {
			continue
		}
		if err := s.text(": still here\n\n"); err != nil {
			return err
		}
	}
}

// end ends the stream because of an error. Before the first event the error is the reply.
func (s *stream) end(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errClosed) || s.r.Context().Err() != nil:
		return errClosed
	case !s.begun:
		return err
	case ctx.Err() == nil:
		s.h.config.Logger.WarnContext(ctx, "a stream of the viewer ended", "error", err)
	}
	return errClosed // the client connects again
}

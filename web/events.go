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
	out := &stream{visit: v}
	if id := sequent.ID(v.r.URL.Query().Get("id")); id != "" {
		return v.followOne(ctx, watch, id, out)
	}
	return v.followList(ctx, watch, out)
}

// followOne sends the rows of a session after a position, and its state.
func (v *visit) followOne(ctx context.Context, watch *sequent.Watch, id sequent.ID, out *stream) error {
	epoch, seq, err := parsePosition(cmp.Or(v.r.Header.Get("Last-Event-ID"), v.r.URL.Query().Get("after")))
	if err != nil {
		return err
	}
	s, err := v.engine.Session(ctx, id) // the checks of the id come before Watch.Add
	if err != nil {
		return err
	}
	watch.Add(s.Key())
	version := 0
	board := &board{}
	if v.h.config.Drafts != nil {
		var stop func()
		board.read, stop = v.h.config.Drafts.Follow(s.Key())
		defer stop()
	}
	for {
		s, err := v.engine.Session(ctx, id)
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
		}
		epoch = s.Epoch()
		if h := s.Header(); h.Version != version {
			version = h.Version
			// Its id is the position of the rows that were sent, not of those that follow.
			if err := out.event("session", position(epoch, seq), newSession(&h)); err != nil {
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
		if err := out.wait(ctx, watch, changed); err != nil {
			return out.end(ctx, err)
		}
	}
}

// followList sends the sessions of the first page of the list, of a project or of all, that
// have changed, and the order of all of that page.
func (v *visit) followList(ctx context.Context, watch *sequent.Watch, out *stream) error {
	watch.Add(sequent.Key{})
	known := make(map[sequent.ID]sequent.Position)
	for first := true; ; first = false {
		page, err := v.engine.Sessions(ctx, sequent.Query{Limit: maxSessions, Project: v.r.URL.Query().Get("project")})
		if err != nil {
			return out.end(ctx, err)
		}
		order, changed := make([]string, len(page.Headers)), []Session{}
		now := make(map[sequent.ID]sequent.Position, len(page.Headers))
		for i := range page.Headers {
			h := &page.Headers[i]
			order[i], now[h.ID] = string(h.ID), h.Position()
			if known[h.ID] != h.Position() {
				changed = append(changed, newSession(h))
			}
		}
		if first || len(changed) > 0 || len(known) != len(now) {
			err := out.event("sessions", "", struct {
				Order   []string  `json:"order"`
				Changed []Session `json:"changed"`
				More    bool      `json:"more"` // there are older sessions
			}{order, changed, page.Next != ""})
			if err != nil {
				return err
			}
		}
		known = now
		if err := out.wait(ctx, watch, nil); err != nil {
			return out.end(ctx, err)
		}
	}
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
		s.w.WriteHeader(http.StatusOK)
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
		limited, cancel := context.WithTimeout(ctx, heartbeat)
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

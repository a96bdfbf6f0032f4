package command

import (
	"context"
	"fmt"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A watcher waits for changes of sessions and writes what was recorded.
type watcher struct {
	*program
	engine  *sequent.Engine
	id      sequent.ID // of a session of the engine; empty means those of the project
	changes *sequent.Watch
}

func runWatch(p *program, ctx context.Context) (result, error) {
	e, id := p.engine, sequent.ID("")
	if len(p.args) > 0 {
		s, owned, err := p.session(ctx, p.args)
		if err != nil {
			return nil, err
		}
		e, id = owned, s.ID()
	}
	w, err := p.watcherOf(ctx, e, id)
	if err != nil {
		return nil, err
	}
	defer w.changes.Close()
	switch {
	case isTerminal(p.out) && isTerminal(p.in) && !p.json:
		err = (&screen{watcher: w}).run(ctx, nil)
	case id != "":
		err = w.follow(ctx)
	default:
		err = w.all(ctx)
	}
	if ctx.Err() != nil {
		return nil, nil // a signal is the normal end
	}
	return nil, err
}

// watcherOf returns the watcher of a session of an engine, or of all if the id is empty.
func (p *program) watcherOf(ctx context.Context, e *sequent.Engine, id sequent.ID) (*watcher, error) {
	changes, err := e.Watch(ctx)
	if err != nil {
		return nil, err
	}
	k := sequent.Key{}
	if id != "" {
		k = sequent.Key{Owner: e.Owner(), ID: id}
	}
	changes.Add(k)
	return &watcher{p, e, id, changes}, nil
}

// next waits until the session differs from known and returns it. Without an id it
// is the latest session.
func (w *watcher) next(ctx context.Context, known *sequent.Session) (*sequent.Session, error) {
	for {
		var s *sequent.Session
		var err error
		if w.id != "" {
			s, err = w.engine.Session(ctx, w.id)
		} else if s, err = w.latest(ctx, w.engine); sequent.CodeOf(err) == sequent.CodeSessionNotFound {
			s, err = nil, nil // no session yet
		}
		if err != nil {
			return nil, err
		}
		if s != nil && (known == nil || s.ID() != known.ID() || s.Position() != known.Position()) {
			return s, nil
		}
		if _, err := w.changes.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// A written is how much of a session was written.
type written struct {
	at              sequent.Position
	thoughts, notes int
}

// follow writes the existing and future thoughts of one session.
func (w *watcher) follow(ctx context.Context) error {
	var known *sequent.Session
	var have written
	for {
		s, err := w.next(ctx, known)
		if err != nil {
			return err
		}
		if known != nil && known.Epoch() != s.Epoch() {
			return &sequent.Error{Code: sequent.CodeSessionNotFound, Field: fieldID, Msg: fmt.Sprintf("session %q was deleted", w.id)}
		}
		final := w.write(s, &have)
		if w.untilComplete && (known != nil && final || s.State() != sequent.Active) {
			return nil
		}
		known = s
	}
}

// skew is how much later than another thought a thought can be recorded that has an earlier time,
// from the clock of another machine.
const skew = time.Minute

// all writes the future thoughts of all sessions of the project. The times are those of the store, since
// the clock of this machine may differ.
func (w *watcher) all(ctx context.Context) error {
	q := w.query()
	if s, err := w.latest(ctx, w.engine); err == nil {
		q.Since = s.Updated().Add(-skew)
	}
	if isTerminal(w.err) {
		w.tell("Waiting for thoughts. Press Ctrl-C to end.")
	}
	seen := make(map[sequent.Key]written)
	for begun := false; ; begun = true {
		complete, since := false, q.Since
		for h, err := range w.engine.AllSessions(ctx, q) {
			if err != nil {
				return err
			}
			if recent := h.Updated.Add(-skew); recent.After(q.Since) {
				q.Since = recent
			}
			have, known := seen[h.Key]
			switch {
			case h.Position() == have.at:
				continue
			case !begun: // it was there before
				seen[h.Key] = written{h.Position(), h.Len, h.Notes}
				continue
			}
			s, err := w.engine.Owned(h.Owner).Session(ctx, h.ID)
			switch {
			case sequent.CodeOf(err) == sequent.CodeSessionNotFound:
				continue // deleted just now
			case err != nil:
				return err
			case !known:
				have = recordedBefore(s, since)
			case have.at.Epoch != s.Epoch(): // begun again
				have = written{}
			}
			complete = w.write(s, &have) || complete
			seen[h.Key] = have
		}
		if complete && w.untilComplete {
			return nil
		}
		if _, err := w.changes.Wait(ctx); err != nil {
			return err
		}
	}
}

// recordedBefore returns what a session had at a time.
func recordedBefore(s *sequent.Session, at time.Time) (have written) {
	for t := range s.All() {
		if t.At.Before(at) {
			have.thoughts++
		}
	}
	for _, n := range s.Notes() {
		if n.At.Before(at) {
			have.notes++
		}
	}
	return have
}

// write writes what a session has beside what was written: thoughts, and what people have said about them. It
// reports whether a thought is final.
func (w *watcher) write(s *sequent.Session, have *written) (final bool) {
	for t := range s.Since(have.thoughts) {
		final = final || t.Final
		if w.json {
			w.emit(watchedThought{jsonThought{s.ID(), t}, s.Owner()})
			continue
		}
		w.line(s.Key(), t.At, func(o draw.Options) draw.Line { return draw.Thought(t, o) })
	}
	notes := s.Notes()
	for _, n := range notes[min(have.notes, len(notes)):] { // a store can go back to an earlier state
		if w.json {
			w.emit(jsonNote{s.ID(), n, s.Owner()})
			continue
		}
		t, _ := s.At(n.Seq)
		w.line(s.Key(), n.At, func(o draw.Options) draw.Line {
			return draw.Line{{Text: printable.Line("note on " + brief.Note(t, n)), Role: draw.Newest}}
		})
	}
	*have = written{s.Position(), s.Len(), len(notes)}
	return final
}

// A watchedThought is a thought that was recorded just now in JSON output.
type watchedThought struct {
	jsonThought
	Owner string `json:"owner,omitempty"` // of the session; empty for the local user
}

// line writes a line with the time, and with the session and its owner unless the reader knows them.
func (w *watcher) line(k sequent.Key, at time.Time, rest func(draw.Options) draw.Line) {
	o := w.drawing()
	if w.width == 0 && !isTerminal(w.out) {
		o.Width = 1 << 30 // do not truncate lines for a program or a file
	}
	line := draw.Line{{Text: at.Local().Format(time.TimeOnly) + " ", Role: draw.Meta}}
	if w.id == "" {
		name := printable.Line(string(k.ID)) + " "
		if w.allOwners && k.Owner != "" {
			name += printable.Line(k.Owner) + " "
		}
		line = append(line, draw.Span{Text: name, Role: draw.Meta})
	}
	w.put(draw.Cut(append(line, rest(o)...), o))
}

package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

// maxWait limits the wait for a notification. It bounds the delay of a change that
// was notified between two waits.
const maxWait = time.Second

func (p *program) watch() *cobra.Command {
	var untilComplete bool
	c := &cobra.Command{
		Use:   "watch [ID]",
		Short: "Follow sessions live",
		Long: `Follow a session while an agent in another process records it. With an ID, follow that session from its
first thought. Without an ID, follow all sessions.

On a terminal the latest session is redrawn with each thought: q quits, the arrow keys scroll, and f
returns to the newest thought. Otherwise each thought is printed on one line as soon as it is recorded.

--json prints one object per thought: {session, seq, number, total, text, branch, from, revises,
revision, more, at}.`,
		Example: "# follow your agent in a second terminal\nsequent watch\n\n" +
			"# until the session is complete\nsequent watch 7k3 --until-complete\n\n" +
			"# only the texts\nsequent watch --json | jq -r .text",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			return p.withStoreOrNew(c.Context(), func(a *app.App) error {
				w := &watcher{engine: a.Engine, untilComplete: untilComplete}
				if len(args) > 0 {
					s, err := find(c.Context(), a.Engine, args[0])
					if err != nil {
						return err
					}
					w.id = s.ID()
				}
				var err error
				switch {
				case isTerminal(p.out) && isTerminal(p.in) && !p.json:
					err = p.watchScreen(c.Context(), w)
				case w.id != "":
					err = p.watchOne(c.Context(), w)
				default:
					err = p.watchAll(c.Context(), w)
				}
				if c.Context().Err() != nil {
					return nil // a signal is the normal end
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&untilComplete, "until-complete", false, "exit when the session is complete")
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	p.addWidthFlag(c)
	return c
}

// withStoreOrNew runs do with the store. It creates a missing default store, because a
// server may start to use it later.
func (p *program) withStoreOrNew(ctx context.Context, do func(a *app.App) error) error {
	if p.store != "" {
		return p.withStore(ctx, do)
	}
	a, err := app.Open(ctx, p.config())
	if err != nil {
		return err
	}
	a.Engine = a.Engine.Owned(p.owner)
	err = do(a)
	if closing := a.Close(); err == nil {
		err = closing
	}
	return err
}

// A watcher waits for changes of sessions.
type watcher struct {
	engine        *sequent.Engine
	id            sequent.ID // empty means all sessions
	untilComplete bool
}

// wait returns after a notification, or after maxWait.
func (w *watcher) wait(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	err := w.engine.Changed(waiting)
	if waiting.Err() != nil {
		return ctx.Err()
	}
	return err
}

// next waits until the session differs from known and returns it. Without an id it
// is the latest session.
func (w *watcher) next(ctx context.Context, known *sequent.Session) (*sequent.Session, error) {
	for {
		var s *sequent.Session
		var err error
		if w.id != "" {
			s, err = w.engine.Session(ctx, w.id)
		} else if s, err = latest(ctx, w.engine); sequent.CodeOf(err) == sequent.CodeSessionNotFound {
			s, err = nil, nil // no session yet
		}
		if err != nil {
			return nil, err
		}
		if s != nil && (known == nil || s.ID() != known.ID() || s.Position() != known.Position()) {
			return s, nil
		}
		if err := w.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// line writes a thought on one line. Named means that the session's id is omitted.
func (p *program) line(s sequent.ID, t sequent.Thought, named bool) error {
	if p.json {
		return writeJSON(p.out, newJSONThought(s, t))
	}
	o := p.drawing()
	if p.width == 0 && !isTerminal(p.out) {
		o.Width = 1 << 30 // do not truncate lines for a program or a file
	}
	line := draw.Line{{Text: t.At.Local().Format(time.TimeOnly) + " ", Role: draw.Meta}}
	if !named {
		line = append(line, draw.Span{Text: draw.One(string(s), o.Charset) + " ", Role: draw.Meta})
	}
	return p.print(draw.Cut(append(line, draw.Thought(t, o)...), o))
}

// watchOne writes the existing and future thoughts of one session.
func (p *program) watchOne(ctx context.Context, w *watcher) error {
	s, err := w.engine.Session(ctx, w.id)
	if err != nil {
		return err
	}
	for t := range s.All() {
		if err := p.line(s.ID(), t, true); err != nil {
			return err
		}
	}
	if w.untilComplete && s.State() != sequent.Active {
		return nil
	}
	for t, err := range w.engine.Follow(ctx, w.id, s.Len()) {
		if err != nil {
			return err
		}
		if err := p.line(s.ID(), t, true); err != nil {
			return err
		}
		if w.untilComplete && !t.More {
			return nil
		}
	}
	return nil
}

// watchAll writes the future thoughts of all sessions.
func (p *program) watchAll(ctx context.Context, w *watcher) error {
	start := w.engine.Now()
	if isTerminal(p.err) {
		fmt.Fprintln(p.err, "Waiting for thoughts. Press Ctrl-C to end.")
	}
	seen := map[sequent.ID]sequent.Position{}
	for {
		complete, err := p.printNew(ctx, w, start, seen)
		if err != nil || complete && w.untilComplete {
			return err
		}
		if err := w.wait(ctx); err != nil {
			return err
		}
	}
}

// printNew writes the thoughts that were recorded since the last call. It reports
// whether a session was completed.
func (p *program) printNew(ctx context.Context, w *watcher, start time.Time, seen map[sequent.ID]sequent.Position) (complete bool, err error) {
	for h, err := range w.engine.AllSessions(ctx, sequent.Query{Since: start}) {
		if err != nil {
			return false, err
		}
		known, ok := seen[h.ID]
		if h.Position() == known {
			continue
		}
		s, err := w.engine.Session(ctx, h.ID)
		if sequent.CodeOf(err) == sequent.CodeSessionNotFound {
			continue // deleted just now
		}
		if err != nil {
			return false, err
		}
		from := known.Len
		if known.Epoch != s.Epoch() {
			from = 0
		}
		for t := range s.Since(from) {
			if !ok && t.At.Before(start) {
				continue
			}
			if err := p.line(s.ID(), t, false); err != nil {
				return false, err
			}
			complete = complete || !t.More
		}
		seen[h.ID] = s.Position()
	}
	return complete, nil
}

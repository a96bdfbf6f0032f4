package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

// lookAgain bounds how long a watcher waits to be told of a change. Between a
// look and the next wait a change goes untold; this is when it is noticed.
const lookAgain = time.Second

func (p *program) watch() *cobra.Command {
	var untilComplete bool
	c := &cobra.Command{
		Use:   "watch [ID]",
		Short: "Follow a session live, from another process",
		Long: `Follow a session while it grows, in whatever process. With an ID it is that session, from its first
thought on; without, it is whichever session changes.

On a terminal the tree is drawn anew with each thought: q ends, arrows scroll, f goes back to the
newest thought. Elsewhere each thought is one line, as soon as it is recorded; with --json one
object: {session, seq, number, total, text, branch, from, revises, revision, more, at}.`,
		Example: "# in a second terminal, beside your editor\nsequent watch\n\n" +
			"# until it is done\nsequent watch 7k3 --until-complete\n\n" +
			"# what is being thought, for another program\nsequent watch --json | jq -r .text",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			return p.watching(c.Context(), func(a *app.App) error {
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
					return nil // told to end, as every watching ends
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&untilComplete, "until-complete", false, "end when the session is complete")
	p.asJSON(c)
	p.hasOwner(c)
	p.hasWidth(c)
	return c
}

// watching runs a command that waits for what comes. Where there is no store yet,
// it makes the one that a server will use.
func (p *program) watching(ctx context.Context, do func(a *app.App) error) error {
	if p.store != "" {
		return p.reading(ctx, do)
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

// A watcher looks at sessions again and again.
type watcher struct {
	engine        *sequent.Engine
	id            sequent.ID // empty means whichever changes
	untilComplete bool
}

// wait returns when something may have changed, or after a while.
func (w *watcher) wait(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, lookAgain)
	defer cancel()
	err := w.engine.Changed(waiting)
	if waiting.Err() != nil {
		return ctx.Err()
	}
	return err
}

// next returns the session as soon as it is not at the position that is known,
// or another.
func (w *watcher) next(ctx context.Context, known *sequent.Session) (*sequent.Session, error) {
	for {
		var s *sequent.Session
		var err error
		if w.id != "" {
			s, err = w.engine.Session(ctx, w.id)
		} else if s, err = latest(ctx, w.engine); sequent.CodeOf(err) == sequent.CodeSessionNotFound {
			s, err = nil, nil // not yet
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

// line writes a thought that is not drawn in a tree.
func (p *program) line(s sequent.ID, t sequent.Thought, named bool) error {
	if p.json {
		return writeJSON(p.out, newJSONThought(s, t))
	}
	o := p.drawing()
	if p.width == 0 && !isTerminal(p.out) {
		o.Width = 1 << 30 // whole: the line goes to a program or a file
	}
	line := draw.Line{{Text: t.At.Local().Format(time.TimeOnly) + " ", Role: draw.Meta}}
	if !named {
		line = append(line, draw.Span{Text: draw.One(string(s), o.Charset) + " ", Role: draw.Meta})
	}
	return p.print(draw.Cut(append(line, draw.Thought(t, o)...), o))
}

// watchOne writes the thoughts of one session, those there are and those to come.
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

// watchAll writes the thoughts of every session from now on.
func (p *program) watchAll(ctx context.Context, w *watcher) error {
	begun := w.engine.Now()
	if isTerminal(p.err) {
		fmt.Fprintln(p.err, "waiting for thoughts; Ctrl-C ends")
	}
	seen := map[sequent.ID]sequent.Position{}
	for {
		complete, err := p.news(ctx, w, begun, seen)
		if err != nil || complete && w.untilComplete {
			return err
		}
		if err := w.wait(ctx); err != nil {
			return err
		}
	}
}

// news writes what has been recorded since the last look, and reports whether a
// session has become complete.
func (p *program) news(ctx context.Context, w *watcher, begun time.Time, seen map[sequent.ID]sequent.Position) (complete bool, err error) {
	q := sequent.Query{Since: begun}
	for {
		page, err := w.engine.Sessions(ctx, q)
		if err != nil {
			return false, err
		}
		for _, h := range page.Headers {
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
				if !ok && t.At.Before(begun) {
					continue
				}
				if err := p.line(s.ID(), t, false); err != nil {
					return false, err
				}
				complete = complete || !t.More
			}
			seen[h.ID] = s.Position()
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return complete, nil
		}
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/draw"
)

// A screen is a terminal on which a session grows.
type screen struct {
	p       *program
	ctx     context.Context
	watcher *watcher
	begun   chan struct{} // closed when the watcher knows its session; nil if it does
	quits   string        // what quitting does; empty means nothing but that

	width, height int
	session       *sequent.Session // nil before there is one
	err           error
	lines         []draw.Line
	newest        int  // row of the newest thought
	top           int  // first row that is shown
	free          bool // the person has scrolled: do not follow
	done          bool
	note          string // what is being done, for the last row
}

// What a screen is told.
type (
	grown  struct{ session *sequent.Session } // the session has changed
	failed struct{ err error }                // watching has come to an end
	finish struct{}                           // there is nothing more to watch
	noted  struct{ note string }              // something is being done
)

// watchScreen follows a session on a terminal.
func (p *program) watchScreen(ctx context.Context, w *watcher) error {
	s, err := p.runScreen(ctx, &screen{p: p, watcher: w}, nil)
	if err != nil {
		return err
	}
	if s.session == nil {
		return nil
	}
	return p.say("sequent show %s draws it again.", draw.One(string(s.session.ID()), p.charset()))
}

// runScreen runs a screen until it is over. If there is something to do beside,
// it is done meanwhile, and the screen is over when that is. It may tell what it is
// doing.
func (p *program) runScreen(ctx context.Context, s *screen, beside func(ctx context.Context, tell func(note string)) error) (*screen, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	prog := tea.NewProgram(s, tea.WithContext(ctx), tea.WithInput(p.in), tea.WithOutput(p.out), tea.WithoutSignalHandler())
	var besideErr error
	done := make(chan struct{})
	if beside == nil {
		close(done)
	} else {
		go func() {
			defer close(done)
			besideErr = beside(ctx, func(note string) { prog.Send(noted{note}) })
			prog.Send(finish{})
		}()
	}
	_, err := prog.Run()
	cancel()
	<-done
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrInterrupted) {
		err = nil // told to end
	}
	return s, errors.Join(err, s.err, besideErr)
}

// Init implements [tea.Model].
func (s *screen) Init() tea.Cmd { return s.next }

// next waits for the session to change.
func (s *screen) next() tea.Msg {
	if s.begun != nil {
		select {
		case <-s.begun:
		case <-s.ctx.Done():
			return nil
		}
	}
	session, err := s.watcher.next(s.ctx, s.session)
	switch {
	case s.ctx.Err() != nil:
		return nil
	case err != nil:
		return failed{err}
	}
	return grown{session}
}

// Update implements [tea.Model].
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		s.draw()
	case tea.KeyPressMsg:
		return s, s.key(msg.String())
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			s.scroll(-3)
		} else {
			s.scroll(3)
		}
	case grown:
		if s.session == nil || s.session.ID() != msg.session.ID() {
			s.free = false
		}
		s.session = msg.session
		s.draw()
		if s.watcher.untilComplete && s.session.State() != sequent.Active {
			s.done = true
			return s, tea.Quit
		}
		return s, s.next
	case failed:
		s.err, s.done = msg.err, true
		return s, tea.Quit
	case noted:
		s.note = msg.note
	case finish:
		s.done = true
		return s, tea.Quit
	}
	return s, nil
}

func (s *screen) key(key string) tea.Cmd {
	switch key {
	case "q", "esc", "ctrl+c":
		s.done = true
		return tea.Quit
	case "up", "k":
		s.scroll(-1)
	case "down", "j":
		s.scroll(1)
	case "pgup", "b":
		s.scroll(2 - s.room())
	case "pgdown", "space":
		s.scroll(s.room() - 2)
	case "home", "g":
		s.scroll(-len(s.lines))
	case "end", "G":
		s.scroll(len(s.lines))
	case "f":
		s.free = false
		s.follow()
	}
	return nil
}

// room is how many rows of the drawing fit, with one for the status.
func (s *screen) room() int { return max(s.height-2, 1) }

func (s *screen) scroll(rows int) {
	s.free = true
	s.top = max(0, min(s.top+rows, len(s.lines)-s.room()))
}

// follow puts the newest thought in view, and as much before it as there is
// room for.
func (s *screen) follow() {
	bottom := s.newest + 1
	for bottom < len(s.lines) && bottom < s.newest+s.room()/2 {
		bottom++
	}
	s.top = max(0, min(bottom, len(s.lines))-s.room())
}

func (s *screen) draw() {
	if s.session == nil || s.width == 0 {
		return
	}
	o := s.p.drawing()
	o.Width, o.Newest, o.Now = min(s.width, widest), s.session.Len(), time.Time{}
	if s.p.width > 0 {
		o.Width = min(s.p.width, s.width)
	}
	d := draw.Session(s.session, o)
	s.lines, s.newest = d.Lines, d.Rows[o.Newest]
	if s.free {
		s.scroll(0)
	} else {
		s.follow()
	}
}

// View implements [tea.Model].
func (s *screen) View() tea.View {
	var v tea.View
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "sequent"
	switch {
	case s.done || s.width == 0:
		return v
	case s.session == nil:
		v.SetContent(s.p.render([]draw.Line{
			{{Text: "No sessions yet: waiting for the first thought."}},
			{{Text: "sequent demo, in another terminal, makes some.  q quits", Role: draw.Meta}},
		}))
		return v
	}
	rows := s.lines[s.top:min(s.top+s.room(), len(s.lines))]
	var b strings.Builder
	b.WriteString(s.p.render(rows))
	b.WriteString(strings.Repeat("\n", max(s.room()-len(rows), 0)))
	b.WriteString(strings.TrimSuffix(s.p.render([]draw.Line{nil, s.status()}), "\n"))
	v.SetContent(b.String())
	return v
}

// status is the last row.
func (s *screen) status() draw.Line {
	what := "q " + cmp.Or(s.quits, "quits") + ", arrows scroll"
	if s.free {
		what += ", f follows"
	}
	if s.note != "" {
		o := draw.Options{Width: s.width, Charset: s.p.charset()}
		return draw.Cut(draw.Line{{Text: what + "  ", Role: draw.Meta}, {Text: draw.One(s.note, o.Charset)}}, o)
	}
	if hidden := len(s.lines) - s.room(); hidden > 0 {
		what += fmt.Sprintf("  %d%%", (s.top*100+hidden/2)/hidden)
	}
	if t, ok := s.session.Last(); ok {
		what += "  last thought " + t.At.Local().Format(time.TimeOnly)
	}
	o := draw.Options{Width: s.width, Charset: s.p.charset()}
	return draw.Cut(draw.Line{{Text: what, Role: draw.Meta}}, o)
}

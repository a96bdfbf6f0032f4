package command

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

// A screen draws a growing session on a terminal.
type screen struct {
	p         *program
	ctx       context.Context
	watcher   *watcher
	started   chan struct{} // closed when the watcher has its session; nil if it has
	quitLabel string        // effect of the key q; empty means "quits"

	width, height int
	session       *sequent.Session // nil if there is none yet
	err           error
	lines         []draw.Line
	newest        int  // row of the newest thought
	top           int  // first visible row
	scrolled      bool // the user scrolled: do not follow the newest thought
	done          bool
	activity
}

// The messages of a screen.
type (
	sessionMsg  struct{ session *sequent.Session } // the session changed
	errorMsg    struct{ err error }                // watching failed
	finishedMsg struct{}                           // the background work ended
	noteMsg     struct{ activity }                 // the activity changed
)

// An activity is what background work is doing.
type activity struct {
	note   string  // for the last row
	drafts []draft // thoughts that a model is writing
}

// watchScreen follows a session on a terminal.
func (p *program) watchScreen(ctx context.Context, w *watcher) error {
	s, err := p.runScreen(ctx, &screen{p: p, watcher: w}, nil)
	if err != nil {
		return err
	}
	if s.session == nil {
		return nil
	}
	return p.printf("Run sequent show %s to draw the session again.", draw.One(string(s.session.ID()), p.charset()))
}

// runScreen runs a screen until the user quits. If work is not nil, it runs in the
// background and its end also ends the screen; show shows its current activity.
func (p *program) runScreen(ctx context.Context, s *screen, work func(ctx context.Context, show func(activity)) error) (*screen, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	if s.watcher.changes == nil {
		changes, err := s.watcher.engine.Watch(ctx)
		if err != nil {
			return s, err
		}
		defer changes.Close()
		changes.Add(sequent.Key{})
		s.watcher.changes = changes
	}
	prog := tea.NewProgram(s, tea.WithContext(ctx), tea.WithInput(p.in), tea.WithOutput(p.out), tea.WithoutSignalHandler())
	var workErr error
	done := make(chan struct{})
	if work == nil {
		close(done)
	} else {
		go func() {
			defer close(done)
			workErr = work(ctx, func(a activity) { prog.Send(noteMsg{a}) })
			prog.Send(finishedMsg{})
		}()
	}
	_, err := prog.Run()
	cancel()
	<-done
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrInterrupted) {
		err = nil // canceled by the user
	}
	return s, errors.Join(err, s.err, workErr)
}

// Init implements [tea.Model].
func (s *screen) Init() tea.Cmd { return s.next }

// next waits for the session to change.
func (s *screen) next() tea.Msg {
	if s.started != nil {
		select {
		case <-s.started:
		case <-s.ctx.Done():
			return nil
		}
	}
	session, err := s.watcher.next(s.ctx, s.session)
	switch {
	case s.ctx.Err() != nil:
		return nil
	case err != nil:
		return errorMsg{err}
	}
	return sessionMsg{session}
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
	case sessionMsg:
		if s.session == nil || s.session.ID() != msg.session.ID() {
			s.scrolled = false
		}
		s.session = msg.session
		s.draw()
		if s.watcher.untilComplete && s.session.State() != sequent.Active {
			s.done = true
			return s, tea.Quit
		}
		return s, s.next
	case errorMsg:
		s.err, s.done = msg.err, true
		return s, tea.Quit
	case noteMsg:
		rows := s.draftRows()
		s.activity = msg.activity
		if s.draftRows() != rows {
			s.draw()
		}
	case finishedMsg:
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
		s.scrolled = false
		s.follow()
	}
	return nil
}

// room returns the number of rows for the drawing, without the drafts and the status.
func (s *screen) room() int { return max(s.height-2-s.draftRows(), 1) }

func (s *screen) scroll(rows int) {
	s.scrolled = true
	s.top = max(0, min(s.top+rows, len(s.lines)-s.room()))
}

// follow scrolls to the newest thought.
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
	o := s.p.drawingOf(s.session)
	o.Width, o.Newest, o.Now = min(s.width, maxProseWidth), s.session.Len(), time.Time{}
	if s.p.width > 0 {
		o.Width = min(s.p.width, s.width)
	}
	d := draw.Session(s.session, o)
	s.lines, s.newest = d.Lines, d.Rows[o.Newest]
	if s.scrolled {
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
			{{Text: "No sessions yet. Waiting for the first thought."}},
			{{Text: "Run sequent demo in another terminal to record some.  q quits", Role: draw.Meta}},
		}))
		return v
	}
	rows := s.lines[s.top:min(s.top+s.room(), len(s.lines))]
	var b strings.Builder
	b.WriteString(s.p.render(rows))
	b.WriteString(strings.Repeat("\n", max(s.room()-len(rows), 0)))
	b.WriteString(s.p.render(s.draftLines()))
	b.WriteString(strings.TrimSuffix(s.p.render([]draw.Line{nil, s.status()}), "\n"))
	v.SetContent(b.String())
	return v
}

// status returns the last row.
func (s *screen) status() draw.Line {
	text := "q " + cmp.Or(s.quitLabel, "quits") + ", arrows scroll"
	if s.scrolled {
		text += ", f follows"
	}
	if s.note != "" {
		o := draw.Options{Width: s.width, Charset: s.p.charset()}
		return draw.Cut(draw.Line{{Text: text + "  ", Role: draw.Meta}, {Text: draw.One(s.note, o.Charset)}}, o)
	}
	if hidden := len(s.lines) - s.room(); hidden > 0 {
		text += fmt.Sprintf("  %d%%", (s.top*100+hidden/2)/hidden)
	}
	if t, ok := s.session.Last(); ok {
		text += "  last thought " + t.At.Local().Format(time.TimeOnly)
	}
	o := draw.Options{Width: s.width, Charset: s.p.charset()}
	return draw.Cut(draw.Line{{Text: text, Role: draw.Meta}}, o)
}

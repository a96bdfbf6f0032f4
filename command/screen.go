package command

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A screen draws a growing session on a terminal.
type screen struct {
	*watcher
	ctx       context.Context
	quitLabel string // effect of the key q; empty means "quits"

	columns, rows int              // of the terminal
	session       *sequent.Session // nil if there is none yet
	failed        error            // of watching
	lines         []draw.Line
	newest        int    // row of the newest thought
	top           int    // first visible row
	scrolled      bool   // the user scrolled: do not follow the newest thought
	note          string // what background work is doing, for the last row
	done          bool
}

// The messages of a screen.
type (
	sessionMsg  struct{ session *sequent.Session } // the session changed
	errorMsg    struct{ err error }                // watching failed
	noteMsg     string                             // what background work is doing
	finishedMsg struct{}                           // the background work ended
)

// run shows the screen until the user quits. If work is not nil, it runs in the
// background and its end also ends the screen; note shows what it is doing.
func (s *screen) run(ctx context.Context, work func(ctx context.Context, note func(string)) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	prog := tea.NewProgram(s, tea.WithContext(ctx), tea.WithInput(s.in), tea.WithOutput(s.out), tea.WithoutSignalHandler())
	ended := make(chan error, 1)
	go func() {
		if work == nil {
			ended <- nil
			return
		}
		ended <- work(ctx, func(note string) { prog.Send(noteMsg(note)) })
		prog.Send(finishedMsg{})
	}()
	_, err := prog.Run()
	cancel()
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrInterrupted) {
		err = nil // canceled by the user
	}
	return errors.Join(err, s.failed, <-ended)
}

// Init implements [tea.Model].
func (s *screen) Init() tea.Cmd { return s.wait }

// wait waits for the session to change.
func (s *screen) wait() tea.Msg {
	session, err := s.next(s.ctx, s.session)
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
		s.columns, s.rows = msg.Width, msg.Height
		s.draw()
	case tea.KeyPressMsg:
		return s, s.key(msg.String())
	case sessionMsg:
		if s.session == nil || s.session.ID() != msg.session.ID() {
			s.scrolled = false
		}
		s.session = msg.session
		s.draw()
		if s.untilComplete && s.session.State() != sequent.Active {
			return s, s.quit()
		}
		return s, s.wait
	case errorMsg:
		s.failed = msg.err
		return s, s.quit()
	case noteMsg:
		s.note = string(msg)
	case finishedMsg:
		return s, s.quit()
	}
	return s, nil
}

func (s *screen) quit() tea.Cmd {
	s.done = true
	return tea.Quit
}

func (s *screen) key(key string) tea.Cmd {
	switch key {
	case "q", "esc", "ctrl+c":
		return s.quit()
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

// room returns the number of rows for the drawing, without the status.
func (s *screen) room() int { return max(s.rows-2, 1) }

func (s *screen) scroll(rows int) {
	s.scrolled = true
	s.top = max(0, min(s.top+rows, len(s.lines)-s.room()))
}

// follow scrolls to the newest thought.
func (s *screen) follow() {
	bottom := min(s.newest+max(s.room()/2, 1), len(s.lines))
	s.top = max(0, bottom-s.room())
}

func (s *screen) draw() {
	if s.session == nil || s.columns == 0 {
		return
	}
	o := s.drawingOf(s.session)
	o.Width, o.Newest, o.Now = min(s.columns, cmp.Or(s.width, maxProseColumns)), s.session.Len(), time.Time{}
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
	v.WindowTitle = "sequent"
	switch {
	case s.done || s.columns == 0:
		return v
	case s.session == nil:
		v.SetContent(s.render([]draw.Line{
			{{Text: "No sessions yet. Waiting for the first thought."}},
			{{Text: runnable("Run sequent demo in another terminal to record some.  q quits"), Role: draw.Meta}},
		}))
		return v
	}
	rows := s.lines[s.top:min(s.top+s.room(), len(s.lines))]
	blank := strings.Repeat("\n", max(s.room()-len(rows), 0)+1)
	v.SetContent(s.render(rows) + blank + strings.TrimSuffix(s.render([]draw.Line{s.status()}), "\n"))
	return v
}

// status returns the last row.
func (s *screen) status() draw.Line {
	o := draw.Options{Width: s.columns}
	text := "q " + cmp.Or(s.quitLabel, "quits") + ", arrows scroll"
	if s.scrolled {
		text += ", f follows"
	}
	if s.note != "" {
		return draw.Cut(draw.Line{{Text: text + "  ", Role: draw.Meta}, {Text: printable.Line(s.note)}}, o)
	}
	if t, ok := s.session.Last(); ok {
		text += "  last thought " + t.At.Local().Format(time.TimeOnly)
	}
	return draw.Cut(draw.Line{{Text: text, Role: draw.Meta}}, o)
}

package command

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sequent-dev/sequent"
	loop "github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/llm"
)

// The last row of the screen shows the model's output as plain text, and its current
// activity.
func TestScreenNotes(t *testing.T) {
	engine := sequent.New(sequent.Config{})
	session, err := engine.Begin(t.Context(), "s", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Total: 2, Text: "Which orders?"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{options: options{color: "never"}, getenv: func(string) string { return "" }, now: time.Now}
	s := &screen{watcher: &watcher{program: p, engine: engine, id: "s"}, ctx: t.Context(), quitLabel: "stops"}
	s.Update(tea.WindowSizeMsg{Width: 70, Height: 10})
	s.Update(sessionMsg{session})
	reporter := &screenReporter{work: &work{program: p, table: plan.Planning()}, note: func(note string) { s.Update(noteMsg(note)) }}
	lastRow := func() string {
		lines := strings.Split(s.View().Content, "\n")
		return lines[len(lines)-1]
	}
	for _, step := range []struct {
		event loop.Event
		want  string
	}{
		{loop.Event{Step: 2, Event: llm.Event{Reasoning: "Hm,\x1b[31m red\nand more"}}, "research 2/15: Hm,"},
		{loop.Event{Step: 2, Event: llm.Event{Call: &llm.CallPiece{Name: "sequentialthinking", Args: `{"thou`}}}, "research 2/15: writes a call of "},
		{loop.Event{Step: 2, Calling: &llm.Call{Name: "read_file"}}, "research 2/15: calls read_file"},
		{loop.Event{Step: 3, Event: llm.Event{Retry: &llm.Retry{Err: &llm.Error{Msg: "connection closed"}}}}, "research 3/15: retrying: connection closed"},
		{loop.Event{Step: 3, Called: &loop.Called{}}, "research 3/15"},
	} {
		reporter.shown = time.Time{}
		if err := reporter.event(t.Context(), plan.Event{Event: step.event, State: "research"}); err != nil {
			t.Fatal(err)
		}
		row := lastRow()
		if !strings.HasPrefix(row, "q stops, arrows scroll  "+step.want) || strings.ContainsAny(row, "\x1b\n") || len([]rune(row)) > 70 {
			t.Errorf("got last row %q, want %q in it", row, step.want)
		}
	}
	if !strings.Contains(s.View().Content, "Which orders?") {
		t.Errorf("got screen\n%s", s.View().Content)
	}
}

package command

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/sequent-dev/sequent"
	loop "github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/llm"
)

// The last row of the screen shows the model's output as plain text, and its current
// activity.
func TestScreenNotes(t *testing.T) {
	engine := sequent.New(sequent.Config{})
	session, err := engine.Begin(t.Context(), "s", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Total: 2, Text: "Which orders?", More: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{color: "never", getenv: func(string) string { return "" }, now: time.Now}
	s := &screen{p: p, watcher: &watcher{engine: engine, id: "s"}, ctx: context.Background(), quitLabel: "stops"}
	s.Update(tea.WindowSizeMsg{Width: 70, Height: 10})
	s.Update(sessionMsg{session})
	reporter := &screenReporter{table: plan.Planning(), show: func(a activity) { s.Update(noteMsg{a}) }}
	lastRow := func() string {
		lines := strings.Split(s.View().Content, "\n")
		return lines[len(lines)-1]
	}
	for _, step := range []struct {
		event loop.Event
		want  string
	}{
		{loop.Event{Step: 2, Reasoning: "Hm,\x1b[31m red\nand more"}, "research 2/15: Hm,"},
		{loop.Event{Step: 2, Calling: &loop.Calling{Call: llm.Call{Name: "read_file"}}}, "research 2/15: calls read_file"},
		{loop.Event{Step: 3, Retry: &llm.Retry{Err: &llm.Error{Msg: "connection closed"}}}, "research 3/15: retrying: connection closed"},
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

// A thought is shown while the model writes it as an argument of a call.
func TestScreenDrafts(t *testing.T) {
	engine := sequent.New(sequent.Config{})
	session, err := engine.Begin(t.Context(), "s", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Total: 3, Text: "Which orders?", More: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{color: "never", getenv: func(string) string { return "" }, now: time.Now}
	s := &screen{p: p, watcher: &watcher{engine: engine, id: "s"}, ctx: context.Background(), quitLabel: "stops"}
	s.Update(tea.WindowSizeMsg{Width: 40, Height: 10})
	s.Update(sessionMsg{session})
	reporter := &screenReporter{table: plan.Thinking(5), show: func(a activity) { s.Update(noteMsg{a}) }}
	piece := func(index int, tool, args string) loop.Event {
		return loop.Event{Step: 2, Writing: &llm.CallPiece{Index: index, Name: tool, Args: args}}
	}
	const think = "sequentialthinking"
	for _, step := range []struct {
		event plan.Event
		want  []string // the rows above the status
	}{
		{plan.Event{Event: piece(0, think, `{"thoughtNumber":2,"thou`)}, []string{"2"}},
		{plan.Event{Event: piece(0, think, `ght":"Those\nat \u001b[31mno`)}, []string{"2 Those at ^[[31mno"}},
		{plan.Event{Event: piece(1, "read_file", `{"thought":"elsewhere"}`)}, []string{"2 Those at ^[[31mno"}},
		{plan.Event{Event: piece(2, think, `{"thought":"And`)}, []string{"2 Those at ^[[31mno", "3 And"}},
		{plan.Event{Event: piece(0, think, `on, while reports run\u002c 日本語日本`)}, []string{"2 ~1mnoon, while reports run, 日本語日本", "3 And"}},
		{plan.Event{Event: loop.Event{Step: 2, Retry: &llm.Retry{Err: &llm.Error{Msg: "connection closed"}}}},
			[]string{"2 broken off, not recorded: ~日本語日本", "3 broken off, not recorded: And"}},
		{plan.Event{Event: piece(0, think, `{"thought":"Those that`)}, []string{"2 Those that"}},
		{plan.Event{Event: loop.Event{Step: 2, Answer: &llm.Response{}}}, nil},
		{plan.Event{Event: piece(0, think, `{"thought":"Then`)}, []string{"2 Then"}},
		{plan.Event{Moved: &plan.Transition{From: "think", On: plan.Fail, To: plan.Failed}}, []string{"2 Then"}},
	} {
		step.event.State = "think"
		if err := reporter.event(t.Context(), step.event); err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(s.View().Content, "\n")
		if len(rows) != 10 || rows[8] != "" || !strings.Contains(s.View().Content, "Which orders?") {
			t.Errorf("got %d rows\n%s", len(rows), s.View().Content)
			continue
		}
		n := len(step.want)
		for i, want := range append([]string{""}, step.want...) {
			if got := strings.TrimRight(rows[7-n+i], " "); got != want || draw.Width(got) > 40 {
				t.Errorf("got row %q, want %q, in\n%s", got, want, s.View().Content)
			}
		}
	}

	// A low terminal keeps a row for the drawing.
	s.Update(tea.WindowSizeMsg{Width: 9, Height: 3})
	s.Update(noteMsg{activity{drafts: []draft{{text: "Then"}}}})
	if rows := strings.Split(s.View().Content, "\n"); len(rows) != 3 {
		t.Errorf("got %q", rows)
	}
}

// A long draft costs no more memory than a short one.
func TestDraftIsBounded(t *testing.T) {
	reporter := &screenReporter{show: func(activity) {}}
	reporter.piece(llm.CallPiece{Name: "sequentialthinking", Args: `{"thought":"`})
	for range 1000 {
		reporter.piece(llm.CallPiece{Name: "sequentialthinking", Args: "日本語日本語日本語 "})
	}
	if text := reporter.drafts[0].text; len(text) > maxDraft || len(text) < maxDraft-4 || !utf8.ValidString(text) || !strings.HasSuffix(text, "日本語 ") {
		t.Errorf("kept %d bytes: %.40q", len(text), text)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

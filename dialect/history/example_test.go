package history_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/history"
)

// A model stands for whatever an agent asks for its next tool call: it gets the
// last answer and returns the arguments of the next call, or none when it is
// done. This one has its thoughts ready.
type model struct {
	thoughts []string
	session  sequent.ID
}

func (m *model) next(answer json.RawMessage, number int) json.RawMessage {
	var last history.Output
	if answer != nil {
		if err := json.Unmarshal(answer, &last); err != nil {
			return nil
		}
		m.session = last.SessionID
	}
	if number > len(m.thoughts) {
		return nil
	}
	args, err := json.Marshal(history.Input{
		Thought: m.thoughts[number-1], ThoughtNumber: number, TotalThoughts: len(m.thoughts),
		NextThoughtNeeded: number < len(m.thoughts), SessionID: m.session,
	})
	if err != nil {
		return nil
	}
	return args
}

// An agent loop: the model is offered the tool by its name, description and
// schema, calls it, and gets the answer, until it calls no more.
func ExampleTool_CallJSON() {
	ctx := context.Background()
	thinking := history.NewTool(history.ToolConfig{})
	m := &model{thoughts: []string{"Which endpoints?", "Users and roles.", "Six of them."}}

	const maxSteps = 20
	var answer json.RawMessage
	for step := 1; step <= maxSteps; step++ {
		call := m.next(answer, step)
		if call == nil {
			break
		}
		var err error
		if answer, err = thinking.CallJSON(ctx, call); err != nil {
			fmt.Println(err)
			return
		}
	}
	var last history.Output
	if err := json.Unmarshal(answer, &last); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(last.Summary)
	for _, e := range last.ThoughtHistory {
		fmt.Println(e.ThoughtNumber, e.Thought)
	}
	// Output:
	// Thinking complete: 3 thoughts, 0 branches.
	// 1 Which endpoints?
	// 2 Users and roles.
	// 3 Six of them.
}

// Typed calls: the id of the first answer goes into the calls that follow.
func ExampleTool_Think() {
	ctx := context.Background()
	thinking := history.NewTool(history.ToolConfig{})

	first, err := thinking.Think(ctx, history.Input{
		Thought: "The index is too large.", ThoughtNumber: 1, TotalThoughts: 2, NextThoughtNeeded: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := thinking.Think(ctx, history.Input{
		Thought: "No: it is never used.", ThoughtNumber: 2, TotalThoughts: 2,
		IsRevision: new(true), RevisesThought: 1, SessionID: first.SessionID,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range second.ThoughtHistory {
		fmt.Println(e.ThoughtNumber, e.IsRevision != nil, e.Thought)
	}
	// Output:
	// 1 false The index is too large.
	// 2 true No: it is never used.
}

// A state machine owns the session: it chooses the id, keeps it with its state,
// and hands every phase a tool that is pinned to it. After a crash it makes the
// tool again from the id that it has kept.
func ExampleNewTool_stateMachine() {
	ctx := context.Background()
	engine := sequent.New(sequent.Config{})

	machine := struct {
		phase   string
		session sequent.ID
	}{"analyze_code", "plan-2026-11-20"}
	after := map[string]string{"analyze_code": "research", "research": "design", "design": "plan_complete"}

	for number := 1; machine.phase != "plan_complete"; number++ {
		thinking := history.NewTool(history.ToolConfig{Engine: engine, SessionID: machine.session})
		next := after[machine.phase]
		out, err := thinking.Think(ctx, history.Input{
			Thought: machine.phase + " is done.", ThoughtNumber: number, TotalThoughts: 3,
			NextThoughtNeeded: next != "plan_complete",
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(out.SessionID, machine.phase, out.ThoughtHistoryLength)
		machine.phase = next
	}
	// Output:
	// plan-2026-11-20 analyze_code 1
	// plan-2026-11-20 research 2
	// plan-2026-11-20 design 3
}

package wiki

import (
	"context"
	_ "embed" // of the contract
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

var (
	//go:embed workflow.json
	workflowSpec []byte
	//go:embed workflow.md
	workflowText []byte
)

// Workflows lead through named steps.
type Workflows interface {
	// Start begins a workflow.
	Start(ctx context.Context, p Plan) (Run, error)

	// Change answers the step at hand, or closes the workflow, or both.
	Change(ctx context.Context, id string, c Change) (Run, error)

	// View returns a workflow as it is.
	View(ctx context.Context, id string) (Run, error)

	// Definitions returns the workflows that can be started, and what is wrong
	// with the files of those that cannot.
	Definitions(ctx context.Context) (list []Definition, mistakes []string, err error)
}

// Parents are what a session can be part of: workflows.
type Parents interface {
	// Open reports whether a parent can be added to. If there is none, the error
	// matches ErrNotFound.
	Open(ctx context.Context, id string) (bool, error)

	// Join lists a session among those of a parent.
	Join(ctx context.Context, id string, session sequent.ID) error
}

// A Plan says what a workflow consists of: definitions, or steps of its own.
type Plan struct {
	Definitions string // an id, or a JSON array of ids
	Steps       []string
	Title       string // of steps of its own
}

// A Change is what a call does to a workflow.
type Change struct {
	Response   string // the answer to the step at hand; empty for none
	Thoughts   string // remarks beside it
	At         int    // which step is meant, from 1; 0 for the one at hand
	Status     string // completed or cancelled; empty if it goes on
	Conclusion string
}

// A Run is a workflow on its way.
type Run struct {
	ID       string
	URI      string // of its note
	Title    string
	Status   string // active, completed, cancelled or abandoned
	Answered int    // steps that have been answered
	Steps    int    // how many there are
	Next     *Task  // the step at hand; nil if there is none
	Sessions []string
	Note     string // what was answered, for people
}

// A Task is a step of a workflow.
type Task struct {
	Name        string
	Description string
	Enhanced    bool // it asks for a session of thinking
	// Metadata is an object that the definition has for whoever does the step;
	// nil for none.
	Metadata json.RawMessage
}

// A Definition is a workflow that can be started.
type Definition struct {
	ID          string
	Name        string
	Description string
	Steps       int
}

// workflowArgs are the arguments of workflow.
type workflowArgs struct {
	Workflow   string   `json:"workflowId,omitzero" alias:"workflow_id"`
	Steps      []string `json:"steps"`
	Title      string   `json:"title,omitzero"`
	Session    string   `json:"sessionId,omitzero" alias:"session_id"`
	Response   string   `json:"response,omitzero"`
	Thoughts   string   `json:"thoughts,omitzero"`
	Step       int      `json:"step,omitzero"`
	Status     string   `json:"status,omitzero"`
	Conclusion string   `json:"conclusion,omitzero"`
	View       bool     `json:"view,omitzero"`
}

// workflow answers workflow.
func (d *server) workflow(ctx context.Context, c tool.Call, in workflowArgs) (tool.Reply, error) {
	if err := in.check(); err != nil {
		return refuse(err)
	}
	v, err := d.open(ctx, c.Caller.Owner)
	if err != nil {
		return refuse(err)
	}
	starts := in.Workflow != "" || len(in.Steps) > 0
	var r Run
	switch {
	case starts:
		r, err = v.Workflows.Start(ctx, Plan{Definitions: in.Workflow, Steps: in.Steps, Title: in.Title})
	case in.Session == "":
		return definitions(ctx, v, c.Unknown)
	case in.Response != "" || in.Status != "":
		r, err = v.Workflows.Change(ctx, in.Session, Change{
			Response: in.Response, Thoughts: in.Thoughts, At: in.Step, Status: in.Status, Conclusion: in.Conclusion,
		})
	default:
		in.View = true
		r, err = v.Workflows.View(ctx, in.Session)
	}
	if err != nil {
		return refuse(err)
	}
	return r.reply(in, starts, c.Unknown), nil
}

// check refuses arguments that do not go together.
func (in workflowArgs) check() error {
	starts := in.Workflow != "" || len(in.Steps) > 0
	answers := in.Response != "" || in.Status != ""
	for _, wrong := range []struct {
		is       bool
		what, do string
	}{
		{starts && in.Session != "", "sessionId goes on with a workflow, and workflowId and steps start one", "leave one of them out"},
		{starts && answers, "response and status belong to a workflow that has been started", "start it first, and answer with the sessionId of the reply"},
		{!starts && in.Session == "" && answers, "nothing says which workflow is meant", "pass the sessionId of the reply that started it"},
		{in.Thoughts != "" && in.Response == "", "thoughts stand beside a response", "add the response, or leave thoughts out"},
		{in.Conclusion != "" && in.Status == "", "a conclusion closes the workflow", "add status completed, or leave conclusion out"},
	} {
		if wrong.is {
			return &refusal{codeInvalidArgument, wrong.what + "; " + wrong.do}
		}
	}
	return nil
}

// A runReply is a workflow for a program.
type runReply struct {
	Session  string   `json:"sessionId"`
	Status   string   `json:"status"`
	Title    string   `json:"title"`
	Answered int      `json:"stepsAnswered"`
	Steps    int      `json:"totalSteps"`
	Next     *taskOut `json:"nextStep,omitempty"`
	Sessions []string `json:"thinkingSessions"`
	URI      string   `json:"uri"`
}

type taskOut struct {
	Number      int    `json:"number"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Enhanced    bool   `json:"requiresEnhancedThinking"`

	Metadata json.RawMessage `json:"metadata,omitempty"`
}

func (r Run) reply(in workflowArgs, started bool, unknown []string) tool.Reply {
	out := runReply{
		Session: r.ID, Status: r.Status, Title: r.Title, Answered: r.Answered, Steps: r.Steps,
		Sessions: append([]string{}, r.Sessions...), URI: r.URI,
	}
	if r.Next != nil {
		out.Next = &taskOut{r.Answered + 1, r.Next.Name, r.Next.Description, r.Next.Enhanced, r.Next.Metadata}
	}
	reply := tool.JSONReply(out)
	var b strings.Builder
	switch {
	case started:
		fmt.Fprintf(&b, "Created session: %s\n\n", r.ID)
	case in.View:
		fmt.Fprintf(&b, "Workflow %s: %s, %d of %d steps answered\n\n%s\n\n", r.ID, r.Status, r.Answered, r.Steps, r.Note)
	case in.Response != "":
		fmt.Fprintf(&b, "Added step %d to session: %s\n\n", r.Answered, r.ID)
	default:
		fmt.Fprintf(&b, "Closed session: %s\n\n", r.ID)
	}
	switch {
	case r.Status == completed:
		b.WriteString("✅ Workflow complete\n💡 Its note is " + r.URI)
	case r.Status == cancelled:
		b.WriteString("❌ Workflow cancelled")
	case r.Next == nil && r.Status == "active":
		b.WriteString("💭 Every step is answered: close the workflow with status completed and a conclusion")
	case r.Next == nil:
		fmt.Fprintf(&b, "The workflow is %s", r.Status)
	default:
		fmt.Fprintf(&b, "💭 Step %d/%d: %s", r.Answered+1, r.Steps, r.Next.Name)
		if r.Next.Description != "" {
			b.WriteString("\n" + r.Next.Description)
		}
		if r.Next.Enhanced {
			fmt.Fprintf(&b, "\n💡 Think this step through with sequential_thinking and parentWorkflowId %s, then answer it here", r.ID)
		}
	}
	ignored(&b, unknown)
	reply.Text = b.String()
	return reply
}

// definitions tells what can be started.
func definitions(ctx context.Context, v *Vault, unknown []string) (tool.Reply, error) {
	list, mistakes, err := v.Workflows.Definitions(ctx)
	if err != nil {
		return refuse(err)
	}
	type definition struct {
		ID          string `json:"workflowId"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Steps       int    `json:"totalSteps"`
	}
	out := struct {
		Definitions []definition `json:"definitions"`
		Mistakes    []string     `json:"mistakes,omitempty"`
	}{Definitions: []definition{}, Mistakes: mistakes}
	var b strings.Builder
	b.WriteString("Workflows that can be started with workflowId:\n")
	for _, d := range list {
		out.Definitions = append(out.Definitions, definition(d))
		fmt.Fprintf(&b, "\n- %s: %s, %d steps", d.ID, d.Name, d.Steps)
		if d.Description != "" {
			b.WriteString(". " + oneLine(d.Description))
		}
	}
	for _, m := range mistakes {
		b.WriteString("\n⚠️ " + oneLine(m))
	}
	ignored(&b, unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}

// ignored names arguments that a contract does not have.
func ignored(b *strings.Builder, unknown []string) {
	if len(unknown) > 0 {
		b.WriteString("\n⚠️ unknown fields ignored: " + strings.Join(unknown, ", "))
	}
}

package wiki

import (
	"context"
	_ "embed" // of the contract
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/workflow"
)

var (
	//go:embed workflow.json
	workflowSpec []byte
	//go:embed workflow.md
	workflowText []byte
)

// workflowArgs are the arguments of workflow.
type workflowArgs struct {
	learnArgs
	Workflow   string   `json:"workflowId,omitzero" alias:"workflow_id"`
	Steps      []string `json:"steps"`
	Title      string   `json:"title,omitzero"`
	Session    string   `json:"sessionId,omitzero" alias:"session_id"`
	Response   string   `json:"response,omitzero"`
	Thoughts   string   `json:"thoughts,omitzero"`
	Step       int      `json:"step,omitzero"`
	Status     string   `json:"status,omitzero"`
	Conclusion string   `json:"conclusion,omitzero"`
	Append     string   `json:"append,omitzero"`
	Link       string   `json:"link,omitzero"`
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
	var r workflow.Run
	switch {
	case in.starts():
		plan := workflow.Plan{Steps: in.Steps, Title: in.Title}
		if in.Workflow != "" {
			plan.Queue, err = workflow.ParseQueue(in.Workflow)
		}
		if err == nil {
			r, err = v.Workflows.Start(ctx, plan)
		}
	case in.Session == "" && in.Workflow != "":
		return preview(ctx, v, in.Workflow, c.Unknown)
	case in.Session == "":
		return definitions(ctx, v, c.Unknown)
	case in.Link != "":
		r, err = d.link(ctx, c.Caller, v, in.Session, sequent.ID(in.Link))
	case in.Append != "":
		var ids []string
		if ids, err = workflow.ParseQueue(in.Append); err == nil {
			r, err = v.Workflows.Append(ctx, in.Session, ids)
		}
	case in.Status != "":
		end := workflow.Closing{Status: workflow.Status(in.Status), Conclusion: in.Conclusion}
		if in.Response != "" {
			end.Answer = new(in.answer(d.author(ctx)))
		}
		r, err = v.Workflows.Close(ctx, in.Session, end)
	case in.Response != "":
		r, err = v.Workflows.Advance(ctx, in.Session, in.answer(d.author(ctx)))
	default:
		in.View = true
		r, err = v.Workflows.View(ctx, in.Session)
	}
	if err != nil {
		return refuse(err)
	}
	return in.reply(r, c.Unknown), nil
}

func (in workflowArgs) starts() bool {
	return in.Workflow != "" && !(in.View && in.Session == "" && len(in.Steps) == 0) || len(in.Steps) > 0
}

func (in workflowArgs) answer(agent string) workflow.Answer {
	return workflow.Answer{Response: in.Response, Thoughts: in.Thoughts, At: in.Step, Agent: agent}
}

// check refuses combinations of arguments without a meaning.
func (in workflowArgs) check() error {
	starts := in.starts()
	answers := in.Response != "" || in.Status != ""
	for _, wrong := range []struct {
		is       bool
		what, do string
	}{
		{starts && in.Session != "", "sessionId continues a workflow, workflowId and steps start one", "leave one of them out"},
		{starts && answers, "response and status belong to a started workflow", "start it first, and answer with the sessionId of the reply"},
		{!starts && in.Session == "" && answers, "sessionId is missing", "pass the one of the reply that started the workflow"},
		{in.Session == "" && (in.Append != "" || in.Link != ""), "append and link change a started workflow", "pass its sessionId"},
		{(in.Append != "" || in.Link != "") && (answers || in.Append != "" && in.Link != ""), "append, link and an answer are calls of their own", "make one of them at a time"},
		{in.Thoughts != "" && in.Response == "", "thoughts belong to a response", "add the response, or leave thoughts out"},
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
	Session  string          `json:"sessionId"`
	Status   workflow.Status `json:"status"`
	Title    string          `json:"title"`
	Answered int             `json:"stepsAnswered"`
	Steps    int             `json:"totalSteps"`
	Next     *nextStep       `json:"nextStep,omitempty"`
	Sessions []string        `json:"thinkingSessions"`
	URI      string          `json:"uri"`
}

type nextStep struct {
	Number      int             `json:"number"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Enhanced    bool            `json:"requiresEnhancedThinking"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
}

func (in workflowArgs) reply(r workflow.Run, unknown []string) tool.Reply {
	out := runReply{
		Session: r.ID, Status: r.Status, Title: r.Title, Answered: r.Answered, Steps: r.Steps(),
		Sessions: append([]string{}, r.Sessions...), URI: string(r.URI),
	}
	next, open := r.Next()
	if open {
		out.Next = &nextStep{r.Answered + 1, next.Name, next.Description, next.Enhanced, next.Metadata}
	}
	reply := tool.JSONReply(out)
	var b strings.Builder
	switch {
	case in.starts():
		fmt.Fprintf(&b, "Created session: %s\n\n", r.ID)
	case in.View:
		fmt.Fprintf(&b, "Workflow %s: %s, %d of %d steps answered\n\n%s\n\n", r.ID, r.Status, r.Answered, r.Steps(), r.Note)
	case in.Append != "":
		fmt.Fprintf(&b, "Appended to session: %s, which has %d steps now\n\n", r.ID, r.Steps())
	case in.Link != "":
		fmt.Fprintf(&b, "Linked %s to session: %s\n\n", in.Link, r.ID)
	case in.Response != "":
		fmt.Fprintf(&b, "Added step %d to session: %s\n\n", r.Answered, r.ID)
	default:
		fmt.Fprintf(&b, "Closed session: %s\n\n", r.ID)
	}
	switch {
	case r.Status == workflow.Completed:
		fmt.Fprintf(&b, "✅ Workflow complete\n💡 Its note is %s", r.URI)
	case r.Status == workflow.Cancelled:
		b.WriteString("❌ Workflow cancelled")
	case !open && r.Status == workflow.Active:
		b.WriteString("💭 Every step is answered: close the workflow with status completed and a conclusion")
	case !open:
		fmt.Fprintf(&b, "The workflow is %s", r.Status)
	default:
		fmt.Fprintf(&b, "💭 Step %d/%d: %s", r.Answered+1, r.Steps(), next.Name)
		if next.Description != "" {
			b.WriteString("\n" + next.Description)
		}
		if next.Enhanced {
			fmt.Fprintf(&b, "\n💡 Think this step through with sequential_thinking and parentWorkflowId %s, then answer it here", r.ID)
		}
	}
	ignored(&b, unknown)
	reply.Text = b.String()
	return reply
}

// link makes a session of sequential_thinking a part of a workflow that is not closed.
func (d *server) link(ctx context.Context, caller tool.Caller, v *Vault, run string, id sequent.ID) (workflow.Run, error) {
	if !thinking.ValidID(id) {
		return workflow.Run{}, &refusal{codeInvalidID, "link must be the id of a session, session-{unix milliseconds} with or without a suffix; pass the sessionId of a reply of sequential_thinking"}
	}
	before, err := v.Workflows.View(ctx, run)
	if err != nil {
		return before, err
	}
	if before.Status.Closed() {
		return before, errParentClosed(run)
	}
	engine := d.engine.Owned(caller.Owner)
	change := func(c *sequent.Change) error {
		if other := c.Session().Label(thinking.LabelParent); other != "" && other != run {
			return &refusal{codeInvalidParent, fmt.Sprintf("the session is a part of the workflow %s; a session belongs to one workflow", other)}
		}
		c.SetLabel(thinking.LabelParent, run)
		return nil
	}
	s, err := engine.Update(ctx, id, change)
	if errors.Is(err, sequent.ErrNotFound) {
		var h sequent.Header
		var log []sequent.Thought
		if h, log, err = v.Sessions.Session(ctx, id); err == nil {
			if _, err = engine.Restore(ctx, h, log); err == nil || errors.Is(err, sequent.ErrExists) {
				s, err = engine.Update(ctx, id, change)
			}
		}
	}
	if err != nil {
		return before, err
	}
	ctx = context.WithoutCancel(ctx) // the session is linked
	if err := v.Sessions.Write(ctx, s); err != nil {
		return before, err
	}
	if err := v.Workflows.Link(ctx, run, string(id)); err != nil {
		return before, err
	}
	return v.Workflows.View(ctx, run)
}

// preview shows the steps of definitions without starting them.
func preview(ctx context.Context, v *Vault, queue string, unknown []string) (tool.Reply, error) {
	ids, err := workflow.ParseQueue(queue)
	if err != nil {
		return refuse(err)
	}
	list, err := v.Workflows.Find(ctx, ids)
	if err != nil {
		return refuse(err)
	}
	out := struct {
		Definitions []workflow.Definition `json:"definitions"`
	}{list}
	var b strings.Builder
	for i, def := range list {
		if i > 0 {
			b.WriteString("\n\nThen ")
		}
		fmt.Fprintf(&b, "%s: %s, %s", def.ID, oneLine(def.Name), wording.Count(len(def.Steps), "step", "steps"))
		if def.Description != "" {
			b.WriteString(". " + oneLine(def.Description))
		}
		b.WriteString("\n")
		for n, s := range def.Steps {
			fmt.Fprintf(&b, "\n%d. %s", n+1, oneLine(s.Name))
			if s.Description != "" {
				b.WriteString(": " + oneLine(s.Description))
			}
			if s.Enhanced {
				b.WriteString(" (with sequential_thinking)")
			}
		}
	}
	b.WriteString("\n\n💡 Nothing is started: call it with workflowId and without view to begin")
	ignored(&b, unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}

// definitions lists the workflows that can be started.
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
	}{Definitions: []definition{}}
	var b strings.Builder
	b.WriteString("Workflows that can be started with workflowId:\n")
	for _, d := range list {
		out.Definitions = append(out.Definitions, definition{d.ID, d.Name, d.Description, len(d.Steps)})
		fmt.Fprintf(&b, "\n- %s: %s, %d steps", d.ID, d.Name, len(d.Steps))
		if d.Description != "" {
			b.WriteString(". " + oneLine(d.Description))
		}
	}
	for _, err := range mistakes {
		out.Mistakes = append(out.Mistakes, err.Error())
		b.WriteString("\n⚠️ " + oneLine(err.Error()))
	}
	ignored(&b, unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}

// ignored adds a warning about arguments that the contract does not have.
func ignored(b *strings.Builder, unknown []string) {
	if len(unknown) > 0 {
		b.WriteString("\n⚠️ unknown fields ignored: " + strings.Join(unknown, ", "))
	}
}

package wiki

import (
	"context"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault/workflow"
)

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
	Append     string   `json:"append,omitzero"`
	View       bool     `json:"view,omitzero"`
}

// runWorkflow answers workflow.
func runWorkflow(ctx context.Context, t *turn, in workflowArgs) error {
	if err := in.check(); err != nil {
		return err
	}
	flows := t.vault.Workflows
	var r workflow.Run
	var queue []string
	var err error
	if given := in.Workflow + in.Append; given != "" {
		queue, err = workflow.ParseQueue(given)
	}
	did := ""
	switch {
	case err != nil:
	case in.starts():
		r, err = flows.Start(ctx, workflow.Plan{Queue: queue, Steps: in.Steps, Title: in.Title})
		did = fmt.Sprintf("Created session: %s", r.ID)
	case in.Session == "":
		return t.definitions(ctx)
	case in.Append != "":
		r, err = flows.Append(ctx, in.Session, queue)
		did = fmt.Sprintf("Appended to session: %s, which has %d steps now", r.ID, r.Steps)
	case in.Status+in.Response != "":
		r, err = flows.Advance(ctx, in.Session, workflow.Answer{
			Response: in.Response, Thoughts: in.Thoughts, At: in.Step, Agent: t.agent(),
			Status: sequent.State(in.Status), Conclusion: in.Conclusion,
		})
		if did = "Closed session: " + r.ID; in.Response != "" {
			did = fmt.Sprintf("Added step %d to session: %s", r.Answered, r.ID)
		}
	default:
		r, err = flows.View(ctx, in.Session)
		did = fmt.Sprintf("Workflow %s: %s, %d of %d steps answered\n\n%s", r.ID, r.Status, r.Answered, r.Steps, r.Note)
	}
	if err != nil {
		return err
	}
	t.printf("%s\n\n", did)
	t.run(r)
	return nil
}

func (in workflowArgs) starts() bool { return in.Workflow != "" || len(in.Steps) > 0 }

// check refuses combinations of arguments without a meaning.
func (in workflowArgs) check() error {
	starts := in.starts()
	answers := in.Response != "" || in.Status != ""
	for _, wrong := range []struct {
		is       bool
		what, do string
	}{
		{in.Workflow != "" && len(in.Steps) > 0, "workflowId and steps are both given", "leave one of them out"},
		{starts && in.Session != "", "sessionId continues a workflow, workflowId and steps start one", "leave one of them out"},
		{starts && answers, "response and status belong to a started workflow", "start it first, and answer with the sessionId of the reply"},
		{!starts && in.Session == "" && answers, "sessionId is missing", "pass the one of the reply that started the workflow"},
		{in.Session == "" && in.Append != "", "append changes a started workflow", "pass its sessionId"},
		{in.Append != "" && answers, "append and an answer are calls of their own", "make one of them at a time"},
		{in.Thoughts != "" && in.Response == "", "thoughts belong to a response", "add the response, or leave thoughts out"},
		{in.Conclusion != "" && in.Status == "", "a conclusion closes the workflow", "add status completed, or leave conclusion out"},
	} {
		if wrong.is {
			return &refusal{codeInvalidArgument, wrong.what + "; " + wrong.do}
		}
	}
	return nil
}

// run says where a workflow is.
func (t *turn) run(r workflow.Run) {
	t.out = r
	switch {
	case r.Next != nil:
		t.printf("💭 Step %d/%d: %s", r.Answered+1, r.Steps, r.Next.Name)
		if r.Next.Description != "" {
			t.linef("%s", r.Next.Description)
		}
		if r.Next.Enhanced {
			t.linef("💡 Think this step through with sequential_thinking and parentWorkflowId %s, then answer it here", r.ID)
		}
	case r.Status == sequent.Completed:
		t.printf("✅ Workflow complete\n💡 Its note is %s", r.URI)
	case r.Status == sequent.Cancelled:
		t.printf("❌ Workflow cancelled")
	case r.Status == sequent.Active:
		t.printf("💭 Every step is answered: close the workflow with status completed and a conclusion")
	default:
		t.printf("The workflow is %s", r.Status)
	}
}

// definitions lists the workflows that can be started.
func (t *turn) definitions(ctx context.Context) error {
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
	found, mistakes := t.vault.Workflows.Definitions(ctx)
	t.printf("Workflows that can be started with workflowId:\n")
	for _, d := range found {
		out.Definitions = append(out.Definitions, definition{d.ID, d.Name, d.Description, len(d.Steps)})
		t.linef("- %s: %s, %d steps", d.ID, d.Name, len(d.Steps))
		if d.Description != "" {
			t.printf(". %s", oneLine(d.Description))
		}
	}
	for _, err := range mistakes {
		out.Mistakes = append(out.Mistakes, err.Error())
		t.linef("⚠️ %s", oneLine(err.Error()))
	}
	t.out = out
	return nil
}

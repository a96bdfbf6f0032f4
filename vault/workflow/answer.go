package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/internal/block"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// An Answer is the answer to a step.
type Answer struct {
	Response string // required, with a WikiLink
	Thoughts string // remarks; with a WikiLink if given
	// At, if greater than 0, is the number of the step, counted from 1 over the whole
	// queue. If another answer to that step was recorded first, this one is refused
	// with CodeStepPassed instead of being recorded for the next step.
	At int
	// Agent is the author; empty means that of the Config.
	Agent string
}

func (a Answer) check() error {
	for _, part := range [][2]string{{"response", a.Response}, {"thoughts", a.Thoughts}} {
		if part[1] == "" && part[0] == "thoughts" {
			continue
		}
		if !wikilink.HasConcept([]byte(part[1])) {
			return &sequent.Error{
				Code: CodeLinkRequired, Field: part[0],
				Msg: part[0] + " has no [[WikiLink]]",
				Fix: "put its concepts in double brackets, such as [[error handling]]",
			}
		}
	}
	return nil
}

// Advance records the answer to the next step. After the last step, the run stays open
// until Close.
func (w *Workflows) Advance(ctx context.Context, id string, a Answer) (Run, error) {
	if err := a.check(); err != nil {
		return Run{}, err
	}
	return w.change(ctx, id, func(r *Run, n *vault.Note) error { return w.advance(r, n, a) })
}

func (w *Workflows) advance(r *Run, n *vault.Note, a Answer) error {
	step, ok := r.Next()
	d := r.Plan()
	switch {
	case len(d.Steps) == 0:
		return &sequent.Error{
			Code: CodeUnknownDefinition, Field: "sessionId",
			Msg: fmt.Sprintf("the definition %q of this run was deleted", printable.Short(r.Queue[r.Workflow], maxQuoted)),
			Fix: "restore its file in " + Folder + ", or close the run",
		}
	case !ok:
		return &sequent.Error{
			Code: CodeAnswered, Field: "response",
			Msg: "every step is answered",
			Fix: "close the run with status completed and a conclusion",
		}
	case a.At > 0 && a.At != r.Answered+1:
		return &sequent.Error{
			Code: CodeStepPassed, Field: "step",
			Msg: fmt.Sprintf("step %d is not the next one: the next one is step %d", a.At, r.Answered+1),
			Fix: "view the run, and answer its next step",
		}
	}
	agent := cmp.Or(author(a.Agent), w.agent)
	heading := fmt.Sprintf("Step %d/%d: %s [%s]", r.Step+1, len(d.Steps), oneLine(step.Name), agent)
	if len(r.Queue) > 1 {
		heading = fmt.Sprintf("%s, step %d/%d: %s [%s]", oneLine(d.Name), r.Step+1, len(d.Steps), oneLine(step.Name), agent)
	}
	text := block.Text(strings.TrimSpace(a.Response))
	if a.Thoughts != "" {
		text += "\n\n" + block.Remarks(strings.TrimSpace(a.Thoughts))
	}
	w.write(n, heading, text)
	r.Step++
	r.Answered++
	if r.Step >= len(d.Steps) && r.Workflow+1 < len(r.Plans) {
		r.Workflow, r.Step = r.Workflow+1, 0
	}
	f := &n.Front
	return errors.Join(f.SetInt("currentWorkflow", r.Workflow), f.SetInt("currentStep", r.Step), f.SetInt("stepCount", r.Answered))
}

// A Closing ends a run.
type Closing struct {
	Status     Status  // Completed or Cancelled
	Conclusion string  // with a WikiLink; required for Completed
	Answer     *Answer // to the next step; optional
}

func (c Closing) check() error {
	switch {
	case c.Status != Completed && c.Status != Cancelled:
		return invalid("status", "use completed or cancelled", "a workflow cannot be closed with the status %q", printable.Short(string(c.Status), maxQuoted))
	case c.Status == Completed && strings.TrimSpace(c.Conclusion) == "":
		return &sequent.Error{
			Code: CodeConclusionRequired, Field: "conclusion",
			Msg: "completing a workflow needs a conclusion",
			Fix: "write its result, with [[WikiLinks]]",
		}
	case c.Status == Completed && !wikilink.HasConcept([]byte(c.Conclusion)):
		return &sequent.Error{
			Code: CodeConclusionLink, Field: "conclusion",
			Msg: "the conclusion has no [[WikiLink]]",
			Fix: "put its concepts in double brackets, such as [[error handling]]",
		}
	case c.Answer != nil && c.Status == Completed:
		return c.Answer.check()
	}
	return nil
}

// Close ends a run, even if steps are not answered.
func (w *Workflows) Close(ctx context.Context, id string, c Closing) (Run, error) {
	if err := c.check(); err != nil {
		return Run{}, err
	}
	return w.change(ctx, id, func(r *Run, n *vault.Note) error {
		if c.Answer != nil {
			if err := w.advance(r, n, *c.Answer); err != nil {
				return err
			}
		}
		heading := "Conclusion"
		if c.Status == Cancelled {
			heading = "Cancelled"
		}
		if c.Conclusion != "" {
			w.write(n, heading, block.Text(strings.TrimSpace(c.Conclusion)))
		}
		r.Status = c.Status
		return errors.Join(n.Front.Set("status", string(c.Status)), n.Front.SetTime(string(c.Status), w.now()))
	})
}

package workflow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// The codes of this package's errors, which are [*sequent.Error]s. Errors of package
// vault keep their codes.
const (
	CodeInvalid            sequent.Code = "workflow_invalid"             // an argument is invalid
	CodeUnknownDefinition  sequent.Code = "workflow_unknown_definition"  // no definition has that id
	CodeBadDefinition      sequent.Code = "workflow_bad_definition"      // the file of a definition has a mistake
	CodeNotFound           sequent.Code = "workflow_not_found"           // no run has that id
	CodeClosed             sequent.Code = "workflow_closed"              // the run is completed or cancelled
	CodeStepPassed         sequent.Code = "workflow_step_passed"         // the step is not the next one
	CodeAnswered           sequent.Code = "workflow_all_answered"        // all steps are answered; the run can only be closed
	CodeLinkRequired       sequent.Code = "workflow_link_required"       // a response has no WikiLink
	CodeConclusionRequired sequent.Code = "workflow_conclusion_required" // completing a run needs a conclusion
	CodeConclusionLink     sequent.Code = "workflow_conclusion_link"     // the conclusion has no WikiLink
	CodeDamaged            sequent.Code = "workflow_damaged"             // the front matter of the note is invalid
)

// Workflows holds the definitions and runs of a vault. It is safe for concurrent use,
// also by several processes.
type Workflows struct {
	vault *vault.Vault
	now   func() time.Time
}

// New returns the workflows of a vault.
func New(v *vault.Vault, now func() time.Time) *Workflows { return &Workflows{v, now} }

// oneLine returns a text as one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// A Plan is what to start: definitions one after the other, or a list of steps.
type Plan struct {
	Queue []string // ids of definitions
	Steps []string // one text each
	Title string   // for Steps; optional
}

// Start begins a run.
func (w *Workflows) Start(ctx context.Context, p Plan) (Run, error) {
	plans := []Definition{ownSteps(p.Title, p.Steps)}
	var own any
	if len(p.Queue) == 0 {
		own = p.Steps
	} else if found, err := w.find(ctx, p.Queue); err != nil {
		return Run{}, err
	} else {
		plans = found
	}
	if count(plans) == 0 {
		return Run{}, sequent.Errorf(CodeInvalid, "steps", "name a definition, or list steps", "the workflow has no steps")
	}
	var titles []string
	for _, d := range plans {
		titles = append(titles, oneLine(d.Name))
	}
	title := printable.Short(strings.Join(titles, ", then "), maxQuoted)
	now := w.now()
	n, err := w.vault.CreateTimed(ctx, runFolder, "workflow", now, func(n *vault.Note, id string) error {
		n.Body = outline("# ", plans)
		return n.Front.SetAll("title", title, "permalink", id, "type", "workflow", "status", sequent.Active, "created", now,
			"modified", now, "queue", p.Queue, "currentWorkflow", 0, "currentStep", 0, "stepCount", 0, "steps", own)
	})
	if err != nil {
		return Run{}, err
	}
	return w.read(ctx, n.URI.Name(), n)
}

// outline returns the list of steps for the note, under headings: the first with the given
// mark.
func outline(mark string, plans []Definition) string {
	var parts []string
	for _, d := range plans {
		parts = append(parts, mark+strings.TrimSpace(d.Emoji+" "+d.Name))
		mark = afterwards
		if d.Description != "" {
			parts = append(parts, oneLine(d.Description))
		}
		steps := make([]string, len(d.Steps))
		for n, s := range d.Steps {
			steps[n] = fmt.Sprintf("%d. %s", n+1, oneLine(s.Name))
		}
		parts = append(parts, strings.Join(steps, "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

const afterwards = "## Then "

// Append adds definitions to the end of an open run. Where every step is answered, the
// first of them becomes the next.
func (w *Workflows) Append(ctx context.Context, id string, queue []string) (Run, error) {
	more, err := w.find(ctx, queue)
	if err != nil {
		return Run{}, err
	}
	return w.change(ctx, id, func(r *Run, n *vault.Note) error {
		if len(r.Queue) == 0 {
			return sequent.Errorf(CodeInvalid, "append", "start another workflow with these definitions",
				"the workflow has steps of its own, and no definitions follow them")
		}
		n.AddSection(outline(afterwards, more))
		r.Queue, r.Plans = append(r.Queue, queue...), append(r.Plans, more...)
		return n.Front.Set("queue", r.Queue)
	})
}

// An Answer is the answer to the next step, the end of the run, or both.
type Answer struct {
	Response string // with a WikiLink; required unless Status is set
	Thoughts string // remarks; with a WikiLink if given
	// At, if greater than 0, is the number of the step, counted from 1 over the whole
	// queue. If another answer to that step was recorded first, this one is refused
	// with CodeStepPassed instead of being recorded for the next step.
	At    int
	Agent string // the author

	Status     sequent.State // Completed or Cancelled to close the run, also if steps are not answered
	Conclusion string        // with a WikiLink; required for Completed
}

func (a Answer) check() error {
	if a.Status == sequent.Cancelled {
		return nil
	}
	if a.Status != "" && strings.TrimSpace(a.Conclusion) == "" {
		return sequent.Errorf(CodeConclusionRequired, "conclusion", "write its result, with [[WikiLinks]]",
			"completing a workflow needs a conclusion")
	}
	for _, text := range []struct {
		field, text string
		required    bool
		code        sequent.Code
	}{
		{"conclusion", a.Conclusion, a.Status != "", CodeConclusionLink},
		{"response", a.Response, a.Status == "", CodeLinkRequired},
		{"thoughts", a.Thoughts, false, CodeLinkRequired},
	} {
		if (text.required || text.text != "") && !wikilink.HasConcept([]byte(text.text)) {
			return sequent.Errorf(text.code, text.field, "put its concepts in double brackets, such as [[error handling]]",
				"%s has no [[WikiLink]]", text.field)
		}
	}
	return nil
}

// Advance records an answer. After the last step, the run stays open until it is closed.
func (w *Workflows) Advance(ctx context.Context, id string, a Answer) (Run, error) {
	if err := a.check(); err != nil {
		return Run{}, err
	}
	return w.change(ctx, id, func(r *Run, n *vault.Note) error {
		if a.Response != "" {
			if err := w.answer(r, n, a); err != nil {
				return err
			}
		}
		if a.Status == "" {
			return nil
		}
		if text := strings.TrimSpace(a.Conclusion); text != "" {
			heading := map[sequent.State]string{sequent.Completed: "Conclusion", sequent.Cancelled: "Cancelled"}[a.Status]
			w.write(n, heading, vault.Block(text))
		}
		r.Status = a.Status
		return n.Front.SetAll("status", a.Status, a.Status, w.now())
	})
}

// answer records the answer to the next step.
func (w *Workflows) answer(r *Run, n *vault.Note, a Answer) error {
	plan, at := r.at()
	d := r.Plans[plan]
	switch {
	case len(d.Steps) == 0:
		return sequent.Errorf(CodeUnknownDefinition, "sessionId", "restore its file in "+Folder+", or close the run",
			"the definition %q of this run was deleted", printable.Short(d.ID, maxQuoted))
	case r.Next == nil:
		return sequent.Errorf(CodeAnswered, "response", "close the run with status completed and a conclusion", "every step is answered")
	case a.At > 0 && a.At != r.Answered+1:
		return sequent.Errorf(CodeStepPassed, "step", "view the run, and answer its next step",
			"step %d is not the next one: the next one is step %d", a.At, r.Answered+1)
	}
	heading := fmt.Sprintf("Step %d/%d: %s [%s]", at+1, len(d.Steps), oneLine(r.Next.Name), strings.Trim(oneLine(a.Agent), "[]"))
	if len(r.Queue) > 1 {
		heading = oneLine(d.Name) + ", " + strings.ToLower(heading[:1]) + heading[1:]
	}
	text := vault.Block(strings.TrimSpace(a.Response))
	if a.Thoughts != "" {
		text += "\n\n" + vault.Remarks(strings.TrimSpace(a.Thoughts))
	}
	w.write(n, heading, text)
	r.Answered++
	plan, at = r.at()
	return n.Front.SetAll("currentWorkflow", plan, "currentStep", at, "stepCount", r.Answered)
}

// write adds a section to the end of a note.
func (w *Workflows) write(n *vault.Note, heading, text string) {
	n.AddSection(fmt.Sprintf("## %s\n\n%s\n\n*%s UTC*\n", heading, text, w.now().UTC().Format(time.DateTime)))
}

// View returns the current state of a run.
func (w *Workflows) View(ctx context.Context, id string) (Run, error) {
	n, err := w.note(ctx, id)
	if err != nil {
		return Run{}, err
	}
	return w.read(ctx, id, n)
}

// note returns the note of a run.
func (w *Workflows) note(ctx context.Context, id string) (*vault.Note, error) {
	uri, err := w.findRun(ctx, id)
	if err != nil {
		return nil, err
	}
	return w.vault.Read(ctx, uri)
}

// Status returns the status of a run, or of a session that is another session's parent. For
// an id that has no note it returns an error with CodeNotFound.
func (w *Workflows) Status(ctx context.Context, id string) (sequent.State, error) {
	n, err := w.note(ctx, id)
	if err != nil {
		return "", err
	}
	return statusOf(n), nil
}

// Link adds a session to the note of its parent, whether that is open or closed. It is
// idempotent.
func (w *Workflows) Link(ctx context.Context, id, session string) error {
	uri, err := w.findRun(ctx, id)
	if err != nil {
		return err
	}
	link := "[[sequential/" + session + "]]"
	_, err = w.vault.Update(ctx, uri, func(n *vault.Note) error {
		related := n.Front.List("related")
		if slices.Contains(related, link) {
			return nil
		}
		return n.Front.SetAll("related", append(related, link), "modified", w.now())
	})
	return err
}

// change changes the note of an open run.
func (w *Workflows) change(ctx context.Context, id string, do func(*Run, *vault.Note) error) (Run, error) {
	uri, err := w.findRun(ctx, id)
	if err != nil {
		return Run{}, err
	}
	var r Run
	n, err := w.vault.Update(ctx, uri, func(n *vault.Note) (err error) {
		if r, err = w.read(ctx, id, n); err != nil {
			return err
		}
		if Closed(r.Status) {
			return sequent.Errorf(CodeClosed, "sessionId", "start another one", "the workflow %s is %s", id, r.Status)
		}
		if err := do(&r, n); err != nil {
			return err
		}
		return n.Front.Set("modified", w.now())
	})
	if err != nil {
		return Run{}, err
	}
	r.Note = strings.TrimSpace(n.Body)
	r.settle()
	return r, nil
}

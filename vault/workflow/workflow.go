package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A Config configures [Workflows].
type Config struct {
	Vault *vault.Vault     // required
	Agent string           // the author of answers, for headings; empty means "agent"
	Now   func() time.Time // nil means time.Now
}

// Workflows holds the definitions and runs of a vault. It is safe for concurrent use,
// also by several processes.
type Workflows struct {
	vault *vault.Vault
	agent string
	now   func() time.Time
}

// New returns the workflows of a vault.
func New(c Config) *Workflows {
	w := &Workflows{vault: c.Vault, agent: cmp.Or(author(c.Agent), "agent"), now: c.Now}
	if w.now == nil {
		w.now = time.Now
	}
	return w
}

// author returns the name of an agent as it can be in a heading.
func author(name string) string { return strings.Trim(oneLine(name), "[]") }

// oneLine returns a text as one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// A Plan is what to start: definitions one after the other, or a list of steps.
type Plan struct {
	Queue []string // ids of definitions
	Steps []string // one text each
	Title string   // for Steps; optional
}

// maxQueue limits the definitions of one run.
const maxQueue = 20

// Start begins a run.
func (w *Workflows) Start(ctx context.Context, p Plan) (Run, error) {
	plans, err := w.definitions(ctx, p)
	if err != nil {
		return Run{}, err
	}
	// Runs that start in the same millisecond get different ids.
	for ms := w.now().UnixMilli(); ; ms++ {
		id := fmt.Sprintf("workflow-%d", ms)
		n := &vault.Note{URI: places(id)[0], Body: outline(plans, p.Queue)}
		now := w.now()
		err := n.Front.SetAll("title", titleOf(plans), "permalink", id, "type", "workflow", "status", Active,
			"created", now, "modified", now, "queue", p.Queue, "currentWorkflow", 0, "currentStep", 0, "stepCount", 0)
		if err == nil && len(p.Queue) == 0 {
			steps := make([]string, len(p.Steps))
			for i, s := range p.Steps {
				steps[i] = strings.TrimSpace(s)
			}
			err = n.Front.Set("steps", steps)
		}
		if err == nil {
			err = w.vault.Create(ctx, n)
		}
		if errors.Is(err, vault.ErrExists) {
			continue
		}
		if err != nil {
			return Run{}, err
		}
		return w.read(ctx, id, n)
	}
}

// definitions returns the definitions of a plan.
func (w *Workflows) definitions(ctx context.Context, p Plan) ([]Definition, error) {
	switch {
	case len(p.Queue) > 0 && len(p.Steps) > 0:
		return nil, invalid("steps", "leave one of them out", "both definitions and steps are given")
	case len(p.Queue) == 0 && len(p.Steps) == 0:
		return nil, invalid("workflowId", "name a definition, or list steps", "neither a definition nor steps are given")
	case len(p.Queue) > maxQueue:
		return nil, invalid("workflowId", "start with fewer", "there are %d definitions, the limit is %d", len(p.Queue), maxQueue)
	case len(p.Queue) > 0:
		return w.Find(ctx, p.Queue)
	}
	d, err := adHoc(p.Title, p.Steps)
	return []Definition{d}, err
}

// titleOf returns a run's title: the names of its definitions.
func titleOf(plans []Definition) string {
	var names []string
	for _, d := range plans {
		names = append(names, oneLine(d.Name))
	}
	return printable.Short(strings.Join(names, ", then "), maxQuoted)
}

// outline returns the list of steps for the note.
func outline(plans []Definition, queue []string) string {
	var b strings.Builder
	for i, d := range plans {
		name := strings.TrimSpace(d.Emoji + " " + d.Name)
		if i == 0 {
			fmt.Fprintf(&b, "# %s\n", name)
		} else {
			fmt.Fprintf(&b, "\nThen %s:\n", name)
		}
		if i < len(queue) && d.Description != "" {
			fmt.Fprintf(&b, "\n%s\n", oneLine(d.Description))
		}
		b.WriteByte('\n')
		for n, s := range d.Steps {
			fmt.Fprintf(&b, "%d. %s\n", n+1, oneLine(s.Name))
		}
	}
	return b.String()
}

// Append adds definitions to the end of an open run. Where every step is answered, the
// first of them becomes the next.
func (w *Workflows) Append(ctx context.Context, id string, queue []string) (Run, error) {
	more, err := w.Find(ctx, queue)
	if err != nil {
		return Run{}, err
	}
	return w.change(ctx, id, func(r *Run, n *vault.Note) error {
		switch {
		case len(r.Queue) == 0:
			return invalid("append", "start another workflow with these definitions", "the workflow has steps of its own, and no definitions follow them")
		case len(r.Queue)+len(queue) > maxQueue:
			return invalid("append", "append fewer", "the workflow would have %d definitions, the limit is %d", len(r.Queue)+len(queue), maxQueue)
		}
		for _, d := range more {
			n.AddSection("## Then " + outline([]Definition{d}, []string{d.ID})[len("# "):])
		}
		r.Queue, r.Plans = append(r.Queue, queue...), append(r.Plans, more...)
		r.next()
		return n.Front.SetAll("queue", r.Queue, "currentWorkflow", r.Workflow, "currentStep", r.Step)
	})
}

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
		if (part[1] != "" || part[0] == "response") && !wikilink.HasConcept([]byte(part[1])) {
			return &sequent.Error{Code: CodeLinkRequired, Field: part[0], Msg: part[0] + " has no [[WikiLink]]", Fix: addLinks}
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
		return sequent.Errorf(CodeUnknownDefinition, "sessionId", "restore its file in "+Folder+", or close the run",
			"the definition %q of this run was deleted", printable.Short(r.Queue[r.Workflow], maxQuoted))
	case !ok:
		return sequent.Errorf(CodeAnswered, "response", "close the run with status completed and a conclusion",
			"every step is answered")
	case a.At > 0 && a.At != r.Answered+1:
		return sequent.Errorf(CodeStepPassed, "step", "view the run, and answer its next step",
			"step %d is not the next one: the next one is step %d", a.At, r.Answered+1)
	}
	heading := fmt.Sprintf("step %d/%d: %s [%s]", r.Step+1, len(d.Steps), oneLine(step.Name), cmp.Or(author(a.Agent), w.agent))
	if len(r.Queue) > 1 {
		heading = oneLine(d.Name) + ", " + heading
	} else {
		heading = "S" + heading[1:]
	}
	text := vault.Block(strings.TrimSpace(a.Response))
	if a.Thoughts != "" {
		text += "\n\n" + vault.Remarks(strings.TrimSpace(a.Thoughts))
	}
	w.write(n, heading, text)
	r.Step++
	r.Answered++
	r.next()
	return n.Front.SetAll("currentWorkflow", r.Workflow, "currentStep", r.Step, "stepCount", r.Answered)
}

// A Closing ends a run.
type Closing struct {
	Status     Status  // Completed or Cancelled
	Conclusion string  // with a WikiLink; required for Completed
	Answer     *Answer // to the next step; optional
}

func (c Closing) check() error {
	switch {
	case c.Status == Cancelled:
		return nil
	case c.Status != Completed:
		return invalid("status", "use completed or cancelled", "a workflow cannot be closed with the status %q", printable.Short(string(c.Status), maxQuoted))
	case strings.TrimSpace(c.Conclusion) == "":
		return sequent.Errorf(CodeConclusionRequired, "conclusion", "write its result, with [[WikiLinks]]",
			"completing a workflow needs a conclusion")
	case !wikilink.HasConcept([]byte(c.Conclusion)):
		return &sequent.Error{Code: CodeConclusionLink, Field: "conclusion", Msg: "the conclusion has no [[WikiLink]]", Fix: addLinks}
	case c.Answer != nil:
		return c.Answer.check()
	}
	return nil
}

const addLinks = "put its concepts in double brackets, such as [[error handling]]"

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
			w.write(n, heading, vault.Block(strings.TrimSpace(c.Conclusion)))
		}
		r.Status = c.Status
		return n.Front.SetAll("status", c.Status, c.Status, w.now())
	})
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

// Status returns the status of a run, or of a session that is another session's parent.
// For a missing note and for an invalid id it returns Absent and no error.
func (w *Workflows) Status(ctx context.Context, id string) (Status, error) {
	n, err := w.note(ctx, id)
	if sequent.CodeOf(err) == CodeNotFound {
		return Absent, nil
	}
	if err != nil {
		return Absent, err
	}
	return statusOf(n), nil
}

// Link adds a session to the note of its parent, whether that is open or closed. It is
// idempotent.
func (w *Workflows) Link(ctx context.Context, id, session string) error {
	n, err := w.note(ctx, id)
	if err != nil {
		return err
	}
	link := "[[sequential/" + session + "]]"
	_, err = w.vault.Update(ctx, n.URI, func(n *vault.Note) error {
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
	n, err := w.note(ctx, id)
	if err != nil {
		return Run{}, err
	}
	var r Run
	n, err = w.vault.Update(ctx, n.URI, func(n *vault.Note) (err error) {
		if r, err = w.read(ctx, id, n); err != nil {
			return err
		}
		if r.Status.Closed() {
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
	return r, nil
}

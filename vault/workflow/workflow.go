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
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/internal/block"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A Config configures [Workflows].
type Config struct {
	Vault *vault.Vault     // required
	Agent string           // who answers, for headings; empty means agent
	Now   func() time.Time // nil means time.Now
}

// Workflows are the definitions and runs of a vault. They are safe for
// concurrent use, by several processes as well.
type Workflows struct {
	vault *vault.Vault
	agent string
	now   func() time.Time
}

// New returns the workflows of a vault.
func New(c Config) *Workflows {
	w := &Workflows{vault: c.Vault, agent: cmp.Or(strings.Trim(oneLine(c.Agent), "[]"), "agent"), now: c.Now}
	if w.now == nil {
		w.now = time.Now
	}
	return w
}

// A Plan says what to start: definitions one after the other, or steps of its
// own.
type Plan struct {
	Queue []string // ids of definitions
	Steps []string // or what is to be done, a text each
	Title string   // of steps of its own; empty means a plain one
}

// mostQueue bounds the definitions of one run.
const mostQueue = 20

// Start begins a run.
func (w *Workflows) Start(ctx context.Context, p Plan) (Run, error) {
	if err := p.check(); err != nil {
		return Run{}, err
	}
	var plans []Definition
	if len(p.Queue) > 0 {
		found, err := w.find(ctx, p.Queue)
		if err != nil {
			return Run{}, err
		}
		plans = found
	} else {
		d, err := adHoc(p.Title, p.Steps)
		if err != nil {
			return Run{}, err
		}
		plans = []Definition{d}
	}
	// Two that start in one millisecond get different ones.
	for ms := w.now().UnixMilli(); ; ms++ {
		id := fmt.Sprintf("workflow-%d", ms)
		n, err := w.note(id, p, plans)
		if err != nil {
			return Run{}, err
		}
		if err = w.vault.Create(ctx, n); errors.Is(err, vault.ErrExists) {
			continue
		}
		if err != nil {
			return Run{}, err
		}
		return w.read(ctx, id, n)
	}
}

func (p Plan) check() error {
	switch {
	case len(p.Queue) > 0 && len(p.Steps) > 0:
		return invalid("steps", "leave one of them out", "there are both definitions and steps to start")
	case len(p.Queue) == 0 && len(p.Steps) == 0:
		return invalid("workflowId", "name a definition, or list steps", "there is nothing to start")
	case len(p.Queue) > mostQueue:
		return invalid("workflowId", "start with fewer", "there are %d definitions, the limit is %d", len(p.Queue), mostQueue)
	}
	return nil
}

// note returns the note of a new run.
func (w *Workflows) note(id string, p Plan, plans []Definition) (*vault.Note, error) {
	n := &vault.Note{URI: places(id)[0], Body: outline(plans, p.Queue, "\n")}
	f, now := &n.Front, w.now()
	err := errors.Join(
		f.Set("title", titleOf(plans)), f.Set("permalink", id), f.Set("type", "workflow"), f.Set("status", string(Active)),
		f.SetTime("created", now), f.SetTime("modified", now),
		f.SetList("queue", p.Queue), f.SetInt("currentWorkflow", 0), f.SetInt("currentStep", 0), f.SetInt("stepCount", 0),
	)
	if len(p.Queue) == 0 {
		steps := make([]string, len(p.Steps))
		for i, s := range p.Steps {
			steps[i] = strings.TrimSpace(s)
		}
		err = errors.Join(err, f.SetList("steps", steps))
	}
	return n, err
}

// titleOf names a run after what it leads through, so that people and searches
// can tell it from others.
func titleOf(plans []Definition) string {
	var names []string
	for _, d := range plans {
		names = append(names, oneLine(d.Name))
	}
	return short(strings.Join(names, ", then "))
}

// View returns a run as it is.
func (w *Workflows) View(ctx context.Context, id string) (Run, error) {
	uri, err := w.locate(ctx, id)
	if err != nil {
		return Run{}, err
	}
	n, err := w.vault.Read(ctx, uri)
	if err != nil {
		return Run{}, err
	}
	return w.read(ctx, id, n)
}

// Status returns the status of the note that a session names as its parent: of
// a run, or of a session. There being none is Absent and no error; so is a text
// that is no id.
func (w *Workflows) Status(ctx context.Context, id string) (Status, error) {
	uri, err := w.locate(ctx, id)
	if err == nil {
		var n *vault.Note
		if n, err = w.vault.Read(ctx, uri); err == nil {
			return statusOf(n), nil
		}
	}
	if sequent.CodeOf(err) == CodeNotFound || isNotFound(err) {
		return Absent, nil
	}
	return Absent, err
}

// Link writes a session into the note that it names as its parent, open or
// closed. Linking it again changes nothing.
func (w *Workflows) Link(ctx context.Context, id, session string) error {
	uri, err := w.locate(ctx, id)
	if err != nil {
		return err
	}
	link := "[[sequential/" + session + "]]"
	_, err = w.vault.Update(ctx, uri, func(n *vault.Note) error {
		related := n.Front.List("related")
		if slices.Contains(related, link) {
			return nil
		}
		return errors.Join(
			n.Front.SetList("related", append(related, link)),
			n.Front.SetTime("modified", w.now()),
		)
	})
	return err
}

// An Answer is what came of a step.
type Answer struct {
	Response string // required, with a WikiLink
	Thoughts string // remarks beside it; with a WikiLink if given
	// At, if greater than 0, is how many steps the caller knows to have been
	// answered before this one, plus 1. If somebody else was first, the answer
	// is refused with CodeStepPassed, and not taken for the next step's.
	At int
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
				Fix: "put the concepts it is about in double brackets, such as [[error handling]]",
			}
		}
	}
	return nil
}

// Advance records the answer to the next step. When the last step has its
// answer, the run stays open until it is closed.
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
			Msg: fmt.Sprintf("the definition %q of this run is gone", short(r.Queue[r.Workflow])),
			Fix: "put it back into " + Folder + ", or close the run",
		}
	case !ok:
		return &sequent.Error{
			Code: CodeAnswered, Field: "response",
			Msg: fmt.Sprintf("all %d steps have their answer", r.Answered),
			Fix: "close the run with status completed and a conclusion",
		}
	case a.At > 0 && a.At != r.Answered+1:
		return &sequent.Error{
			Code: CodeStepPassed, Field: "step",
			Msg: fmt.Sprintf("step %d is not the next one: %d have been answered", a.At, r.Answered),
			Fix: "look at the run, and answer the step that is next",
		}
	}
	heading := fmt.Sprintf("Step %d/%d: %s [%s]", r.Step+1, len(d.Steps), oneLine(step.Name), w.agent)
	if len(r.Queue) > 1 {
		heading = fmt.Sprintf("%s, step %d/%d: %s [%s]", oneLine(d.Name), r.Step+1, len(d.Steps), oneLine(step.Name), w.agent)
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

// A Closing is the end of a run.
type Closing struct {
	Status     Status  // Completed or Cancelled
	Conclusion string  // with a WikiLink; required for Completed
	Answer     *Answer // to the step that was to be answered, if it comes with it
}

func (c Closing) check() error {
	switch {
	case c.Status != Completed && c.Status != Cancelled:
		return invalid("status", "use completed or cancelled", "a workflow cannot be closed with the status %q", short(string(c.Status)))
	case c.Status == Completed && strings.TrimSpace(c.Conclusion) == "":
		return &sequent.Error{
			Code: CodeConclusionRequired, Field: "conclusion",
			Msg: "a workflow is completed with a conclusion",
			Fix: "say what came of it, with [[WikiLinks]]",
		}
	case c.Status == Completed && !wikilink.HasConcept([]byte(c.Conclusion)):
		return &sequent.Error{
			Code: CodeConclusionLink, Field: "conclusion",
			Msg: "the conclusion has no [[WikiLink]]",
			Fix: "put the concepts it is about in double brackets, such as [[error handling]]",
		}
	case c.Answer != nil && c.Status == Completed:
		return c.Answer.check()
	}
	return nil
}

// Close ends a run, whether or not all its steps have their answer.
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

// change changes the note of an open run.
func (w *Workflows) change(ctx context.Context, id string, do func(*Run, *vault.Note) error) (Run, error) {
	uri, err := w.locate(ctx, id)
	if err != nil {
		return Run{}, err
	}
	var r Run
	n, err := w.vault.Update(ctx, uri, func(n *vault.Note) (err error) {
		if r, err = w.read(ctx, id, n); err != nil {
			return err
		}
		if r.Status.Closed() {
			return &sequent.Error{
				Code: CodeClosed, Field: "sessionId",
				Msg: fmt.Sprintf("the workflow %s is %s", id, r.Status),
				Fix: "start another one",
			}
		}
		if err := do(&r, n); err != nil {
			return err
		}
		return n.Front.SetTime("modified", w.now())
	})
	if err != nil {
		return Run{}, err
	}
	r.Note = strings.TrimSpace(n.Body)
	return r, nil
}

// write adds a section to the end of a note.
func (w *Workflows) write(n *vault.Note, heading, text string) {
	br := n.LineBreak()
	section := fmt.Sprintf("## %s\n\n%s\n\n*%s*\n", heading, text, w.now().UTC().Format("2006-01-02 15:04:05 UTC"))
	if n.Body != "" && !strings.HasSuffix(n.Body, "\n") {
		n.Body += br
	}
	if n.Body != "" && !strings.HasSuffix(n.Body, br+br) {
		n.Body += br
	}
	n.Body += strings.ReplaceAll(section, "\n", br)
}

func isNotFound(err error) bool { return errors.Is(err, vault.ErrNotFound) }

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

// author returns the name of an agent as it can be in a heading.
func author(name string) string { return strings.Trim(oneLine(name), "[]") }

// New returns the workflows of a vault.
func New(c Config) *Workflows {
	w := &Workflows{vault: c.Vault, agent: cmp.Or(author(c.Agent), "agent"), now: c.Now}
	if w.now == nil {
		w.now = time.Now
	}
	return w
}

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
	if err := p.check(); err != nil {
		return Run{}, err
	}
	var plans []Definition
	if len(p.Queue) > 0 {
		found, err := w.Find(ctx, p.Queue)
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
	// Runs that start in the same millisecond get different ids.
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
		return invalid("steps", "leave one of them out", "both definitions and steps are given")
	case len(p.Queue) == 0 && len(p.Steps) == 0:
		return invalid("workflowId", "name a definition, or list steps", "neither a definition nor steps are given")
	case len(p.Queue) > maxQueue:
		return invalid("workflowId", "start with fewer", "there are %d definitions, the limit is %d", len(p.Queue), maxQueue)
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

// titleOf returns a run's title: the names of its definitions.
func titleOf(plans []Definition) string {
	var names []string
	for _, d := range plans {
		names = append(names, oneLine(d.Name))
	}
	return printable.Short(strings.Join(names, ", then "), maxTitle)
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
			text := outline([]Definition{d}, []string{d.ID}, "\n")
			n.AddSection("## Then " + strings.TrimPrefix(text, "# "))
		}
		done := r.Step >= len(r.Plan().Steps) && len(r.Plan().Steps) > 0
		r.Queue, r.Plans = append(r.Queue, queue...), append(r.Plans, more...)
		if done && r.Workflow+1 < len(r.Plans) {
			r.Workflow, r.Step = r.Workflow+1, 0
		}
		f := &n.Front
		return errors.Join(f.SetList("queue", r.Queue), f.SetInt("currentWorkflow", r.Workflow), f.SetInt("currentStep", r.Step))
	})
}

// View returns the current state of a run.
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

// Status returns the status of a run, or of a session that is another session's parent.
// For a missing note and for an invalid id it returns Absent and no error.
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

// Link adds a session to the note of its parent, whether that is open or closed. It is
// idempotent.
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
	n.AddSection(fmt.Sprintf("## %s\n\n%s\n\n*%s*\n", heading, text, w.now().UTC().Format("2006-01-02 15:04:05 UTC")))
}

func isNotFound(err error) bool { return errors.Is(err, vault.ErrNotFound) }

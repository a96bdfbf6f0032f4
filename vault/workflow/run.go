package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
)

// A Run is a started workflow.
type Run struct {
	ID       string        `json:"sessionId"`
	Status   sequent.State `json:"status"` // active unless it is closed
	Title    string        `json:"title"`
	Answered int           `json:"stepsAnswered"` // steps of the whole queue
	Steps    int           `json:"totalSteps"`
	Next     *NextStep     `json:"nextStep,omitempty"` // nil if the run is closed or every step is answered
	Sessions []string      `json:"thinkingSessions"`   // ids of the sessions with this parent
	URI      vault.URI     `json:"uri"`                // of the note

	Queue []string     `json:"-"` // ids of the definitions; empty for a list of steps
	Plans []Definition `json:"-"` // the definitions; without steps for ids without a file
	Note  string       `json:"-"` // the note's body
}

// A NextStep is the step to do, with its number in the whole queue, from 1.
type NextStep struct {
	Number int `json:"number"`
	Step
}

// Closed reports whether a run with a status has ended. Maenifold marks old runs as
// abandoned; this package does not.
func Closed(status sequent.State) bool {
	return slices.Contains([]sequent.State{sequent.Completed, sequent.Cancelled, sequent.Abandoned}, status)
}

// settle sets the fields that follow from the others.
func (r *Run) settle() {
	r.Steps, r.Next = count(r.Plans), nil
	plan, step := r.at()
	if steps := r.Plans[plan].Steps; !Closed(r.Status) && step < len(steps) {
		r.Next = &NextStep{r.Answered + 1, steps[step]}
	}
}

// at returns the index of the current definition and of the next step in it.
func (r Run) at() (plan, step int) {
	step = r.Answered
	for plan < len(r.Plans)-1 && step >= len(r.Plans[plan].Steps) {
		step -= len(r.Plans[plan].Steps)
		plan++
	}
	return plan, step
}

func count(plans []Definition) (steps int) {
	for _, d := range plans {
		steps += len(d.Steps)
	}
	return steps
}

// validRun matches the ids of runs, and of sessions, which can be parents too.
var validRun = lazyregexp.New(`^(?:workflow|session)-[0-9]{1,15}(?:-[A-Za-z0-9_-]{1,100})?$`)

const runFolder = "thinking/workflow"

// findRun returns the URI of the note of a run, or of a session that is a parent. Maenifold
// has both in folders by date.
func (w *Workflows) findRun(ctx context.Context, id string) (vault.URI, error) {
	err := error(vault.ErrNotFound)
	var uri vault.URI
	if validRun().MatchString(id) {
		uri, err = w.vault.Find(ctx, runFolder, id)
		if errors.Is(err, vault.ErrNotFound) && strings.HasPrefix(id, "session-") {
			uri, err = w.vault.Find(ctx, "thinking/sequential", id)
		}
	}
	if errors.Is(err, vault.ErrNotFound) {
		err = sequent.Errorf(CodeNotFound, "sessionId", "check the id, or start one",
			"there is no workflow %q", printable.Short(id, maxQuoted))
	}
	return uri, err
}

// statusOf returns the status of a note: active unless it is closed.
func statusOf(n *vault.Note) sequent.State {
	if s := sequent.State(strings.ToLower(strings.TrimSpace(n.Front.Get("status")))); Closed(s) {
		return s
	}
	return sequent.Active
}

// read returns the run in a note.
func (w *Workflows) read(ctx context.Context, id string, n *vault.Note) (Run, error) {
	damaged := func(field, format string, args ...any) (Run, error) {
		return Run{}, sequent.Errorf(CodeDamaged, field, "correct "+field+" in the note",
			"%s", "the front matter of the workflow's note is invalid: "+fmt.Sprintf(format, args...))
	}
	f := &n.Front
	if err := f.Err(); err != nil {
		return Run{}, err
	}
	r := Run{
		ID: id, URI: n.URI, Status: statusOf(n), Title: f.Get("title"), Queue: f.List("queue"), Note: strings.TrimSpace(n.Body),
		Sessions: []string{},
	}
	for _, link := range f.List("related") {
		if s, ok := strings.CutPrefix(strings.Trim(link, "[]"), "sequential/"); ok {
			r.Sessions = append(r.Sessions, s)
		}
	}
	if own := ownSteps("", f.List("steps")); len(own.Steps) > 0 {
		r.Plans = []Definition{own}
	}
	all, _ := w.Definitions(ctx)
	for _, id := range r.Queue { // a run without a definition can still be viewed and closed
		d := Definition{ID: id}
		if at := slices.IndexFunc(all, func(d Definition) bool { return d.ID == id }); at >= 0 {
			d = all[at]
		}
		r.Plans = append(r.Plans, d)
	}
	if len(r.Plans) == 0 {
		return damaged("queue", "it has neither a queue nor steps")
	}
	var at [2]int
	for i, key := range []string{"currentWorkflow", "currentStep"} {
		var err error
		if text := f.Get(key); text != "" {
			at[i], err = strconv.Atoi(text)
		}
		if err != nil || at[i] < 0 {
			return damaged(key, "%s is %q, and not a number from 0", key, printable.Short(f.Get(key), maxQuoted))
		}
	}
	if at[0] >= len(r.Plans) {
		return damaged("currentWorkflow", "currentWorkflow is %d, and the queue has %d, counted from 0", at[0], len(r.Plans))
	}
	r.Answered = count(r.Plans[:at[0]]) + at[1]
	r.settle()
	return r, nil
}

package workflow

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/vault"
)

// A Status tells whether a run goes on.
type Status string

// The statuses. Sweeping of old sessions is what makes Maenifold's abandoned
// ones; this package makes none.
const (
	Absent    Status = "" // there is no such run
	Active    Status = "active"
	Completed Status = "completed"
	Cancelled Status = "cancelled"
	Abandoned Status = "abandoned"
)

// Closed reports whether a run of that status is over.
func (s Status) Closed() bool { return s == Completed || s == Cancelled || s == Abandoned }

// A Run is a workflow on its way, as its note says.
type Run struct {
	ID     string
	URI    vault.URI // of the note
	Status Status
	Title  string

	Queue    []string     // ids of the definitions; empty for steps of its own
	Plans    []Definition // what they are; nil for those that are gone
	Workflow int          // which of the queue is at work, from 0
	Step     int          // which of its steps is to be answered next, from 0
	Answered int          // steps that have been answered, of the whole queue
	Sessions []string     // ids of the sessions that belong to it
	Note     string       // the note's body, for people
}

// Plan returns the definition that is at work. It is empty when its file is
// gone.
func (r Run) Plan() Definition {
	if r.Workflow < 0 || r.Workflow >= len(r.Plans) {
		return Definition{}
	}
	return r.Plans[r.Workflow]
}

// Next returns the step that is to be answered next. There is none in a run that
// is closed, or where every step has been answered.
func (r Run) Next() (Step, bool) {
	if steps := r.Plan().Steps; !r.Status.Closed() && r.Step < len(steps) {
		return steps[r.Step], true
	}
	return Step{}, false
}

// Steps returns how many steps the whole queue has.
func (r Run) Steps() int {
	n := 0
	for _, d := range r.Plans {
		n += len(d.Steps)
	}
	return n
}

// validRun matches ids of runs. Sessions are looked for, too: what a session
// may name as its parent includes one.
var validRun = lazyregexp.New(`^(workflow|session)-([0-9]{1,15})(-[A-Za-z0-9_-]{1,100})?$`)

// places returns where the note of a run may be: flat, as we write it, and by
// date, as Maenifold does.
func places(id string) []vault.URI {
	m := validRun().FindStringSubmatch(id)
	if m == nil {
		return nil
	}
	ms, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return nil
	}
	day := time.UnixMilli(ms).UTC().Format("2006/01/02")
	folders := []string{"thinking/workflow", "thinking/workflow/" + day}
	if m[1] == "session" {
		folders = append(folders, "thinking/sequential", "thinking/sequential/"+day)
	}
	var uris []vault.URI
	for _, f := range folders {
		if uri, err := vault.PathURI(path.Join(f, id)); err == nil {
			uris = append(uris, uri)
		}
	}
	return uris
}

// locate returns where the note of a run is.
func (w *Workflows) locate(ctx context.Context, id string) (vault.URI, error) {
	for _, uri := range places(id) {
		_, err := w.vault.Stat(ctx, uri)
		if err == nil {
			return uri, nil
		}
		if !isNotFound(err) {
			return "", err
		}
	}
	return "", notFound(id)
}

// statusOf reads the status of a note. What is not closed is active.
func statusOf(n *vault.Note) Status {
	if s := Status(strings.ToLower(strings.TrimSpace(n.Front.Get("status")))); s.Closed() {
		return s
	}
	return Active
}

// read makes a run of its note.
func (w *Workflows) read(ctx context.Context, id string, n *vault.Note) (Run, error) {
	f := &n.Front
	if err := f.Err(); err != nil {
		return Run{}, err
	}
	r := Run{
		ID: id, URI: n.URI, Status: statusOf(n), Title: f.Get("title"), Queue: f.List("queue"),
		Note: strings.TrimSpace(n.Body),
	}
	for _, link := range f.List("related") {
		if s, ok := strings.CutPrefix(strings.Trim(link, "[]"), "sequential/"); ok {
			r.Sessions = append(r.Sessions, s)
		}
	}
	var err error
	for key, value := range map[string]*int{"currentWorkflow": &r.Workflow, "currentStep": &r.Step, "stepCount": &r.Answered} {
		text := f.Get(key)
		if text == "" {
			continue // the beginning
		}
		if *value, err = strconv.Atoi(text); err != nil || *value < 0 {
			return Run{}, damaged(key, "%s is %q, and not a number from 0", key, short(text))
		}
	}
	if own := f.List("steps"); len(r.Queue) == 0 {
		d, err := adHoc("", own)
		if err != nil || len(own) == 0 {
			return Run{}, damaged("queue", "it has neither a queue nor steps")
		}
		r.Plans = []Definition{d}
	} else if err := w.plans(ctx, &r); err != nil {
		return Run{}, err
	}
	if r.Workflow >= len(r.Plans) {
		return Run{}, damaged("currentWorkflow", "currentWorkflow is %d, and the queue has %d, counted from 0", r.Workflow, len(r.Plans))
	}
	if f.Get("stepCount") == "" { // Maenifold counts the steps when all are answered
		r.Answered = r.Step
		for _, d := range r.Plans[:r.Workflow] {
			r.Answered += len(d.Steps)
		}
	}
	return r, nil
}

// plans looks the queue's definitions up. One that is gone stays empty: the run
// can still be seen and closed.
func (w *Workflows) plans(ctx context.Context, r *Run) error {
	all, _, err := w.Definitions(ctx)
	if err != nil {
		return err
	}
	r.Plans = make([]Definition, len(r.Queue))
	for i, id := range r.Queue {
		if at := slices.IndexFunc(all, func(d Definition) bool { return d.ID == id }); at >= 0 {
			r.Plans[i] = all[at]
		}
	}
	return nil
}

// outline tells in the note what is to be done.
func outline(plans []Definition, queue []string, br string) string {
	var b strings.Builder
	for i, d := range plans {
		name := strings.TrimSpace(d.Emoji + " " + d.Name)
		if i == 0 {
			fmt.Fprintf(&b, "# %s%s", name, br)
		} else {
			fmt.Fprintf(&b, "%sThen %s:%s", br, name, br)
		}
		if i < len(queue) && d.Description != "" {
			fmt.Fprintf(&b, "%s%s%s", br, oneLine(d.Description), br)
		}
		b.WriteString(br)
		for n, s := range d.Steps {
			fmt.Fprintf(&b, "%d. %s%s", n+1, oneLine(s.Name), br)
		}
	}
	return b.String()
}

// oneLine keeps a text from being more than a line of the note.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

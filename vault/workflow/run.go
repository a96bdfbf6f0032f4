package workflow

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
)

// A Status is the state of a run.
type Status string

// The statuses. Maenifold marks old runs as abandoned; this package does not.
const (
	Absent    Status = "" // there is no such run
	Active    Status = "active"
	Completed Status = "completed"
	Cancelled Status = "cancelled"
	Abandoned Status = "abandoned"
)

// Closed reports whether the run has ended.
func (s Status) Closed() bool { return s == Completed || s == Cancelled || s == Abandoned }

// A Run is a started workflow.
type Run struct {
	ID     string
	URI    vault.URI // of the note
	Status Status
	Title  string

	Queue    []string     // ids of the definitions; empty for a list of steps
	Plans    []Definition // the definitions; empty ones for ids without a file
	Workflow int          // index of the current definition
	Step     int          // index of the next step in it
	Answered int          // answered steps of the whole queue
	Sessions []string     // ids of the sessions with this parent
	Note     string       // the note's body
}

// Plan returns the current definition; an empty one if its file was deleted.
func (r Run) Plan() Definition {
	if r.Workflow < 0 || r.Workflow >= len(r.Plans) {
		return Definition{}
	}
	return r.Plans[r.Workflow]
}

// Next returns the next step. It returns false if the run is closed or every step is
// answered.
func (r Run) Next() (Step, bool) {
	if steps := r.Plan().Steps; !r.Status.Closed() && r.Step < len(steps) {
		return steps[r.Step], true
	}
	return Step{}, false
}

// next goes on to the next definition if every step of the current one is answered.
func (r *Run) next() {
	if steps := r.Plan().Steps; len(steps) > 0 && r.Step >= len(steps) && r.Workflow+1 < len(r.Plans) {
		r.Workflow, r.Step = r.Workflow+1, 0
	}
}

// Steps returns the number of steps of the whole queue.
func (r Run) Steps() int {
	n := 0
	for _, d := range r.Plans {
		n += len(d.Steps)
	}
	return n
}

// validRun matches the ids of runs, and of sessions, which can be parents too.
var validRun = lazyregexp.New(`^(workflow|session)-([0-9]{1,15})(-[A-Za-z0-9_-]{1,100})?$`)

// places returns the possible URIs of a run's note: in one folder, as this package
// writes them, and in folders by date, as Maenifold does.
func places(id string) []vault.URI {
	m := validRun().FindStringSubmatch(id)
	if m == nil {
		return nil
	}
	ms, _ := strconv.ParseInt(m[2], 10, 64) // 15 digits
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

// note returns the note of a run.
func (w *Workflows) note(ctx context.Context, id string) (*vault.Note, error) {
	for _, uri := range places(id) {
		if n, err := w.vault.Read(ctx, uri); !errors.Is(err, vault.ErrNotFound) {
			return n, err
		}
	}
	return nil, notFound(id)
}

// statusOf returns the status of a note: active unless it is closed.
func statusOf(n *vault.Note) Status {
	if s := Status(strings.ToLower(strings.TrimSpace(n.Front.Get("status")))); s.Closed() {
		return s
	}
	return Active
}

// read returns the run in a note.
func (w *Workflows) read(ctx context.Context, id string, n *vault.Note) (Run, error) {
	f := &n.Front
	if err := f.Err(); err != nil {
		return Run{}, err
	}
	r := Run{
		ID: id, URI: n.URI, Status: statusOf(n), Title: f.Get("title"), Queue: f.List("queue"), Note: strings.TrimSpace(n.Body),
	}
	for _, link := range f.List("related") {
		if s, ok := strings.CutPrefix(strings.Trim(link, "[]"), "sequential/"); ok {
			r.Sessions = append(r.Sessions, s)
		}
	}
	for key, value := range map[string]*int{"currentWorkflow": &r.Workflow, "currentStep": &r.Step, "stepCount": &r.Answered} {
		var err error
		if text := f.Get(key); text != "" {
			*value, err = strconv.Atoi(text)
		}
		if err != nil || *value < 0 {
			return Run{}, damaged(key, "%s is %q, and not a number from 0", key, printable.Short(f.Get(key), maxQuoted))
		}
	}
	if own := f.List("steps"); len(r.Queue) == 0 {
		d, err := adHoc("", own)
		if err != nil || len(own) == 0 {
			return Run{}, damaged("queue", "it has neither a queue nor steps")
		}
		r.Plans = []Definition{d}
	} else {
		r.Plans = w.plans(ctx, r.Queue)
	}
	if r.Workflow >= len(r.Plans) {
		return Run{}, damaged("currentWorkflow", "currentWorkflow is %d, and the queue has %d, counted from 0", r.Workflow, len(r.Plans))
	}
	if f.Get("stepCount") == "" { // Maenifold writes it when all steps are answered
		r.Answered = r.Step
		for _, d := range r.Plans[:r.Workflow] {
			r.Answered += len(d.Steps)
		}
	}
	return r, nil
}

// plans returns the definitions of a queue. A missing one is empty, so that the run can
// still be viewed and closed.
func (w *Workflows) plans(ctx context.Context, queue []string) []Definition {
	all, _ := w.Definitions(ctx)
	plans := make([]Definition, len(queue))
	for i, id := range queue {
		if at := slices.IndexFunc(all, func(d Definition) bool { return d.ID == id }); at >= 0 {
			plans[i] = all[at]
		}
	}
	return plans
}

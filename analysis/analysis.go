// Package analysis looks across sessions: at threads that were left, conclusions that
// something later revised or rejected, assumptions and problems that come up again, and
// at numbers.
//
// It reads logs alone, one session at a time, and keeps of each only what it compares.
// Every finding cites the thoughts that it is made of, in their words. It prefers to
// miss something to claiming it: a text counts only if its wording is unambiguous. The
// wordings are English; counts and standings do not depend on language.
package analysis

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
)

// A Query says which sessions to analyse, and which findings to report.
type Query struct {
	AllOwners bool   // the sessions of all owners; for the engine of the local user
	Project   string // those of this project and those without one; empty means all

	// All sessions above are compared. The fields below select the findings.

	Since time.Time     // findings with a part at or after this time; zero means all
	Text  string        // findings about sessions that this query finds; empty means all
	Idle  time.Duration // an active session without a change for so long was left; 0 means a day
	Limit int           // maximum findings of each kind; 0 means 20
}

const (
	defaultIdle  = 24 * time.Hour
	defaultLimit = 20
)

// A Cite is a thought, and what it says.
type Cite struct {
	Owner   string     `json:"owner,omitempty"` // of the session; empty for the local user
	Session sequent.ID `json:"session"`
	Seq     int        `json:"seq"` // position in the log; 0 for the session as a whole
	Ref     string     `json:"ref"` // in the form that sequent show reads
	Text    string     `json:"text"`
	At      time.Time  `json:"at"`
}

// A Report has the findings, the latest first.
type Report struct {
	Counts      Counts      `json:"counts"`
	Left        []Left      `json:"left"`
	Revised     []Revised   `json:"revised"`
	Assumptions []Recurring `json:"assumptions"`
	Problems    []Problem   `json:"problems"`
	// More has the numbers of findings beyond Query.Limit, by the name of the field in
	// JSON.
	More map[string]int `json:"more,omitempty"`
	// Notice says how the query was understood, or what could not be read; often empty.
	Notice string `json:"notice,omitempty"`
}

// A Left is a thread that was left: a session, or a branch without a verdict.
type Left struct {
	Title  string        `json:"title"`            // of the session
	State  sequent.State `json:"state"`            // of the session
	Branch string        `json:"branch,omitempty"` // empty for a whole session
	// Question is the last question that the thread asked; nil if it asked none.
	Question *Cite `json:"question,omitempty"`
	Last     Cite  `json:"last"` // its last thought that holds
}

// The values of Revised.How.
const (
	HowRevised  = "revised"  // something else holds now
	HowRejected = "rejected" // it does not hold
)

// The values of Revised.Kind.
const (
	BySession  = "session"  // a thought of a later session names the session
	ByNote     = "note"     // a person says so
	ByDecision = "decision" // a later decision about its line
	ByRevision = "revision" // a later thought of the same session
)

// A Revised is a conclusion that something later refers to as revised or rejected.
type Revised struct {
	Title      string `json:"title"`
	Conclusion Cite   `json:"conclusion"`
	How        string `json:"how"`
	Kind       string `json:"kind"`
	By         Cite   `json:"by"` // for a note, the thought that it is about, with the note's text
}

// A Recurring is an assumption that several sessions make.
type Recurring struct {
	Uses []Use `json:"uses"` // oldest first, one for each session
}

// A Use is a thought that makes an assumption.
type Use struct {
	Cite
	Standing sequent.StandingState `json:"standing"`
}

// A Problem is a problem that several sessions are about.
type Problem struct {
	Sessions []Occurrence `json:"sessions"` // oldest first
}

// An Occurrence is a session about a problem.
type Occurrence struct {
	Problem Cite          `json:"problem"` // its first thought, with the title
	State   sequent.State `json:"state"`
	End     Cite          `json:"end"` // how it ended, or where it stands
}

// Run analyses sessions. Its memory grows with the number of sessions, by about a
// kilobyte for each, not with their length. Sessions of the demo are left out.
//
// Errors are those of the store, and of the words of Query.Text.
func Run(ctx context.Context, e *sequent.Engine, q Query) (*Report, error) {
	q.Idle, q.Limit = cmp.Or(q.Idle, defaultIdle), cmp.Or(q.Limit, defaultLimit)
	c := &corpus{query: q, now: e.Now(), stems: newStems(), known: make(map[sequent.Key]int), byID: make(map[sequent.ID][]int)}
	if err := c.list(ctx, e); err != nil {
		return nil, err
	}
	if err := c.focus(ctx, e); err != nil {
		return nil, err
	}
	if err := c.read(ctx, e); err != nil {
		return nil, err
	}
	r := &Report{Counts: c.counts(), Left: c.left(), Revised: c.revised(), Assumptions: c.recurring(), Problems: c.problems(), Notice: c.notice}
	r.More = make(map[string]int)
	r.Left = first(r.Left, q.Limit, r.More, "left")
	r.Revised = first(r.Revised, q.Limit, r.More, "revised")
	r.Assumptions = first(r.Assumptions, q.Limit, r.More, "assumptions")
	r.Problems = first(r.Problems, q.Limit, r.More, "problems")
	return r, nil
}

// Count returns the numbers alone.
func Count(ctx context.Context, e *sequent.Engine, q Query) (Counts, error) {
	r, err := Run(ctx, e, q)
	if err != nil {
		return Counts{}, err
	}
	return r.Counts, nil
}

// first returns at most limit findings, and notes how many there are more.
func first[T any](all []T, limit int, more map[string]int, name string) []T {
	if len(all) > limit {
		more[name] = len(all) - limit
		all = all[:limit]
	}
	if all == nil {
		return []T{}
	}
	return slices.Clip(all)
}

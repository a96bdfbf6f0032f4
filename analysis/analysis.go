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

	// MaxBytes limits how much of the sessions' logs is read, the latest sessions first, and
	// how much of it is compared; 0 means no limit. The notice tells what is left out.
	MaxBytes int64

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

// A Report has the findings, the latest first; assumptions of most sessions first.
type Report struct {
	Counts Counts `json:"counts"`
	// Left has threads that were left: sessions, and branches without a verdict.
	Left []Finding `json:"left"`
	// Revised has conclusions that something later revises or rejects.
	Revised []Finding `json:"revised"`
	// Unclear has what sessions show and their authors may have missed.
	Unclear []Finding `json:"unclear"`
	// Assumptions has assumptions that several sessions make.
	Assumptions []Finding `json:"assumptions"`
	// Problems has problems that several sessions are about.
	Problems []Finding `json:"problems"`
	// More has the numbers of findings beyond Query.Limit, by the name of the field in
	// JSON.
	More map[string]int `json:"more,omitempty"`
	// Notice says how the query was understood, or what could not be read; often empty.
	Notice string `json:"notice,omitempty"`
}

// A Finding is what some thoughts show together.
type Finding struct {
	Title string `json:"title"`
	Parts []Part `json:"parts"`

	at time.Time // of its latest part
}

// A Part is a thought of a finding.
type Part struct {
	Says string `json:"says"` // what the thought does: asked last, concluded
	Cite
}

// Run analyses sessions. Its memory grows with the number of sessions, by about a
// kilobyte for each, not with their length. Sessions of the demo are left out if there are others.
//
// Errors are those of the store, and of the words of Query.Text.
func Run(ctx context.Context, e *sequent.Engine, q Query) (*Report, error) {
	q.Idle, q.Limit = cmp.Or(q.Idle, defaultIdle), cmp.Or(q.Limit, defaultLimit)
	c := newCorpus(e, q)
	if err := c.list(ctx, e); err != nil {
		return nil, err
	}
	if err := c.focus(ctx, e); err != nil {
		return nil, err
	}
	if err := c.read(ctx, e); err != nil {
		return nil, err
	}
	r := &Report{More: make(map[string]int), Counts: Counts{States: make(map[sequent.State]int)}}
	var left, revised, unclear []Finding
	for _, s := range c.sessions {
		if !s.skipped && s.header.Len > 0 && c.about(s.header.Updated, s.header.Key) {
			r.Counts.add(&s.header)
		}
		left, unclear = append(left, s.left...), append(unclear, s.unclear...)
		revised = append(append(revised, s.changed...), c.judged(s)...)
	}
	assumptions, problems := c.recurring(ctx), c.problems(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.Left = c.latest(left, r.More, "left")
	r.Revised = c.latest(revised, r.More, "revised")
	r.Unclear = c.latest(unclear, r.More, "unclear")
	r.Assumptions = c.latest(assumptions, r.More, "assumptions")
	r.Problems = c.latest(problems, r.More, "problems")
	r.Notice = c.notice
	return r, nil
}

// latest returns those of the findings that the query selects, the latest first, those that most
// sessions share before others. It notes how many there are beyond the limit.
func (c *corpus) latest(all []Finding, more map[string]int, name string) []Finding {
	all = slices.DeleteFunc(all, func(f Finding) bool {
		return f.at.Before(c.query.Since) || c.asked != nil && !slices.ContainsFunc(f.Parts, func(p Part) bool { return c.asked[p.key()] })
	})
	slices.SortStableFunc(all, func(a, b Finding) int {
		if d := len(b.Parts) - len(a.Parts); d != 0 && name == "assumptions" {
			return d
		}
		return b.at.Compare(a.at)
	})
	if n := len(all) - c.query.Limit; n > 0 {
		more[name], all = n, slices.Clip(all[:c.query.Limit])
	}
	return append([]Finding{}, all...)
}

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

	// MaxBytes limits how much of the sessions' logs is read, the latest sessions first; 0 means no limit. The notice
	// tells what is left out.
	MaxBytes int64

	// All sessions above are compared. The fields below select the findings.

	Since time.Time // findings with a part at or after this time; zero means all
	Text  string    // findings about sessions that this query finds; empty means all
	Limit int       // maximum findings of each kind; 0 means 20
}

const (
	idle         = 24 * time.Hour // an active session without a change for so long was left
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

// A Report has the findings of each kind.
type Report struct {
	Counts   Counts    `json:"counts"`
	Sections []Section `json:"findings"` // without kinds that have none
	// Notice says how the query was understood, or what could not be read; often empty.
	Notice string `json:"notice,omitempty"`
}

// A Section has the findings of a kind, the latest first; assumptions of most sessions first.
type Section struct {
	Kind     string    `json:"kind"` // left, revised, unclear, assumptions or problems
	Title    string    `json:"title"`
	Findings []Finding `json:"findings"`
	More     int       `json:"more,omitempty"` // findings beyond Query.Limit
}

// A Finding is what some thoughts show together.
type Finding struct {
	Title string `json:"title"`
	Parts []Part `json:"parts"` // the latest is last
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
	q.Limit = cmp.Or(q.Limit, defaultLimit)
	c := newCorpus(e, q)
	if err := c.focus(ctx); err != nil {
		return nil, err
	}
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	r := &Report{Counts: newCounts(), Sections: []Section{}}
	var left, revised, unclear []Finding
	for _, s := range c.sessions {
		if !s.skipped && s.header.Len > 0 && c.about(&s.header) {
			r.Counts.add(&s.header)
		}
		left, unclear = append(left, s.left...), append(unclear, s.unclear...)
		revised = append(append(revised, s.changed...), c.judged(s)...)
	}
	for _, s := range []Section{
		{"left", "Left open", left, 0},
		{"revised", "Conclusions that were revised or rejected", revised, 0},
		{"unclear", "Worth a look", unclear, 0},
		{"assumptions", "Assumptions that recur", c.recurring(ctx), 0},
		{"problems", "Problems that came up before", c.problems(ctx), 0},
	} {
		if s.choose(c); len(s.Findings) > 0 {
			r.Sections = append(r.Sections, s)
		}
	}
	r.Notice = c.notice
	return r, ctx.Err()
}

// choose keeps the findings that the query selects, and sorts them.
func (s *Section) choose(c *corpus) {
	latest := func(f Finding) time.Time { return f.Parts[len(f.Parts)-1].At }
	s.Findings = slices.DeleteFunc(s.Findings, func(f Finding) bool {
		return latest(f).Before(c.query.Since) || c.asked != nil && !slices.ContainsFunc(f.Parts, func(p Part) bool { return c.asked[p.key()] })
	})
	slices.SortStableFunc(s.Findings, func(a, b Finding) int {
		if d := len(b.Parts) - len(a.Parts); d != 0 && s.Kind == "assumptions" {
			return d
		}
		return latest(b).Compare(latest(a))
	})
	if s.More = max(len(s.Findings)-c.query.Limit, 0); s.More > 0 {
		s.Findings = slices.Clone(s.Findings[:c.query.Limit])
	}
}

package sequent

import (
	"fmt"
	"maps"
	"strconv"
	"time"
)

// A Ref names another thought by its author's number. The zero Ref names none.
// In JSON it is a number or null.
type Ref struct {
	number int
	set    bool
}

// To returns a Ref to the thought with the given number.
func To(number int) Ref { return Ref{number: number, set: true} }

// Number returns the number that r names, and whether it names one.
func (r Ref) Number() (int, bool) { return r.number, r.set }

// MarshalJSON returns the number, or null if r names none.
func (r Ref) MarshalJSON() ([]byte, error) {
	if !r.set {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(r.number), 10), nil
}

// UnmarshalJSON reads an integer or null.
func (r *Ref) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*r = Ref{}
		return nil
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return &Error{Code: CodeInvalidThought, Msg: fmt.Sprintf("%.40q is not the number of a thought", data), Err: err}
	}
	*r = To(n)
	return nil
}

// A Request identifies a call that may be repeated safely.
type Request struct {
	Key    string `json:"key,omitempty"`    // chosen by the caller; empty means none
	Digest string `json:"digest,omitempty"` // digest of the call's body, to detect a reused key
}

// A Draft is a thought as its author proposes it. The log keeps the author's
// numbers and references unchanged.
type Draft struct {
	Number   int               `json:"number"` // the author's number for this step; dialects choose the base
	Total    int               `json:"total"`  // the author's estimate of the number of steps
	Text     string            `json:"text"`
	Note     string            `json:"note,omitempty"`     // remarks beside the text; rarely used
	Branch   string            `json:"branch,omitempty"`   // label of the branch; empty on the main line
	From     Ref               `json:"from,omitzero"`      // the thought at which the branch leaves, if named
	Revises  Ref               `json:"revises,omitzero"`   // the thought that this one reconsiders, if named
	Revision bool              `json:"revision,omitempty"` // this step reconsiders an earlier one
	Final    bool              `json:"final,omitempty"`    // no thought follows: the session is completed
	Extend   bool              `json:"extend,omitempty"`   // the author wants more thoughts than Total
	Request  Request           `json:"request,omitzero"`
	Labels   map[string]string `json:"labels,omitempty"` // values of one dialect; never modified once appended
}

// empty reports whether d is the zero Draft.
func (d *Draft) empty() bool {
	return d.Text == "" && d.Note == "" && d.Number == 0 && d.Total == 0 && d.Branch == "" &&
		!d.From.set && !d.Revises.set && !d.Revision && !d.Final && !d.Extend &&
		d.Request == (Request{}) && len(d.Labels) == 0
}

// A Thought is a Draft that a session has accepted. Thoughts never change.
type Thought struct {
	Draft
	Seq        int       `json:"seq"`                  // position in the session's log: 1, 2, 3, … without gaps
	After      int       `json:"after"`                // Seq of the thought this one follows on its line; 0 for a beginning
	Supersedes int       `json:"supersedes,omitempty"` // Seq of the thought this one replaces in the effective chain; 0 for none
	At         time.Time `json:"at"`                   // when it was accepted, UTC, to the microsecond
}

// revisions returns 1 if t reconsiders another thought, otherwise 0.
func (t *Thought) revisions() int {
	if t.Revision || t.Supersedes > 0 {
		return 1
	}
	return 0
}

// detached returns t with labels of its own, so that a reader cannot change
// those of the log.
func (t *Thought) detached() Thought {
	d := *t
	d.Labels = maps.Clone(t.Labels)
	return d
}

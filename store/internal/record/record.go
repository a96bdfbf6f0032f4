// Package record converts sessions and thoughts to the columns of SQL stores and
// back, and checks writes.
package record

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/sequent-dev/sequent"
)

// Micros returns t in the stores' unit: whole microseconds since 1970.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Time returns the time, in UTC, of a value of [Micros].
func Time(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// Ceil returns t in microseconds, rounded up.
func Ceil(t time.Time) int64 {
	micros := Micros(t)
	if Time(micros).Before(t) {
		micros++
	}
	return micros
}

// Period returns the number of the period of 2^24 µs, about 17 seconds, that a
// time is in. Indexes by last update hold the period instead of the time, so that
// most appends do not change them.
func Period(micros int64) int64 { return micros >> 24 }

// Labels returns labels as a JSON object, or "" if there are none. They are
// valid UTF-8, which the engine has checked; JSON would change others.
func Labels(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	b, err := json.Marshal(labels)
	if err != nil {
		panic(err) // json.Marshal does not fail for a map of strings
	}
	return string(b)
}

// ParseLabels parses the result of [Labels].
func ParseLabels(s string) (labels map[string]string, err error) {
	if s == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(s), &labels); err != nil {
		return nil, err
	}
	return labels, nil
}

// Context returns a context as a JSON object, or "" if it is zero.
func Context(c *sequent.Context) string {
	if *c == (sequent.Context{}) {
		return ""
	}
	return object(c)
}

// ParseContext parses the result of [Context].
func ParseContext(s string) (c sequent.Context, err error) {
	if s != "" {
		err = json.Unmarshal([]byte(s), &c)
	}
	return c, err
}

// OnlyMoved reports whether old and now differ at most in position and time of the last
// update within a [Period].
func OnlyMoved(old, now *sequent.Header) bool {
	return Period(Micros(old.Updated)) == Period(Micros(now.Updated)) &&
		old.Branches == now.Branches && old.State == now.State && old.Title == now.Title && old.Conclusion == now.Conclusion &&
		old.Expires.IsZero() == now.Expires.IsZero() && Micros(old.Expires) == Micros(now.Expires) &&
		maps.Equal(old.Labels, now.Labels) && SameOrigin(old, now)
}

// SameOrigin reports whether two headers of a session have the same scope, dialect,
// context and time of creation, which hardly ever change.
func SameOrigin(old, now *sequent.Header) bool {
	return old.Scope == now.Scope && old.Dialect == now.Dialect && old.Context == now.Context && Micros(old.Created) == Micros(now.Created)
}

// Plain reports whether the entry of a thought has no optional field: only numbers, a
// time, a text and its proof.
func Plain(e *sequent.Entry) bool {
	t := &e.Thought
	return len(e.Masked) == 0 && t.Note == "" && t.Branch == "" && t.From == (sequent.Ref{}) && t.Revises == (sequent.Ref{}) &&
		!t.Revision && t.Supersedes == 0 && !t.Extend && t.Request == (sequent.Request{}) && len(t.Labels) == 0
}

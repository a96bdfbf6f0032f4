// Package record says what the rows of SQL stores hold of sessions and thoughts,
// which writes they refuse, and what they say where there is no row.
package record

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/sequent-dev/sequent"
)

// Micros returns a time as the stores keep it: whole microseconds since 1970.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Time returns the time, in UTC, that was kept as micros.
func Time(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// Ceil returns the first microsecond that is not before t.
func Ceil(t time.Time) int64 {
	micros := Micros(t)
	if Time(micros).Before(t) {
		micros++
	}
	return micros
}

// Period returns the number of the period that a time is in, each of 2^24 µs,
// which are about 17 seconds. Indexes by last update hold it in place of the time,
// so that most appends leave them alone.
func Period(micros int64) int64 { return micros >> 24 }

// Labels returns labels in the form in which they are kept. They are some that
// [Check] has passed.
func Labels(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	b, err := json.Marshal(labels)
	if err != nil {
		panic(err) // a map of strings always has a JSON form
	}
	return string(b)
}

// ParseLabels returns what [Labels] was given; nil if there are none.
func ParseLabels(s string) (labels map[string]string, err error) {
	if s == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(s), &labels); err != nil {
		return nil, err
	}
	return labels, nil
}

// OnlyMoved reports whether the row of a session that has the header old needs
// no more than another version, length and time of its last update to have the
// header now.
func OnlyMoved(old, now *sequent.Header) bool {
	return Period(Micros(old.Updated)) == Period(Micros(now.Updated)) &&
		old.State == now.State && old.Title == now.Title && old.Conclusion == now.Conclusion &&
		old.Expires.IsZero() == now.Expires.IsZero() && Micros(old.Expires) == Micros(now.Expires) &&
		maps.Equal(old.Labels, now.Labels) && SameOrigin(old, now)
}

// SameOrigin reports whether two headers of a session agree in what hardly ever
// changes once it is begun: its scope, its dialect and the time of its creation.
func SameOrigin(old, now *sequent.Header) bool {
	return old.Scope == now.Scope && old.Dialect == now.Dialect && Micros(old.Created) == Micros(now.Created)
}

// Plain reports whether a thought has only what every thought has: numbers, a
// time and a text.
func Plain(t *sequent.Thought) bool {
	return t.Note == "" && t.Branch == "" && t.From == (sequent.Ref{}) && t.Revises == (sequent.Ref{}) &&
		!t.Revision && t.Supersedes == 0 && !t.Extend && t.Request == (sequent.Request{}) && len(t.Labels) == 0
}

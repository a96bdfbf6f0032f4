package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// A Document is a session as pages and programs read it: what it is, and a window of its log.
type Document struct {
	Session  Session        `json:"session"`
	Lines    []sequent.Line `json:"lines"`
	Notes    []sequent.Note `json:"notes"`
	Standing Standing       `json:"standing"`
	Rows     []Row          `json:"rows"`
	Position string         `json:"position"` // after the last row
	More     bool           `json:"more"`     // there are rows after it
}

// A Session is a session in a list, and the head of a document.
type Session struct {
	ID         string         `json:"id"`
	Owner      string         `json:"owner,omitempty"` // in a list of all owners
	Title      string         `json:"title"`
	State      string         `json:"state"`
	Dialect    string         `json:"dialect,omitempty"`
	Conclusion string         `json:"conclusion,omitempty"`
	Thoughts   int            `json:"thoughts"`
	Branches   int            `json:"branches"`
	Version    int            `json:"version"` // rises with every change
	Created    time.Time      `json:"created"`
	Updated    time.Time      `json:"updated"`
	Expires    time.Time      `json:"expires,omitzero"`
	Origin     sequent.Origin `json:"origin,omitzero"`
	Demo       bool           `json:"demo,omitempty"`  // sequent demo has recorded it
	Fault      string         `json:"fault,omitempty"` // in which way it is not what was recorded; not in a list
}

func newSession(h *sequent.Header) Session {
	return Session{
		ID: string(h.ID), Title: h.Title, State: string(h.State), Dialect: h.Dialect, Conclusion: h.Conclusion, Thoughts: h.Len,
		Branches: h.Branches, Version: h.Version, Created: h.Created, Updated: h.Updated, Expires: h.Expires, Origin: h.Origin, Demo: h.Labels[sequent.LabelDemo] != "",
	}
}

// A Standing lists the thoughts that are not simply current.
type Standing struct {
	Superseded [][2]int `json:"superseded"` // each with the thought that holds instead
	GivenUp    []int    `json:"givenUp"`    // on a line that is rejected or undecided
	Disputed   []int    `json:"disputed"`
	Concluded  int      `json:"concluded,omitempty"`
}

// A Row is a thought.
type Row struct {
	Seq        int    `json:"seq"`
	Number     int    `json:"number"`
	Total      int    `json:"total,omitempty"`
	Branch     string `json:"branch,omitempty"`
	After      int    `json:"after,omitempty"`
	Supersedes int    `json:"supersedes,omitempty"`
	Revision   bool   `json:"revision,omitempty"`
	Last       bool   `json:"last,omitempty"` // the author said that no thought follows
	At         int64  `json:"at"`             // milliseconds since 1970
	Text       string `json:"text"`
	Note       string `json:"note,omitempty"`
}

// Limits of the rows of a document.
const (
	maxRows  = 1000
	maxTexts = 1 << 20 // bytes; one row may have more
)

// documentOf returns a session with the rows after thought seq, at most limit of them.
func documentOf(s *sequent.Session, seq, limit int) Document {
	h := s.Header()
	d := Document{Session: newSession(&h), Lines: append([]sequent.Line{}, s.Lines()...), Notes: append([]sequent.Note{}, s.Notes()...), Standing: standingOf(s), Rows: []Row{}}
	if f := s.Fault(); f != nil {
		d.Session.Fault = f.String()
	}
	size := 0
	for t := range s.Since(seq) {
		size += len(t.Text) + len(t.Note)
		if n := len(d.Rows); n == limit || n > 0 && size > maxTexts {
			d.More = true
			break
		}
		d.Rows = append(d.Rows, newRow(&t))
		seq = t.Seq
	}
	d.Position = position(s.Epoch(), seq)
	return d
}

func newRow(t *sequent.Thought) Row {
	return Row{
		Seq: t.Seq, Number: t.Number, Total: t.Total, Branch: t.Branch, After: t.After, Supersedes: t.Supersedes,
		Revision: t.Revision, Last: t.Final, At: t.At.UnixMilli(), Text: t.Text, Note: t.Note,
	}
}

func standingOf(s *sequent.Session) Standing {
	list := Standing{Superseded: [][2]int{}, GivenUp: []int{}, Disputed: []int{}}
	for i, st := range s.Standings() {
		switch st.State {
		case sequent.Superseded:
			list.Superseded = append(list.Superseded, [2]int{i + 1, st.By})
		case sequent.OnRejected, sequent.OnUndecided:
			list.GivenUp = append(list.GivenUp, i+1)
		case sequent.Disputed:
			list.Disputed = append(list.Disputed, i+1)
		case sequent.Concluded:
			list.Concluded = i + 1
		}
	}
	return list
}

// position returns the position of thought seq: the epoch of the session, which tells it
// from an earlier one with the same id, and the position in its log.
func position(epoch int64, seq int) string { return fmt.Sprintf("%d.%d", epoch, seq) }

// parsePosition reads what position returns. Empty means the beginning of any session.
func parsePosition(text string) (epoch int64, seq int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	before, after, _ := strings.Cut(text, ".")
	epoch, err1 := strconv.ParseInt(before, 10, 64)
	seq, err2 := strconv.Atoi(after)
	if err1 != nil || err2 != nil || seq < 0 {
		return 0, 0, invalid("after", "must be a position from an earlier reply")
	}
	return epoch, seq, nil
}

package web

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A Document is a session as pages and programs read it: what it is, and a window of its log.
type Document struct {
	Session  sequent.Header `json:"session"`
	Fault    string         `json:"fault,omitempty"` // in which way it is not what was recorded
	Lines    []sequent.Line `json:"lines"`
	Notes    []sequent.Note `json:"notes"`
	Standing Standing       `json:"standing"`
	Rows     []Row          `json:"rows"`
	Position string         `json:"position"` // after the last row
	More     bool           `json:"more"`     // there are rows after it
}

// listed returns a header without what is for dialects, and perhaps long.
func listed(h sequent.Header) sequent.Header {
	demo := h.Labels[sequent.LabelDemo]
	h.Scope, h.Request, h.Labels = "", sequent.Request{}, nil
	if demo != "" {
		h.Labels = map[string]string{sequent.LabelDemo: demo}
	}
	return h
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
	d := Document{
		Session: listed(s.Header()), Lines: append([]sequent.Line{}, s.Lines()...), Notes: append([]sequent.Note{}, s.Notes()...),
		Standing: standingOf(s), Rows: []Row{},
	}
	if f := s.Fault(); f != nil {
		d.Fault = f.String()
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

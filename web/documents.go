package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// A Session is a session in a list, and the head of a page.
type Session struct {
	ID         string          `json:"id"`
	Title      string          `json:"title"`
	State      string          `json:"state"`
	Dialect    string          `json:"dialect,omitempty"`
	Conclusion string          `json:"conclusion,omitempty"`
	Thoughts   int             `json:"thoughts"`
	Branches   int             `json:"branches"`
	Created    time.Time       `json:"created"`
	Updated    time.Time       `json:"updated"`
	Expires    time.Time       `json:"expires,omitzero"`
	Position   string          `json:"position"` // of all thoughts; see Row
	Context    sequent.Context `json:"context,omitzero"`
}

func newSession(h *sequent.Header) Session {
	return Session{
		ID: string(h.ID), Title: h.Title, State: string(h.State), Dialect: h.Dialect, Conclusion: h.Conclusion,
		Thoughts: h.Len, Branches: h.Branches, Created: h.Created, Updated: h.Updated, Expires: h.Expires,
		Position: position(h.Epoch, h.Len), Context: h.Context,
	}
}

// A Line is a branch, or the main line, whose name is empty.
type Line struct {
	Name    string `json:"name"`
	Origin  int    `json:"origin,omitempty"`  // Seq of the thought at which it leaves its parent; 0 for none
	First   int    `json:"first"`             // Seq of its first thought
	Last    int    `json:"last"`              // Seq of its last thought
	Verdict string `json:"verdict,omitempty"` // chosen or rejected, by the thought By
	By      int    `json:"by,omitempty"`
	Left    bool   `json:"left,omitempty"` // nobody is expected to go on with it
}

// A Note is what a person has said about a thought.
type Note struct {
	Seq  int       `json:"seq"`
	Kind string    `json:"kind"` // remark, wrong or approve
	Text string    `json:"text,omitempty"`
	From string    `json:"from,omitempty"`
	At   time.Time `json:"at"`
}

func newNote(n sequent.Note) Note {
	return Note{Seq: n.Seq, Kind: string(n.Kind), Text: n.Text, From: n.From, At: n.At}
}

// A Standing lists the thoughts that are not simply current.
type Standing struct {
	Superseded [][2]int `json:"superseded"` // each with the thought that holds instead
	Left       []int    `json:"left"`
	Disputed   []int    `json:"disputed"`
	Concluded  int      `json:"concluded,omitempty"`
}

// A Row is a thought without its text.
type Row struct {
	Seq        int    `json:"seq"`
	Number     int    `json:"number"`
	Branch     string `json:"branch,omitempty"`
	After      int    `json:"after,omitempty"`
	Supersedes int    `json:"supersedes,omitempty"`
	Revision   bool   `json:"revision,omitempty"`
	Last       bool   `json:"last,omitempty"` // the author said that no thought follows
	At         int64  `json:"at"`             // milliseconds since 1970
	Head       string `json:"head"`           // first sentence, at most 96 characters
	Size       int    `json:"size"`           // bytes of the text
}

func newRow(t *sequent.Thought) Row {
	return Row{
		Seq: t.Seq, Number: t.Number, Branch: t.Branch, After: t.After, Supersedes: t.Supersedes,
		Revision: t.Revision, Last: !t.More, At: t.At.UnixMilli(), Head: head(t.Text), Size: len(t.Text),
	}
}

// headSize is the maximum number of characters of the beginning of a text.
const headSize = 96

// head returns the first sentence of a text on one line, shortened to headSize characters.
func head(text string) string {
	var b strings.Builder
	n, space := 0, false
	for i, r := range text {
		if unicode.IsSpace(r) {
			space = n > 0
			continue
		}
		if space {
			if last, _ := utf8.DecodeLastRuneInString(b.String()); n >= 24 && (last == '.' || last == '!' || last == '?') {
				return b.String()
			}
			b.WriteByte(' ')
			n, space = n+1, false
		}
		if n++; n >= headSize && len(text)-i > utf8.RuneLen(r) {
			return b.String() + "…"
		}
		b.WriteRune(r)
	}
	return b.String()
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

// A Text is what a Row lacks of a thought.
type Text struct {
	Seq      int    `json:"seq"`
	Text     string `json:"text"`
	Note     string `json:"note,omitempty"`
	Total    int    `json:"total"`
	At       string `json:"at"`
	Revises  *int   `json:"revises,omitempty"` // the author's number
	From     *int   `json:"from,omitempty"`    // the author's number
	Position string `json:"position"`
}

// A ChainStep is a thought of the chain that a line stands for.
type ChainStep struct {
	Seq      int   `json:"seq"`
	Place    int   `json:"place"`              // number of the first thought that it replaces, otherwise its own
	Replaced []int `json:"replaced,omitempty"` // Seqs of the thoughts it replaced
}

// A Hit is a thought that a search found.
type Hit struct {
	Session string  `json:"session"`
	Title   string  `json:"title"`
	Seq     int     `json:"seq"`
	Number  int     `json:"number"`
	Branch  string  `json:"branch,omitempty"`
	Excerpt string  `json:"excerpt"`
	Score   float64 `json:"score"`
	At      int64   `json:"at"`
	State   string  `json:"state"`        // of the session
	Holds   string  `json:"standing"`     // current, superseded, left, disputed or concluded
	By      int     `json:"by,omitempty"` // Seq of the thought that holds instead
}

// A State describes a session: its lines, its notes, and which thoughts still hold.
type State struct {
	Session  Session  `json:"session"`
	Lines    []Line   `json:"lines"`
	Notes    []Note   `json:"notes"`
	Standing Standing `json:"standing"`
}

func stateOf(s *sequent.Session) State {
	h, notes := s.Header(), []Note{}
	for _, n := range s.Notes() {
		notes = append(notes, newNote(n))
	}
	return State{newSession(&h), linesOf(s), notes, standingOf(s)}
}

func newText(t *sequent.Thought, epoch int64) Text {
	return Text{
		Seq: t.Seq, Text: t.Text, Note: t.Note, Total: t.Total, At: t.At.Format(time.RFC3339Nano),
		Revises: number(t.Revises), From: number(t.From), Position: position(epoch, t.Seq),
	}
}

// chainOf returns the effective chain of a line.
func chainOf(s *sequent.Session, line string) []ChainStep {
	steps := []ChainStep{}
	for _, step := range s.Effective(line) {
		steps = append(steps, ChainStep{Seq: step.Seq, Place: step.Place, Replaced: step.Replaced})
	}
	return steps
}

// treeOf returns the thoughts in reading order, each as its Seq and its depth.
func treeOf(s *sequent.Session) [][2]int {
	entries := s.Outline()
	list := make([][2]int, len(entries))
	for i := range entries {
		list[i] = [2]int{entries[i].Seq, entries[i].Depth}
	}
	return list
}

func standingOf(s *sequent.Session) Standing {
	list := Standing{Superseded: [][2]int{}, Left: []int{}, Disputed: []int{}}
	for i, st := range s.Standings() {
		switch st.State {
		case sequent.Superseded:
			list.Superseded = append(list.Superseded, [2]int{i + 1, st.By})
		case sequent.Left:
			list.Left = append(list.Left, i+1)
		case sequent.Disputed:
			list.Disputed = append(list.Disputed, i+1)
		case sequent.Concluded:
			list.Concluded = i + 1
		}
	}
	return list
}

func linesOf(s *sequent.Session) []Line {
	lines := []Line{}
	for _, l := range s.Lines() {
		lines = append(lines, Line{
			Name: l.Label, Origin: l.Origin, First: l.First, Last: l.Last, Verdict: string(l.Verdict), By: l.By, Left: l.Left,
		})
	}
	return lines
}

func number(r sequent.Ref) *int {
	if n, ok := r.Number(); ok {
		return &n
	}
	return nil
}

package brief

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A Gist is what a session is about, each text on one line.
type Gist struct {
	Asked      string `json:"asked,omitempty"`      // the problem as it was first put
	Now        string `json:"now,omitempty"`        // name and text of the thought that replaces the first one
	Conclusion string `json:"conclusion,omitempty"` // empty while the session is unfinished
}

// About returns the gist of a session, at most the given number of bytes of each text. It leaves out
// what the thought with the Seq beside says, which the caller shows; 0 is no thought.
func About(s *sequent.Session, beside, bytes int) (g Gist) {
	asked, now := s.Asked()
	first, _ := s.At(1)
	if beside != 1 || asked != first.Text {
		g.Asked = Lead(asked, bytes)
	}
	if now.Seq != beside {
		g.Now = named(now, bytes)
	}
	switch last, ok := s.Last(); {
	case s.Conclusion() != "":
		g.Conclusion = Lead(s.Conclusion(), bytes)
	case ok && s.State() == sequent.Completed && last.Seq != beside:
		g.Conclusion = named(last, bytes)
	}
	return g
}

// Lines returns the texts that the gist has, each after what it is: "asked: …".
func (g Gist) Lines() (lines []string) {
	for _, l := range [][2]string{{"asked: ", g.Asked}, {"now: ", g.Now}, {"conclusion: ", g.Conclusion}} {
		if l[1] != "" {
			lines = append(lines, l[0]+l[1])
		}
	}
	return lines
}

// named returns the name of a thought and the beginning of its text; empty for the zero Thought.
func named(t sequent.Thought, bytes int) string {
	if t.Seq == 0 {
		return ""
	}
	return strings.TrimRight(Name(t)+" "+Lead(t.Text, bytes), " ")
}

// The unfinished sessions of a project, as [Unfinished] shows them.
const (
	maxUnfinished = 3
	maxTail       = 3   // thoughts of each
	tailBytes     = 160 // of each text
)

// Unfinished returns what is unfinished among the hundred latest sessions of a project, or of all if it is
// empty: at most three, newest first, each as [Tail] shows it, in at most the given number of bytes.
func Unfinished(ctx context.Context, e *sequent.Engine, project string, bytes int) (lines []string, ids []sequent.ID, err error) {
	found, err := e.Sessions(ctx, sequent.Query{Project: project})
	if err != nil {
		return nil, nil, err
	}
	for _, h := range found.Headers {
		if !h.State.Unfinished() || h.Len == 0 || h.Labels[sequent.LabelDemo] != "" {
			continue
		}
		s, err := e.Session(ctx, h.ID)
		switch {
		case sequent.CodeOf(err) == sequent.CodeSessionNotFound:
			continue // deleted meanwhile
		case err != nil:
			return nil, nil, err
		}
		text := Tail(s, min(tailBytes, bytes/(maxTail+2)))
		if len(strings.Join(text, "\n")) >= bytes {
			text = text[:1] // long names; the line of the session says enough to ask for it
		}
		if bytes -= len(strings.Join(text, "\n")) + 1; bytes < 0 {
			break
		}
		lines, ids = append(lines, text...), append(ids, h.ID)
		if len(ids) == maxUnfinished {
			break
		}
	}
	return lines, ids, nil
}

// Tail returns the line of a session in a list. If it is unfinished, lines follow with what its first thought was
// revised to and its last three thoughts that hold, at most the given number of bytes of each.
func Tail(s *sequent.Session, bytes int) []string {
	lines := []string{Row(s.Header())}
	if !s.State().Unfinished() {
		return lines
	}
	_, now := s.Asked()
	if now.Seq > 0 {
		lines = append(lines, "  now: "+named(now, bytes))
	}
	standings := s.Standings()
	at := len(lines)
	for seq := s.Len(); seq > 0 && len(lines) < at+maxTail; seq-- {
		st := standings[seq-1].State
		t, _ := s.At(seq)
		if st == sequent.Superseded || seq == now.Seq || t.Text == s.Title() { // the lines above have it
			continue
		}
		line := "  " + Name(t)
		if st.GivenUp() || st == sequent.Disputed {
			line += " (" + string(st) + ")"
		}
		lines = slices.Insert(lines, at, strings.TrimRight(line+" "+Lead(t.Text, bytes), " "))
	}
	return lines
}

// Minute is the layout of times for a model.
const Minute = "2006-01-02T15:04Z"

// Row returns the line of a session in a list for a model.
func Row(h sequent.Header) string {
	return fmt.Sprintf("%s %s, %s, %s: %s", h.ID, h.State, printable.Count(h.Len, "thought", "thoughts"), h.Updated.Format(Minute), h.Title)
}

// planAsked adds the problem as it was first put, and what was put in its place, unless the session
// has one thought, which the end shows. The first sentence of each is cut to a number of bytes.
func (w *writer) planAsked(bytes int) {
	problem, now := w.Session.Asked()
	first := w.log[0]
	switch {
	case problem == "" || w.shown[1] && problem == first.Text:
		return
	case problem != first.Text: // a title
		w.addAsked("asked:", problem, 0, bytes)
	case now.Seq > 0: // its beginning, which does not hold any more
		w.addAsked("asked:", Lead(problem, bytes), 0, bytes)
	default:
		w.addAsked("asked"+w.mark(first)+":", problem, 1, bytes)
	}
	now.Supersedes, now.Revision = 0, false // "now" says so
	switch {
	case now.Seq == 0:
	case w.shown[now.Seq]:
		w.put(item{section: sectionAsked, head: "now: " + Name(now) + w.mark(now), pieces: []piece{{weight: weightAsked}}})
	default:
		w.addAsked("now: "+Name(now)+w.mark(now), now.Text, now.Seq, bytes)
	}
}

func (w *writer) addAsked(head, text string, seq, bytes int) {
	it := w.add(item{section: sectionAsked, head: head, seq: seq}, text, weightAsked, weightThought, 10)
	if first := &it.pieces[0]; len(first.text) > bytes {
		first.text = strings.TrimSuffix(Lead(first.text, bytes), gap)
		it.pieces = slices.Insert(it.pieces, 1, piece{weight: weightUnshown})
	}
}

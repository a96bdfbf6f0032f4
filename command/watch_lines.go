package command

import (
	"fmt"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/draw"
)

// A jsonWatched is a thought that was recorded just now in JSON output.
type jsonWatched struct {
	jsonThought
	Owner string `json:"owner,omitempty"` // of the session; empty for the local user
}

// line writes a thought on one line. Named means that the session is omitted.
func (p *program) line(k sequent.Key, t sequent.Thought, named bool) error {
	if p.json {
		return writeJSON(p.out, jsonWatched{newJSONThought(k.ID, t), k.Owner})
	}
	line, o := p.stamp(k, t.At, named)
	return p.print(draw.Cut(append(line, draw.Thought(t, o)...), o))
}

// notes writes what people have said about the thoughts of a session, without the first
// ones.
func (p *program) notes(s *sequent.Session, written int, named bool) error {
	notes := s.Notes()
	for _, n := range notes[min(written, len(notes)):] { // a store can go back to an earlier state
		t, _ := s.At(n.Seq)
		if err := p.noteLine(s.Key(), t, n, named); err != nil {
			return err
		}
	}
	return nil
}

// noteLine writes a note about a thought on one line.
func (p *program) noteLine(k sequent.Key, t sequent.Thought, n sequent.Note, named bool) error {
	if p.json {
		return writeJSON(p.out, newJSONNote(k, n))
	}
	line, o := p.stamp(k, n.At, named)
	line = append(line, draw.Span{Text: draw.One("note on "+brief.Note(t, n), o.Charset), Role: draw.Newest})
	return p.print(draw.Cut(line, o))
}

// stamp returns the beginning of a line with the time, and with the session unless the
// reader knows it.
func (p *program) stamp(k sequent.Key, at time.Time, named bool) (draw.Line, draw.Options) {
	o := p.drawing()
	if p.width == 0 && !isTerminal(p.out) {
		o.Width = 1 << 30 // do not truncate lines for a program or a file
	}
	line := draw.Line{{Text: at.Local().Format(time.TimeOnly) + " ", Role: draw.Meta}}
	if !named {
		line = append(line, draw.Span{Text: p.session(k) + " ", Role: draw.Meta})
	}
	return line, o
}

// session returns the id of a session, with its owner where those of several are shown.
func (p *program) session(k sequent.Key) string {
	name := draw.One(string(k.ID), p.charset())
	if p.allOwners && k.Owner != "" {
		name += " " + draw.One(k.Owner, p.charset())
	}
	return name
}

// drawingOf is drawing with the state of a plan that has failed.
func (p *program) drawingOf(s *sequent.Session) draw.Options {
	o := p.drawing()
	if p.failure(s) != "" {
		o.State = plan.Failed
	}
	return o
}

// failure says why the plan of a session has failed; empty if it has not.
func (p *program) failure(s *sequent.Session) string {
	st, ok := plan.StateOf(s)
	if !ok || st.State != plan.Failed {
		return ""
	}
	if st.Fault == nil {
		return "The plan failed."
	}
	return fmt.Sprintf("The phase %s failed: %s.", st.Fault.Phase, draw.One(st.Fault.Message, p.charset()))
}

// reportFailure writes that the plan of a session has failed, unless that is known.
// Named means that the session's id is omitted.
func (p *program) reportFailure(s *sequent.Session, known, named bool) error {
	line := p.failure(s)
	if line == "" || p.json || known {
		return nil
	}
	if !named {
		line = p.session(s.Key()) + " " + line
	}
	return p.print(draw.Line{{Text: s.Updated().Local().Format(time.TimeOnly) + " ", Role: draw.Meta}, {Text: line, Role: draw.Newest}})
}

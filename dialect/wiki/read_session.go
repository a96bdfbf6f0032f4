package wiki

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/assumption"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// session returns the session of a note, which the store may not have yet.
func (d *server) session(ctx context.Context, caller tool.Caller, v *Vault, id sequent.ID, n *vault.Note) (*sequent.Session, error) {
	s, err := d.engine.Owned(caller.Owner).Session(ctx, id)
	if err == nil || sequent.CodeOf(err) != sequent.CodeSessionNotFound || n == nil {
		return s, err
	}
	h, log, err := v.Sessions.FromNote(ctx, id, n)
	if err != nil {
		return nil, err
	}
	return d.trial(ctx, h, log)
}

// trial returns a session outside the store.
func (d *server) trial(ctx context.Context, h sequent.Header, log []sequent.Thought) (*sequent.Session, error) {
	if len(log) == 0 {
		return nil, sequent.ErrNotFound
	}
	e := sequent.New(sequent.Config{Now: d.engine.Now, Limits: d.engine.Limits()})
	if _, err := e.Restore(ctx, h, log); err != nil {
		return nil, err
	}
	return e.Session(ctx, h.ID)
}

// conclusion returns the conclusion of a session, as it is in the note: links in it follow
// moves. One that a person has deleted there comes from the log.
func conclusion(body string, s *sequent.Session) string {
	for _, p := range slices.Backward(edit.Sections(body)) {
		if p.Level == 2 && p.Heading == "Conclusion" {
			return strings.TrimSpace(body[p.Start:p.End])
		}
	}
	return s.Conclusion()
}

// thoughts returns the thoughts with a number, as they are in the note. Those that a
// person has deleted there come from the log.
func thoughts(body string, s *sequent.Session, number int) (string, error) {
	sections, marks := thinking.Sections(body), standings(s)
	var list []string
	var numbers []int
	for t := range s.All() {
		numbers = append(numbers, t.Number)
		if t.Number != number {
			continue
		}
		text := fmt.Sprintf("## Thought %d\n\n%s", t.Number, t.Text)
		if i := slices.IndexFunc(sections, func(p thinking.Section) bool { return p.Seq == t.Seq }); i >= 0 {
			text = strings.TrimSpace(body[sections[i].Start:sections[i].End])
		}
		if m := marks[t.Seq-1]; m != "" {
			text += "\n\n⚠️ " + m
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		return "", &refusal{"THOUGHT_NOT_FOUND", fmt.Sprintf("the session has no thought %d; its numbers are %d to %d", number, numbers[0], numbers[len(numbers)-1])}
	}
	return strings.Join(list, "\n\n"), nil
}

// marked returns the body of a session's note with a mark below the heading of each
// thought that no longer holds.
func marked(body string, s *sequent.Session) string {
	marks := standings(s)
	var b strings.Builder
	at := 0
	for _, p := range thinking.Sections(body) {
		if p.Seq < 1 || p.Seq > len(marks) || marks[p.Seq-1] == "" {
			continue
		}
		b.WriteString(body[at:p.Heading])
		fmt.Fprintf(&b, "\n⚠️ %s\n", marks[p.Seq-1])
		at = p.Heading
	}
	b.WriteString(body[at:])
	return strings.TrimSpace(b.String())
}

// standings says of each thought why it no longer holds; nothing of one that does.
func standings(s *sequent.Session) []string {
	list := s.Standings()
	marks := make([]string, len(list))
	for i, st := range list {
		switch st.State {
		case sequent.Superseded:
			by, _ := s.At(st.By)
			marks[i] = fmt.Sprintf("superseded by thought %s", nameOf(by))
		case sequent.Left:
			marks[i] = "on a branch that was left"
		case sequent.Disputed:
			marks[i] = "a person says that it is wrong"
		}
	}
	return marks
}

// nameOf names a thought: its number, and its branch unless that is the main line.
func nameOf(t sequent.Thought) string {
	if t.Branch == "" {
		return fmt.Sprint(t.Number)
	}
	return fmt.Sprintf("%d on branch %s", t.Number, oneLine(t.Branch))
}

// stateOf returns the state of a session as replies name it.
func stateOf(s *sequent.Session) string {
	switch s.State() {
	case sequent.Completed:
		return completed
	case sequent.Cancelled:
		return cancelled
	case sequent.Abandoned:
		return string(sequent.Abandoned)
	}
	return inProgress
}

// summary says how far a session is.
func summary(s *sequent.Session) string {
	text := fmt.Sprintf("%s, %s", stateOf(s), wording.Count(s.Len(), "thought", "thoughts"))
	lost := 0
	for _, m := range standings(s) {
		if m != "" {
			lost++
		}
	}
	if lost > 0 {
		text += fmt.Sprintf(", %d of them no longer hold", lost)
	}
	if b := s.Branches(); len(b) > 0 {
		text += "; " + branches(s)
	}
	return text
}

// branches names the branches of a session with their last thoughts.
func branches(s *sequent.Session) string {
	const most = 8
	all := s.Branches()
	var names []string
	for _, b := range all[:min(most, len(all))] {
		if t, ok := s.End(b); ok {
			names = append(names, fmt.Sprintf("%s (to thought %d)", oneLine(b), t.Number))
		}
	}
	text := "branches: " + strings.Join(names, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// across returns what a session and the ledger say of each other, a line each: the
// assumptions that were made in a session, or the session of an assumption.
func (d *server) across(ctx context.Context, caller tool.Caller, v *Vault, n *vault.Note, s *sequent.Session) []string {
	var lines []string
	if s != nil {
		for _, a := range d.assumptions(ctx, v, s) {
			if a.made {
				lines = append(lines, "Assumption "+a.line())
			}
		}
		if parent := s.Label(thinking.LabelParent); parent != "" {
			lines = append(lines, "Part of the workflow "+parent)
		}
		return lines
	}
	if !strings.HasPrefix(n.URI.Path(), assumption.Folder+"/") {
		return nil
	}
	return d.madeIn(ctx, caller, v, n.Front.Get("context"))
}

// madeIn returns lines about the sessions that the context of an assumption names.
func (d *server) madeIn(ctx context.Context, caller tool.Caller, v *Vault, where string) []string {
	const most = 3
	var lines []string
	for _, id := range thinking.IDs(where) {
		if len(lines) == most {
			break
		}
		uri, there, err := v.Sessions.Find(ctx, id)
		if err != nil || !there {
			continue
		}
		line := fmt.Sprintf("Made in the session %s", uri)
		if s, err := d.session(ctx, caller, v, id, nil); err == nil {
			line += fmt.Sprintf(" (%s): %s", stateOf(s), oneLine(s.Title()))
		}
		lines = append(lines, line)
	}
	return lines
}

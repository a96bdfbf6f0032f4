package status

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
)

// recent is the number of latest thoughts in a prompt.
const recent = 5

// system is the system prompt.
const system = `You write one step in a chain of thought. Somebody else decides which step comes next and may correct you.
Write that one step and nothing more: be precise and brief, build on the steps before instead of repeating them, and say what you are not sure of.
Answer with a JSON object that has the step in "thought" and, in "confidence", how sure you are that it is right, from 0 to 1.`

// user returns the prompt for a step of s.
func (st step) user(s *sequent.Session) string {
	var b strings.Builder
	problem, before := original(st.before(s))
	if st.Number == 1 {
		problem = st.Thought
		if !st.revises() && !st.branches() {
			before = nil // a new problem
		}
	}
	if problem != "" {
		fmt.Fprintf(&b, "The problem:\n%s\n\n", problem)
	}
	if revised, ok := st.revised(before); ok {
		fmt.Fprintf(&b, "The step that is to be corrected:\n%s\n\n", line(revised))
	}
	if last := before[max(0, len(before)-recent):]; len(last) > 0 {
		b.WriteString("The steps so far")
		if left := len(before) - len(last); left > 0 {
			fmt.Fprintf(&b, ", without the first %d", left)
		}
		b.WriteString(":\n")
		for _, t := range last {
			b.WriteString(line(t) + "\n")
		}
		b.WriteString("\n")
	}
	b.WriteString(st.task())
	if st.Number > 1 {
		fmt.Fprintf(&b, "\n\nGuidance for it:\n%s", st.Thought)
	}
	return b.String()
}

// task describes the step to write.
func (st step) task() string {
	which := fmt.Sprintf("step %d of about %d", st.Number, st.total())
	switch {
	case st.revises() && st.Revises > 0:
		return fmt.Sprintf("Write %s. It is a revision: it takes the place of step %d, and is right where that one was wrong.", which, st.Revises)
	case st.revises():
		return "Write " + which + ". It is a revision: it corrects what was wrong before."
	case st.branches():
		branch := "It is on a branch"
		if st.Branch != "" {
			branch += fmt.Sprintf(", %q", st.Branch)
		}
		if st.From > 0 {
			branch += fmt.Sprintf(", that leaves at step %d", st.From)
		}
		return "Write " + which + ". " + branch + ": go another way than the steps beside it."
	case st.Number == 1:
		return "Write " + which + ": what the problem comes down to, what makes it hard, and which ways there are to go about it."
	case !st.Next:
		return "Write " + which + ", the last one: settle the matter."
	}
	return "Write " + which + ", the next one."
}

// before returns the thoughts that lead to the step, oldest first.
func (st step) before(s *sequent.Session) []sequent.Thought {
	if _, begun := s.End(st.Branch); begun || st.Branch == "" {
		return s.Path(st.Branch)
	}
	origin, ok := s.Last()
	if st.From > 0 {
		origin, ok = s.FindBranchPoint(st.From)
	}
	if !ok {
		return s.Path("")
	}
	path := s.Path(origin.Branch)
	for i, t := range path {
		if t.Seq > origin.Seq {
			return path[:i]
		}
	}
	return path
}

// original returns the problem of a path, and the thoughts about it. The last thought
// with number 1 states the problem: in its note if a model wrote it, otherwise in its
// text.
func original(path []sequent.Thought) (problem string, on []sequent.Thought) {
	for i := len(path) - 1; i >= 0; i-- {
		switch t := path[i]; {
		case t.Number != 1:
		case t.Note != "":
			return t.Note, path[i:]
		default:
			return t.Text, path[i+1:]
		}
	}
	return "", path
}

// revised returns the thought that the step revises, unless the prompt has it anyway.
func (st step) revised(before []sequent.Thought) (sequent.Thought, bool) {
	if !st.revises() || st.Revises == 0 {
		return sequent.Thought{}, false
	}
	for i := len(before) - 1; i >= 0; i-- {
		if before[i].Number == st.Revises {
			return before[i], i < len(before)-recent
		}
	}
	return sequent.Thought{}, false
}

// line returns a thought as a line of the prompt.
func line(t sequent.Thought) string {
	s := fmt.Sprintf("[%d", t.Number)
	if k, ok := t.Revises.Number(); ok {
		s += fmt.Sprintf(", in place of %d", k)
	}
	return s + "] " + t.Text
}

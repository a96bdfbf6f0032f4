package wiki

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault"
)

// An answer is the reply to a thought.
type answer struct {
	Session sequent.ID `json:"sessionId"`
	Number  int        `json:"thoughtNumber"`
	Total   int        `json:"totalThoughts"`
	Status  string     `json:"status"`
	Next    bool       `json:"nextThoughtNeeded"`
	Branch  string     `json:"branchId,omitempty"`

	URI  vault.URI   `json:"uri,omitempty"`             // of the note, when the session begins or ends
	Open []vault.URI `json:"openAssumptions,omitempty"` // at the end

	begun   bool
	hints   []string // what there is to find, at a checkpoint
	ending  []string // lines about what the session leaves, at its end
	advices []string // further lines for the caller
}

// The states of a session in replies.
const (
	inProgress = "in_progress"
	completed  = "completed"
)

// A checkpoint reminds the model to search the vault. The text after it is that of the
// first one, and of a later one without a hint.
const (
	checkpoint = "💡 **CHECK YOUR MEMORY:** "
	howToCheck = "search_memories for what exists and build_context on [[WikiLinks]] | sync new findings to add them to the graph"
)

// answer returns the reply to the step, which is the last thought of s.
func (st *step) answer(s *sequent.Session) *answer {
	t, _ := s.Last()
	a := &answer{Session: s.ID(), Number: t.Number, Total: t.Total, Status: completed, Next: t.More, Branch: t.Branch, begun: st.Session == ""}
	switch {
	case st.Cancel:
		a.Status = cancelled
	case t.More:
		a.Status = inProgress
		if st.More {
			a.Total++
		}
		a.Total = max(a.Total, a.Number+1)
		if st.Conclusion != "" {
			a.advise("the conclusion was not recorded: it belongs to the last thought, with nextThoughtNeeded false")
		}
	default:
		a.Total = max(a.Total, a.Number)
		if len(st.lacks) > 0 {
			a.advise("the conclusion does not speak of %s; tell the user about that, and next time put it into the conclusion", list(st.lacks))
		}
	}
	return a
}

// advise adds a line to the reply.
func (a *answer) advise(format string, args ...any) {
	a.advices = append(a.advices, "⚠️ "+fmt.Sprintf(format, args...))
}

// unknown adds a warning about arguments that the contract does not have.
func (a *answer) unknown(names []string) {
	if len(names) > 0 {
		a.advise("unknown fields ignored: %s", strings.Join(names, ", "))
	}
}

func (a *answer) reply() tool.Reply {
	var b strings.Builder
	if a.begun {
		fmt.Fprintf(&b, "Created session: %s\n\n", a.Session)
	} else {
		fmt.Fprintf(&b, "Added thought %d to session: %s", a.Number, a.Session)
		if a.Branch != "" {
			fmt.Fprintf(&b, " (branch %s)", oneLine(a.Branch))
		}
		b.WriteString("\n\n")
	}
	switch a.Status {
	case cancelled:
		b.WriteString("❌ Thinking cancelled")
	case completed:
		b.WriteString("✅ Thinking complete")
	default:
		fmt.Fprintf(&b, "💭 Continue with thought %d/%d", a.Number+1, a.Total)
		if a.Branch != "" {
			fmt.Fprintf(&b, " on branch %s", oneLine(a.Branch))
		}
		a.writeCheckpoint(&b)
	}
	for _, line := range a.ending {
		b.WriteString("\n" + line)
	}
	if a.URI != "" {
		fmt.Fprintf(&b, "\n📄 %s", a.URI)
	}
	for _, line := range a.advices {
		b.WriteString("\n" + line)
	}
	r := tool.JSONReply(a)
	r.Text = b.String()
	return r
}

// writeCheckpoint writes a checkpoint after each third thought: the first one says how to
// find what exists, each says what there is.
func (a *answer) writeCheckpoint(b *strings.Builder) {
	if a.Number%checkpointEvery != 0 {
		return
	}
	found := strings.Join(a.hints, " | ")
	switch {
	case found == "":
		b.WriteString("\n" + checkpoint + howToCheck)
	case a.begun:
		b.WriteString("\n" + checkpoint + howToCheck + "\n💡 " + found)
	default:
		b.WriteString("\n" + checkpoint + found)
	}
}

// checkpointEvery is the number of thoughts between two checkpoints.
const checkpointEvery = 3

// list names parts for a sentence.
func list(lacks []part) string {
	names := make([]string, len(lacks))
	for i, p := range lacks {
		names[i] = p.String()
	}
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// keys names parts for a label.
func keys(lacks []part) string {
	names := make([]string, len(lacks))
	for i, p := range lacks {
		names[i] = p.key()
	}
	return strings.Join(names, ", ")
}

package wiki

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
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

	URI vault.URI `json:"uri,omitempty"` // of the note, when the session begins or ends

	begun   bool
	advices []string // further lines for the caller
}

// The states of a session in replies.
const (
	inProgress = "in_progress"
	completed  = string(sequent.Completed)
)

// answer returns the reply to the step, which is the last thought of s.
func (st *step) answer(s *sequent.Session) *answer {
	t, _ := s.Last()
	a := &answer{Session: s.ID(), Number: t.Number, Total: t.Total, Status: completed, Next: !t.Final, Branch: t.Branch, begun: st.Session == ""}
	switch {
	case st.Cancel:
		a.Status = cancelled
	case !t.Final:
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
			a.advise("the conclusion does not speak of %s; tell the user about that, and next time put it into the conclusion", list(st.lacks, part.named))
		}
	}
	return a
}

// advise adds a line to the reply.
func (a *answer) advise(format string, args ...any) {
	a.advices = append(a.advices, "⚠️ "+fmt.Sprintf(format, args...))
}

// write writes the text of the reply.
func (a *answer) write(t *turn, s *sequent.Session) {
	if a.begun {
		t.printf("Created session: %s\n\n", a.Session)
	} else {
		t.printf("Added thought %d to session: %s", a.Number, a.Session)
		if a.Branch != "" {
			t.printf(" (branch %s)", oneLine(a.Branch))
		}
		t.printf("\n\n")
	}
	switch a.Status {
	case cancelled:
		t.printf("❌ Thinking cancelled")
	case completed:
		t.printf("✅ Thinking complete")
		if len(s.Branches()) > 0 {
			t.linef("🌿 branches: %s", printable.Short(oneLine(strings.Join(s.Branches(), ", ")), 300))
		}
	default:
		t.printf("💭 Continue with thought %d/%d", a.Number+1, a.Total)
		if a.Branch != "" {
			t.printf(" on branch %s", oneLine(a.Branch))
		}
		if a.Number%checkpointEvery == 0 {
			t.linef("💡 **CHECK YOUR MEMORY:** search_memories for what exists and build_context on [[WikiLinks]] | sync new findings to add them to the graph")
		}
	}
	if a.URI != "" {
		t.linef("📄 %s", a.URI)
	}
	for _, line := range a.advices {
		t.linef("%s", line)
	}
}

// checkpointEvery is the number of thoughts between two checkpoints.
const checkpointEvery = 3

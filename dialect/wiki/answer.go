package wiki

import (
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
)

// An answer is the reply to a thought for a program.
type answer struct {
	Session sequent.ID `json:"sessionId"`
	Number  int        `json:"thoughtNumber"`
	Total   int        `json:"totalThoughts"`
	Status  string     `json:"status"`
	Next    bool       `json:"nextThoughtNeeded"`
	Branch  string     `json:"branchId,omitempty"`
	URI     vault.URI  `json:"uri,omitempty"` // of the note, when the session begins or ends
}

// checkpointEvery is the number of thoughts between two checkpoints.
const checkpointEvery = 3

// answer replies to a step, which is the last thought of s. The URI of its note is empty if
// that was not written.
func (t *turn) answer(s *sequent.Session, st *step, note vault.URI) {
	last, _ := s.Last()
	a := answer{
		Session: s.ID(), Number: last.Number, Total: max(last.Total, last.Number), Status: stateOf(s), Next: !last.Final, Branch: last.Branch,
	}
	if st.Session == "" {
		a.URI = note
		t.printf("Created session: %s\n\n", a.Session)
	} else {
		t.printf("Added thought %d to session: %s", a.Number, a.Session)
		if a.Branch != "" {
			t.printf(" (branch %s)", oneLine(a.Branch))
		}
		t.printf("\n\n")
	}
	switch {
	case st.Cancel:
		t.printf("❌ Thinking cancelled")
	case last.Final:
		a.URI = note
		t.printf("✅ Thinking complete")
		if len(s.Branches()) > 0 {
			t.linef("🌿 branches: %s", printable.Short(oneLine(strings.Join(s.Branches(), ", ")), 300))
		}
	default:
		if st.More {
			a.Total = last.Total + 1
		}
		a.Total = max(a.Total, a.Number+1)
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
	switch {
	case !last.Final && st.Conclusion != "":
		t.linef("⚠️ the conclusion was not recorded: it belongs to the last thought, with nextThoughtNeeded false")
	case len(st.lacks) > 0:
		t.linef("⚠️ the conclusion does not speak of %s; tell the user about that, and next time put it into the conclusion", strings.Join(st.lacks, ", "))
	}
	t.out = a
}

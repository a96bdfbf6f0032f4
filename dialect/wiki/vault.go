package wiki

import (
	"context"
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/assumption"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// A Vault is one owner's folder of notes and what works on it. All fields but ID
// are required.
type Vault struct {
	ID        string // distinguishes the vault from others; empty if unknown
	Notes     *vault.Vault
	Sessions  *thinking.Files
	Workflows *workflow.Workflows
	Ledger    *assumption.Ledger
	Editor    *edit.Editor
	Graph     Graph
}

// A Graph finds notes and the relations of concepts.
type Graph interface {
	// Search finds notes, best first. It finds what this process has written
	// before the call.
	Search(ctx context.Context, q index.Query) (index.Results, error)

	// Context returns the relations of a concept.
	Context(ctx context.Context, q index.ContextQuery) (index.Context, error)

	// Near returns the notes around a text. It finds what this process has written
	// before the call, except for the text's own note.
	Near(ctx context.Context, q index.NearQuery) (index.Near, error)

	// Sync brings sessions and their notes into agreement, and the index up to date
	// with all notes. It calls progress, unless that is nil.
	Sync(ctx context.Context, progress func(message string, done, total float64)) (SyncReport, error)
}

// A SyncReport is the result of Sync.
type SyncReport struct {
	index.Report
	Sessions int      `json:"sessions"` // whose note, or whose log, was repaired
	Problems []string `json:"problems"` // what could not be done, a sentence each
}

// isMissing reports whether an error means that a note does not exist or cannot.
func isMissing(err error) bool {
	code := sequent.CodeOf(err)
	return errors.Is(err, vault.ErrNotFound) || code == vault.CodeInvalidURI || code == vault.CodeNotANote
}

// project writes a session that has got a thought into its note. A failure is
// reported in the answer and does not undo the thought: a later call or sync
// writes the note.
func (d *server) project(ctx context.Context, v *Vault, opening error, s *sequent.Session, st *step, a *answer) {
	fail := func(what string, err error) {
		d.logger.WarnContext(ctx, "the thought is recorded, but its note was not written", "session", string(s.ID()), "note", what, "error", err)
		a.advise("the thought is recorded, but %s was not written (%s); sync makes up for it", what, reason(err))
	}
	if opening != nil {
		fail("its note", opening)
		return
	}
	if err := v.Sessions.Write(ctx, s); err != nil {
		fail("its note", err)
	}
	if st.Session == "" && st.Parent != "" {
		if err := v.Workflows.Link(ctx, st.Parent, string(s.ID())); err != nil {
			fail("the link in its workflow", err)
		}
	}
}

// reason returns what a caller may know of an error.
func reason(err error) string {
	r, fault := refuse(err)
	if fault != nil {
		return "see the server's log"
	}
	_, text, _ := strings.Cut(r.Text, ": ")
	_, text, _ = strings.Cut(text, ": ")
	return text
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

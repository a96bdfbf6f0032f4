package wiki

import (
	"context"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A Vault is one owner's folder of notes, as the dialect's tools need it.
// Errors of its parts are [*sequent.Error]s with codes of their own, which a
// caller sees in upper case; those for something that is not there match the
// sentinel that the method names.
type Vault struct {
	ID        string // what tells it from others; empty if that is not known
	Files     Files
	Parents   Parents
	Workflows Workflows
	Graph     Graph
	Ledger    Ledger
	Notes     Notes
}

// Files are the notes of sessions.
type Files interface {
	// Write brings a session's file in step with it.
	Write(ctx context.Context, s *sequent.Session) error

	// Session reads a session from its file, for the store to go on with. If
	// there is no such file, the error matches sequent.ErrNotFound.
	Session(ctx context.Context, id sequent.ID) (sequent.Header, []sequent.Thought, error)
}

// ErrNotFound is the sentinel for a note, workflow or assumption that does not
// exist.
var ErrNotFound = &sequent.Error{Code: "note_not_found"}

// isNone reports whether an error says that a note does not exist, or cannot.
func isNone(e *sequent.Error) bool {
	return e.Is(ErrNotFound) || e.Code == "invalid_uri" || e.Code == "not_a_note"
}

// project brings the files in step with a session that has just got a thought.
// What goes wrong with them is told and does not take the thought back: sync
// makes up for it.
func (d *server) project(ctx context.Context, v *Vault, opening error, s *sequent.Session, st *step, a *answer) {
	fail := func(what string, err error) {
		d.logger.WarnContext(ctx, "the thought is recorded, but its note was not written", "session", string(s.ID()), "note", what, "error", err)
		a.advise("the thought is recorded, but %s was not written (%s); sync makes up for it", what, reason(err))
	}
	if opening != nil {
		fail("its note", opening)
		return
	}
	if err := v.Files.Write(ctx, s); err != nil {
		fail("its note", err)
	}
	if st.Session == "" && st.Parent != "" {
		if err := v.Parents.Join(ctx, st.Parent, s.ID()); err != nil {
			fail("the link in its workflow", err)
		}
	}
}

// reason is what a caller may know of an error.
func reason(err error) string {
	r, fault := refuse(err)
	if fault != nil {
		return "see the server's log"
	}
	_, said, _ := strings.Cut(r.Text, ": ")
	_, said, _ = strings.Cut(said, ": ")
	return said
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

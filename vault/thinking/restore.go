package thinking

import (
	"cmp"
	"context"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// Dialect is the dialect of sessions that are read from notes.
const Dialect = "wiki"

// FromNote returns the session in a note, which may be of any vault, for
// [sequent.Engine.Restore].
func FromNote(ctx context.Context, id sequent.ID, n *vault.Note) (sequent.Header, []sequent.Entry, error) {
	h := header(id, &n.Front)
	if err := ownNote(&n.Front, id); err != nil {
		return h, nil, err
	}
	list, err := arrange(Sections(strings.ToValidUTF8(n.Body, "\uFFFD")))
	if err == nil && len(list) == 0 {
		err = noSession(id)
	}
	if err != nil {
		return h, nil, err
	}
	last := &list[len(list)-1].Draft
	last.Final = last.Final || h.State == sequent.Completed || h.State == sequent.Cancelled
	if h.State == sequent.Completed {
		h.Conclusion = last.Labels[LabelConclusion]
	}
	log, err := resolve(ctx, id, list)
	return h, sequent.Entries(log), err
}

// header returns the session header in front matter.
func header(id sequent.ID, front *vault.Front) sequent.Header {
	h := sequent.Header{
		Key: sequent.Key{ID: id}, Dialect: Dialect, State: sequent.Active, Labels: map[string]string{}, Created: front.Time(keyCreated),
	}
	for _, state := range closed {
		if strings.EqualFold(strings.TrimSpace(front.Get(keyStatus)), string(state)) {
			h.State = state
		}
	}
	for label, value := range map[string]string{
		LabelAnalysisType: front.Get(keyAnalysis),
		LabelParent:       strings.TrimPrefix(strings.Trim(strings.Join(front.List(keyParent), ""), "[]"), "workflow/"),
		LabelMissing:      strings.Join(front.List(keyMissing), ", "),
	} {
		if value != "" {
			h.Labels[label] = value
		}
	}
	return h
}

const (
	// lost replaces a thought that is not in the note.
	lost = "(This thought was deleted from the session's file, and the store does not have it.)"
	// maxLost limits such thoughts in a session.
	maxLost = 1_000
)

// arrange returns the sections of a note in the order of the log, one for each position,
// so that the restored log has the positions in the note. It leaves out sections without a
// position.
func arrange(list []Section) ([]Section, error) {
	last := 0
	at := make(map[int]Section)
	for _, s := range list {
		if _, twice := at[s.Seq]; !twice {
			at[s.Seq], last = s, max(last, s.Seq)
		}
	}
	if last > len(list)+maxLost {
		return nil, sequent.Errorf(sequent.CodeInvalidSession, "sessionId", "restore the file from a backup",
			"the session's file refers to %d thoughts and contains %d", last, len(list))
	}
	full := make([]Section, last)
	var before Section
	for i := range full {
		s, ok := at[i+1]
		if !ok {
			s.Draft = sequent.Draft{Text: lost, Number: before.Draft.Number + 1, Total: before.Draft.Total}
		}
		s.At = cmp.Or(s.At, before.At)
		full[i], before = s, s
	}
	return full, nil
}

// resolve returns the log of the sections of a note. It appends them with an engine, which
// resolves references.
func resolve(ctx context.Context, id sequent.ID, list []Section) ([]sequent.Thought, error) {
	trial := sequent.New(sequent.Config{Limits: sequent.Limits{Text: -1, Name: -1, Thoughts: -1, Branches: -1, Bytes: -1}})
	s, err := trial.Ensure(ctx, id, func(c *sequent.Change) error {
		for _, sec := range list {
			if _, err := c.Append(sec.Draft); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	log := s.Thoughts()
	for i := range log {
		log[i].At = list[i].At
	}
	return log, nil
}

package thinking

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// Dialect is the dialect of sessions that are read from notes.
const Dialect = "wiki"

// FromNote returns the session in a note, which may be of any vault, for
// [sequent.Engine.Restore].
func FromNote(ctx context.Context, id sequent.ID, n *vault.Note) (sequent.Header, []sequent.Entry, error) {
	h := header(id, n)
	if err := ownNote(&n.Front, id); err != nil {
		return h, nil, err
	}
	list, err := arrange(Sections(n.Body))
	if err != nil {
		return h, nil, err
	}
	if len(list) == 0 {
		return h, nil, noSession(id)
	}
	log, err := resolve(ctx, h, list)
	if err != nil {
		return h, nil, err
	}
	at := h.Created
	for i := range log {
		at = cmp.Or(list[i].At, at)
		log[i].At = at
	}
	if at.After(h.Updated) {
		h.Updated = at
	}
	if h.Created.After(h.Updated) {
		h.Created = h.Updated
	}
	if h.State == sequent.Completed {
		h.Conclusion = log[len(log)-1].Labels[LabelConclusion]
	}
	return h, sequent.Entries(log), nil
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
	slices.SortStableFunc(list, func(a, b Section) int { return a.Seq - b.Seq })
	found := len(list)
	var full []Section
	for _, s := range list {
		if s.Seq > found+maxLost {
			return nil, sequent.Errorf(sequent.CodeInvalidSession, "sessionId", "restore the file from a backup",
				"the session's file refers to %d thoughts and contains %d", s.Seq, found)
		}
		for len(full)+1 < s.Seq {
			gap := Section{Draft: sequent.Draft{Text: lost}}
			if len(full) > 0 {
				last := full[len(full)-1]
				gap.At, gap.Draft.Number, gap.Draft.Total = last.At, last.Draft.Number+1, last.Draft.Total
			}
			full = append(full, gap)
		}
		if s.Seq == len(full)+1 {
			full = append(full, s)
		}
	}
	return full, nil
}

// header returns the session header in front matter.
func header(id sequent.ID, n *vault.Note) sequent.Header {
	front := &n.Front
	h := sequent.Header{
		Key: sequent.Key{ID: id}, Dialect: Dialect, State: sequent.Active, Labels: map[string]string{},
		Created: cmp.Or(front.Time(keyCreated), begun(id)),
	}
	switch state := sequent.State(strings.ToLower(strings.TrimSpace(front.Get(keyStatus)))); state {
	case sequent.Completed:
		h.State, h.Updated = state, front.Time(keyCompleted)
	case sequent.Cancelled:
		h.State, h.Updated = state, front.Time(keyCancelled)
		h.Labels[LabelStatus] = string(state)
	case sequent.Abandoned:
		h.State = state
	}
	for label, value := range map[string]string{
		LabelAnalysisType: front.Get(keyAnalysis),
		LabelParent:       workflowID(strings.Join(front.List(keyParent), "")),
		LabelMissing:      strings.Join(front.List(keyMissing), ", "),
	} {
		if value != "" {
			h.Labels[label] = strings.ToValidUTF8(value, "\uFFFD")
		}
	}
	return h
}

// resolve returns the log of the sections of a note. It appends them with an engine, which
// resolves references.
func resolve(ctx context.Context, h sequent.Header, list []Section) ([]sequent.Thought, error) {
	trial := sequent.New(sequent.Config{Limits: sequent.Limits{Text: -1, Name: -1, Thoughts: -1, Branches: -1, Bytes: -1}})
	s, err := trial.Ensure(ctx, h.ID, func(c *sequent.Change) error {
		for i, sec := range list {
			d := valid(sec.Draft)
			if i == len(list)-1 && (h.State == sequent.Completed || h.State == sequent.Cancelled) {
				d.Final = true
			}
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.Thoughts(), nil
}

// valid returns a draft in valid UTF-8.
func valid(d sequent.Draft) sequent.Draft {
	clean := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
	d.Text, d.Note, d.Branch = clean(d.Text), clean(d.Note), clean(d.Branch)
	for k, v := range d.Labels {
		d.Labels[k] = clean(v)
	}
	return d
}

package thinking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// FromNote returns the session in a note, which may be of another vault.
func (f *Files) FromNote(ctx context.Context, id sequent.ID, n *vault.Note) (sequent.Header, []sequent.Thought, error) {
	if err := ownFile(&n.Front, id); err != nil {
		return sequent.Header{}, nil, err
	}
	list, err := arrange(parse(n.Body))
	if err != nil {
		return sequent.Header{}, nil, err
	}
	return f.replay(ctx, f.header(id, n), nil, list)
}

const (
	// lost replaces a thought that is neither in the file nor in the store.
	lost = "(This thought was deleted from the session's file, and the store does not have it.)"
	// maxLost limits such thoughts in a session.
	maxLost = 1_000
)

// arrange returns the sections of a file in the order of the log, one for each position,
// so that the restored log has the positions in the file. It leaves out incomplete
// sections and those without a position.
func arrange(list []fileSection) ([]fileSection, error) {
	list = slices.Clone(list)
	assignPositions(list)
	list = slices.DeleteFunc(list, func(s fileSection) bool { return s.Seq == 0 || !s.closed() })
	slices.SortStableFunc(list, func(a, b fileSection) int { return a.Seq - b.Seq })
	list = slices.CompactFunc(list, func(a, b fileSection) bool { return a.Seq == b.Seq })
	if n := len(list); n > 0 && list[n-1].Seq-n > maxLost {
		return nil, &sequent.Error{
			Code: sequent.CodeInvalidSession, Field: "sessionId",
			Msg: fmt.Sprintf("the session's file refers to %d thoughts and contains %d", list[n-1].Seq, n),
			Fix: "restore the file from a backup",
		}
	}
	var full []fileSection
	for _, s := range list {
		for len(full)+1 < s.Seq {
			gap := fileSection{Draft: sequent.Draft{Text: lost, More: true}, Seq: len(full) + 1}
			if len(full) > 0 {
				last := full[len(full)-1]
				gap.At, gap.Draft.Number, gap.Draft.Total = last.At, last.Draft.Number+1, last.Draft.Total
			}
			full = append(full, gap)
		}
		full = append(full, s)
	}
	return full, nil
}

// header returns the session header in front matter.
func (f *Files) header(id sequent.ID, n *vault.Note) sequent.Header {
	front := &n.Front
	h := sequent.Header{
		Key: sequent.Key{ID: id}, Dialect: f.dialect, State: sequent.Active, Labels: map[string]string{},
		Created: cmp.Or(timeIn(front, keyCreated), begun(id)),
	}
	switch strings.ToLower(strings.TrimSpace(front.Get(keyStatus))) {
	case string(sequent.Completed):
		h.State, h.Updated = sequent.Completed, timeIn(front, keyCompleted)
	case string(sequent.Cancelled):
		h.State, h.Updated = sequent.Cancelled, timeIn(front, keyCancelled)
		h.Labels[LabelStatus] = string(sequent.Cancelled)
	case string(sequent.Abandoned):
		h.State = sequent.Abandoned
	}
	for label, value := range map[string]string{
		LabelAnalysisType: front.Get(keyAnalysis),
		LabelParent:       workflowID(linkIn(front, keyParent)),
		LabelMissing:      strings.Join(front.List(keyMissing), ", "),
	} {
		if value != "" {
			h.Labels[label] = strings.ToValidUTF8(value, "\uFFFD")
		}
	}
	return h
}

func timeIn(f *vault.Front, key string) time.Time {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(form, f.Get(key)); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// replay returns a log with the sections of a file appended. It appends them with a
// temporary engine, which resolves references.
func (f *Files) replay(ctx context.Context, h sequent.Header, log []sequent.Thought, list []fileSection) (sequent.Header, []sequent.Thought, error) {
	trial := sequent.New(sequent.Config{Limits: sequent.Limits{Text: -1, Name: -1, Thoughts: -1, Branches: -1}})
	have := len(log)
	if have > 0 {
		if _, err := trial.Restore(ctx, h, log); err != nil {
			return h, nil, err
		}
	}
	s, err := trial.Ensure(ctx, h.ID, func(c *sequent.Change) error {
		for i, sec := range list {
			d := valid(sec.Draft)
			if last := i == len(list)-1; last && (h.State == sequent.Completed || h.State == sequent.Cancelled) {
				d.More = false
			}
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return h, nil, err
	}
	log = slices.AppendSeq(slices.Clip(log), s.Since(have))
	at := h.Created
	if have > 0 {
		at = log[have-1].At
	}
	for i := have; i < len(log); i++ {
		at = cmp.Or(list[i-have].At, at)
		log[i].At = at
	}
	if len(list) > 0 {
		if at.After(h.Updated) {
			h.Updated = at
		}
		if h.State == sequent.Completed {
			h.Conclusion = log[len(log)-1].Labels[LabelConclusion]
		}
	}
	if h.Created.After(h.Updated) && !h.Updated.IsZero() {
		h.Created = h.Updated
	}
	return h, log, nil
}

// valid returns a draft in valid UTF-8.
func valid(d sequent.Draft) sequent.Draft {
	clean := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
	d.Text, d.Note, d.Branch = clean(d.Text), clean(d.Note), clean(d.Branch)
	labels := make(map[string]string, len(d.Labels))
	for k, v := range d.Labels {
		labels[k] = clean(v)
	}
	d.Labels = labels
	return d
}

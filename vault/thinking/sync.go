package thinking

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A Report is the result of Sync.
type Report struct {
	Notes  int // that were created or changed
	Read   int // sessions that were read from notes
	Failed []Failure
}

// A Failure is a note or a session that cannot be read or written.
type Failure struct {
	URI vault.URI // of the note, which may be missing
	Err error
}

func (r *Report) fail(uri vault.URI, err error) {
	if err != nil {
		r.Failed = append(r.Failed, Failure{uri, err})
	}
}

// Sync writes notes that are behind their sessions. With rebuild, it first reads sessions,
// and last thoughts of sessions, that the store does not have, from notes; in a vault
// without notes of sessions, all sessions of the Dialect get one.
//
// A person's edits stay. Sync is idempotent, and other processes may write sessions at the
// same time.
func (f *Files) Sync(ctx context.Context, engine *sequent.Engine, rebuild bool) (r Report, err error) {
	notes := make(map[sequent.ID]vault.URI)
	for info, err := range f.vault.Walk(ctx, Folder) {
		id := sequent.ID(info.URI.Name())
		if _, twice := notes[id]; err != nil {
			r.fail("memory://"+Folder, err)
		} else if ValidID(id) && (!twice || info.URI.Path() == Folder+"/"+string(id)+".md") { // the one that Find finds
			notes[id] = info.URI
		}
	}
	if rebuild {
		for id, uri := range notes {
			r.fail(uri, f.read(ctx, engine, id, uri, &r))
		}
	}
	for h, err := range engine.AllSessions(ctx, sequent.Query{ByCreated: true}) {
		if err != nil {
			return r, err
		}
		uri, noted := notes[h.ID]
		lost := rebuild && len(notes) == 0 && h.Dialect == Dialect
		if !noted && (!ValidID(h.ID) || h.Labels[LabelVault] != f.id && !lost) {
			continue
		}
		switch err := f.catchUp(ctx, engine, h, uri, &r); sequent.CodeOf(err) {
		case vault.CodeReadOnly, vault.CodeFull:
			return r, err // all further notes would fail too
		default:
			r.fail(uri, err)
		}
	}
	if ctx.Err() != nil {
		err = &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled; the sessions synced so far stay synced", Err: ctx.Err()}
	}
	return r, err
}

// read stores what a note has of a session and the store has not.
func (f *Files) read(ctx context.Context, engine *sequent.Engine, id sequent.ID, uri vault.URI, r *Report) error {
	n, err := f.vault.Read(ctx, uri)
	if err != nil {
		return err
	}
	h, entries, err := FromNote(ctx, id, n)
	if errors.Is(err, sequent.ErrNotFound) { // another note with the name of a session
		return nil
	}
	if err != nil {
		return err
	}
	s, err := engine.Session(ctx, id)
	switch {
	case err == nil && len(entries) <= s.Len():
		return nil
	case err == nil:
		entries = sequent.Entries(append(s.Thoughts(), sequent.Thoughts(entries[s.Len():])...))
		longer := s.Header()
		longer.State, longer.Conclusion, longer.Updated = h.State, h.Conclusion, time.Time{}
		labels := make(map[string]string)
		maps.Copy(labels, longer.Labels)
		maps.Copy(labels, h.Labels)
		longer.Labels = labels
		h = longer
	case !errors.Is(err, sequent.ErrNotFound):
		return err
	}
	outcome, err := engine.Restore(ctx, h, entries)
	if outcome != sequent.RestoredNothing {
		r.Read++
	}
	return err
}

// catchUp writes the note of a session, unless the note has the session's state. The URI is
// empty if there is no note.
func (f *Files) catchUp(ctx context.Context, engine *sequent.Engine, h sequent.Header, uri vault.URI, r *Report) error {
	var damaged error
	if uri != "" {
		n, err := f.vault.Read(ctx, uri)
		if err != nil || !behind(&n.Front, h) {
			return err
		}
		damaged = n.Front.Err()
	}
	s, err := engine.Session(ctx, h.ID)
	if err == nil {
		_, err = f.Write(ctx, s)
	}
	if err == nil {
		r.Notes++
	}
	if errors.Is(err, sequent.ErrNotFound) || errors.Is(err, vault.ErrNotFound) {
		return nil // deleted or moved since
	}
	return cmp.Or(err, damaged)
}

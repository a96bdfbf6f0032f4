package thinking

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A Store holds the sessions. [sequent.Engine] implements it.
type Store interface {
	Session(ctx context.Context, id sequent.ID) (*sequent.Session, error)
	AllSessions(ctx context.Context, q sequent.Query) iter.Seq2[sequent.Header, error]
	Restore(ctx context.Context, h sequent.Header, entries []sequent.Entry) (sequent.Restored, error)
}

// Options configure Sync. The zero Options write what a crash has left unwritten.
type Options struct {
	// Rebuild also reads sessions, and last thoughts of sessions, that the store does not
	// have, from notes, and restores thoughts that were deleted from notes. In a vault
	// without notes of sessions, all sessions of the Dialect get one.
	Rebuild bool
	// Progress is called after each session, unless it is nil.
	Progress func(done, total int)
}

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

// Sync writes notes that are behind their sessions; see [Options] for what else it does. A
// person's edits stay. It is idempotent, and other processes may write sessions at the same
// time.
func (f *Files) Sync(ctx context.Context, store Store, opts Options) (Report, error) {
	var r Report
	list, err := f.sessions(ctx, store, opts, &r)
	for i, p := range list {
		if err == nil && ctx.Err() != nil {
			err = &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled; the sessions synced so far stay synced", Err: ctx.Err()}
		}
		if err != nil {
			break
		}
		switch failed := f.sync(ctx, store, p, opts, &r); sequent.CodeOf(failed) {
		case vault.CodeReadOnly, vault.CodeFull, sequent.CodeFull:
			err = failed // all further sessions would fail too
		default:
			if failed != nil {
				r.Failed = append(r.Failed, Failure{p.uri, failed})
			}
		}
		if opts.Progress != nil {
			opts.Progress(i+1, len(list))
		}
	}
	return r, err
}

// A sessionNote is a session and its note.
type sessionNote struct {
	id     sequent.ID
	uri    vault.URI
	noted  bool            // there is a note
	header *sequent.Header // nil if the store does not have the session
}

// sessions returns the sessions that have a note or should have one.
func (f *Files) sessions(ctx context.Context, store Store, opts Options, r *Report) ([]sessionNote, error) {
	var list []sessionNote
	at := map[sequent.ID]int{}
	for info, err := range f.vault.WalkFolder(ctx, Folder) {
		id := sequent.ID(info.URI.Name())
		i, twice := at[id]
		switch {
		case sequent.CodeOf(err) == sequent.CodeCanceled:
			return nil, err
		case err != nil:
			r.Failed = append(r.Failed, Failure{"memory://" + Folder, err})
		case twice && info.URI.Path() == flat(id): // the one that Find finds
			list[i].uri = info.URI
		case !twice && ValidID(id):
			at[id] = len(list)
			list = append(list, sessionNote{id: id, uri: info.URI, noted: true})
		}
	}
	lost := opts.Rebuild && len(list) == 0
	for h, err := range store.AllSessions(ctx, sequent.Query{ByCreated: true}) {
		if err != nil {
			return nil, err
		}
		if i, ok := at[h.ID]; ok {
			list[i].header = &h
		} else if ValidID(h.ID) && (h.Labels[LabelVault] == f.id || lost && h.Dialect == Dialect) {
			uri, err := vault.PathURI(flat(h.ID))
			if err != nil {
				return nil, err
			}
			list = append(list, sessionNote{id: h.ID, uri: uri, header: &h})
		}
	}
	return list, nil
}

// sync brings one session and its note into agreement.
func (f *Files) sync(ctx context.Context, store Store, p sessionNote, opts Options, r *Report) error {
	var damaged error
	if p.noted {
		n, err := f.vault.Read(ctx, p.uri)
		if errors.Is(err, vault.ErrNotFound) {
			return nil // deleted or moved since
		}
		if err != nil {
			return err
		}
		some := slices.ContainsFunc(Sections(n.Body), func(s Section) bool { return s.Seq > 0 })
		damaged = n.Front.Err()
		switch {
		case p.header == nil && !some: // another note with the name of a session
			return nil
		case opts.Rebuild && some:
			if err := f.read(ctx, store, p, n, r); err != nil {
				return err
			}
		case !opts.Rebuild && (p.header == nil || !behind(&n.Front, *p.header)):
			return nil
		}
	}
	s, err := store.Session(ctx, p.id)
	if errors.Is(err, sequent.ErrNotFound) {
		return nil // deleted since
	}
	if err != nil {
		return err
	}
	_, wrote, err := f.write(ctx, s, opts.Rebuild)
	if wrote {
		r.Notes++
	}
	return cmp.Or(err, damaged)
}

// read stores what a note has of a session and the store has not.
func (f *Files) read(ctx context.Context, store Store, p sessionNote, n *vault.Note, r *Report) error {
	h, entries, err := FromNote(ctx, p.id, n)
	if err != nil {
		return err
	}
	if p.header != nil {
		s, err := store.Session(ctx, p.id)
		if err != nil || len(entries) <= s.Len() {
			return err
		}
		log := s.Thoughts()
		for _, e := range entries[s.Len():] {
			log = append(log, e.Thought)
		}
		entries = sequent.Entries(log)
		labels := s.Labels()
		maps.Copy(labels, h.Labels)
		h.Created, h.Title, h.Scope, h.Dialect, h.Expires, h.Origin, h.Labels =
			s.Created(), s.Title(), s.Scope(), s.Dialect(), s.Expires(), s.Origin(), labels
	}
	outcome, err := store.Restore(ctx, h, entries)
	if outcome != sequent.RestoredNothing {
		r.Read++
	}
	return err
}

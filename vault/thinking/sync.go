package thinking

import (
	"context"
	"errors"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// Options configure Sync. The zero Options repair the effects of a crash.
type Options struct {
	// RestoreDeleted restores the sections that were deleted from files. It reads
	// every file. Without it, Sync skips files that have not changed since they were
	// written.
	RestoreDeleted bool
	// Progress is called after each session, unless it is nil.
	Progress func(done, total int)
}

// A Report is the result of Sync.
type Report struct {
	Sessions int       // that were compared
	Files    int       // that were created or changed
	Thoughts int       // sections that were written
	Adopted  int       // sessions that were restored or extended from files
	Left     []Finding // problems of the files that were read and not changed
}

// Sync brings store and vault into agreement, in both directions: files get missing
// sections, and the store gets sessions, and last thoughts of sessions, that it does not
// have. A person's edits stay. They are in the report, like sessions and files that
// cannot be read or written. Sync is idempotent.
//
// Other processes may write sessions at the same time.
func (f *Files) Sync(ctx context.Context, store Store, opts Options) (Report, error) {
	list, findings, err := f.sessionFiles(ctx, store)
	if err != nil {
		return Report{}, err
	}
	r := Report{Left: findings}
	for i, p := range list {
		if err := ctx.Err(); err != nil {
			return r, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled; the sessions synced so far stay synced", Err: err}
		}
		r.Sessions++
		if opts.RestoreDeleted || !f.upToDate(ctx, p) {
			if err := f.sync(ctx, store, p, opts, &r); err != nil {
				if code := sequent.CodeOf(err); code == vault.CodeReadOnly || code == vault.CodeFull || code == sequent.CodeFull {
					return r, err // all further sessions would fail too
				}
				r.Left = append(r.Left, Finding{Session: p.id, URI: p.uri, Problem: Failed, Err: err})
			}
		}
		if opts.Progress != nil {
			opts.Progress(i+1, len(list))
		}
	}
	return r, nil
}

// upToDate reports whether neither the session nor the file has changed since the file was
// written.
func (f *Files) upToDate(ctx context.Context, p sessionFile) bool {
	if p.header == nil || p.info.URI == "" {
		return false
	}
	m := f.readMark(ctx, p.id)
	return m.fits(p.info, p.header.Epoch) && m.Version == p.header.Version
}

// sync brings one session and its file into agreement.
func (f *Files) sync(ctx context.Context, store Store, p sessionFile, opts Options, r *Report) error {
	return f.vault.Hold(ctx, p.uri, func(h *vault.Held) error {
		// The file is read first: it is locked, and what it has, the store had before.
		n, err := h.Read()
		if err != nil && !errors.Is(err, vault.ErrNotFound) {
			return err
		}
		s, err := store.Session(ctx, p.id)
		switch {
		case errors.Is(err, sequent.ErrNotFound) && (n == nil || !hasSections(n)):
			return nil
		case errors.Is(err, sequent.ErrNotFound):
			if s, err = f.adopt(ctx, store, p.id, n); err == nil {
				r.Adopted++
			}
		}
		if err != nil {
			return err
		}
		m := f.readMark(ctx, p.id)
		if n != nil {
			c, err := compare(n, s, m)
			if err != nil {
				return err
			}
			if len(c.ahead) > 0 {
				if s, err = f.addThoughts(ctx, store, s, n, c.ahead); err != nil {
					return err
				}
				r.Adopted++
			}
			for _, finding := range c.findings(p) {
				if !finding.Problem.Repairable() && !(opts.RestoreDeleted && finding.Problem == Deleted) {
					r.Left = append(r.Left, finding)
				}
			}
		}
		w := writer{files: f, held: h, session: s, mark: m, restoreDeleted: opts.RestoreDeleted}
		if err := w.write(); err != nil {
			return err
		}
		r.Thoughts += w.appended
		if w.changed {
			r.Files++
		}
		return nil
	})
}

// hasSections reports whether a note contains thoughts of a session.
func hasSections(n *vault.Note) bool {
	return slices.ContainsFunc(parse(n.Body), func(s fileSection) bool { return s.closed() })
}

// adopt restores a session into the store.
func (f *Files) adopt(ctx context.Context, store Store, id sequent.ID, n *vault.Note) (*sequent.Session, error) {
	h, log, err := f.FromNote(ctx, id, n)
	if err != nil {
		return nil, err
	}
	if _, err := store.Restore(ctx, h, log); err != nil {
		return nil, err
	}
	return store.Session(ctx, id)
}

// addThoughts appends the thoughts of a file to a session in the store.
func (f *Files) addThoughts(ctx context.Context, store Store, s *sequent.Session, n *vault.Note, list []fileSection) (*sequent.Session, error) {
	var log []sequent.Thought
	for t := range s.All() {
		log = append(log, t)
	}
	h := f.header(s.ID(), n)
	h.Created, h.Title, h.Scope, h.Dialect, h.Expires = s.Created(), s.Title(), s.Scope(), s.Dialect(), s.Expires()
	for label, value := range s.Labels() {
		if _, ok := h.Labels[label]; !ok && label != LabelStatus && label != LabelMissing {
			h.Labels[label] = value
		}
	}
	h, log, err := f.replay(ctx, h, log, list)
	if err != nil {
		return nil, err
	}
	if _, err := store.Restore(ctx, h, log); err != nil {
		return nil, err
	}
	return store.Session(ctx, s.ID())
}

package thinking

import (
	"context"
	"errors"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// Options say how to bring store and vault in step. The zero Options mend what a
// crash leaves behind.
type Options struct {
	// RestoreDeleted brings back the sections that were deleted from files. It
	// looks into every file; without it, those are passed over that have not
	// changed since they were written.
	RestoreDeleted bool
	// Progress is called after each session, if it is not nil.
	Progress func(done, total int)
}

// A Report tells what a sync has done.
type Report struct {
	Sessions int       // that were looked at
	Files    int       // that were changed or made
	Thoughts int       // sections that were written
	Adopted  int       // sessions that the store got, or got thoughts of, from files
	Left     []Finding // what was found in the files looked into and left as it is
}

// Sync brings store and vault in step, both ways: files get what they lack, and
// the store gets sessions, and last thoughts of sessions, that it does not have.
// What a person has made of a file stays, and is in the report, as is a session
// or a file that cannot be used. Doing it again changes nothing.
//
// It can be called while sessions are being written to, by several processes.
func (f *Files) Sync(ctx context.Context, store Store, opts Options) (Report, error) {
	list, findings, err := f.places(ctx, store)
	if err != nil {
		return Report{}, err
	}
	r := Report{Left: findings}
	for i, p := range list {
		if err := ctx.Err(); err != nil {
			return r, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was given up; what was done stays", Err: err}
		}
		r.Sessions++
		if opts.RestoreDeleted || !f.inStep(ctx, p) {
			if err := f.sync(ctx, store, p, opts, &r); err != nil {
				if code := sequent.CodeOf(err); code == vault.CodeReadOnly || code == vault.CodeFull || code == sequent.CodeFull {
					return r, err // so it will be with all that follow
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

// inStep reports whether neither session nor file have changed since the file
// was written.
func (f *Files) inStep(ctx context.Context, p sessionPlace) bool {
	if p.header == nil || p.info.URI == "" {
		return false
	}
	m := f.readMark(ctx, p.id)
	return m.fits(p.info, p.header.Epoch) && m.Version == p.header.Version
}

// sync brings one session and its file in step.
func (f *Files) sync(ctx context.Context, store Store, p sessionPlace, opts Options, r *Report) error {
	return f.vault.Hold(ctx, p.uri, func(h *vault.Held) error {
		// The file first: nobody writes to it now, and what it has the store had
		// before.
		n, err := h.Read()
		if err != nil && !errors.Is(err, vault.ErrNotFound) {
			return err
		}
		s, err := store.Session(ctx, p.id)
		switch {
		case errors.Is(err, sequent.ErrNotFound) && (n == nil || !tells(n)):
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
				if s, err = f.goOn(ctx, store, s, n, c.ahead); err != nil {
					return err
				}
				r.Adopted++
			}
			for _, finding := range c.findings(p) {
				if !finding.Problem.Mended() && !(opts.RestoreDeleted && finding.Problem == Deleted) {
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

// tells reports whether a note tells of a session.
func tells(n *vault.Note) bool {
	return slices.ContainsFunc(Parse(n.Body), func(s Section) bool { return s.closed() })
}

// adopt gives the store a session that it does not have.
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

// goOn gives the store thoughts that come after those that it has.
func (f *Files) goOn(ctx context.Context, store Store, s *sequent.Session, n *vault.Note, list []Section) (*sequent.Session, error) {
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

package thinking

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A Config configures [Files].
type Config struct {
	Vault *vault.Vault // required
	// Dialect is where sessions count as begun that are known from files alone.
	Dialect string
	// Owns reports whether a session of the store should have a file in this
	// vault although it has none: its program died before it was written. Nil
	// means none. A session that has, or had, a file here always counts.
	Owns func(h *sequent.Header) bool
}

// Files are the session files of a vault. They are safe for concurrent use, by
// several processes as well.
type Files struct {
	vault   *vault.Vault
	dialect string
	owns    func(h *sequent.Header) bool
}

// New returns the session files of a vault.
func New(cfg Config) *Files {
	f := &Files{vault: cfg.Vault, dialect: cfg.Dialect, owns: cfg.Owns}
	if f.owns == nil {
		f.owns = func(*sequent.Header) bool { return false }
	}
	return f
}

// Write brings a session's file in step with the session: it adds what the file
// does not have yet, and tells a change of state. It can be called again, and by
// several processes at once; each thought is written once, in the order of the
// log. What was deleted from the file stays deleted.
//
// If Write fails the thoughts are safe in the store, and the next Write or Sync
// makes up for it.
func (f *Files) Write(ctx context.Context, s *sequent.Session) error {
	if err := checkID(s.ID()); err != nil {
		return err
	}
	const tries = 10 // somebody may put another file in the place of the one written to
	for try := 1; ; try++ {
		uri, err := f.place(ctx, s)
		if err == nil {
			err = f.vault.Hold(ctx, uri, func(h *vault.Held) error {
				w := writer{files: f, held: h, session: s, mark: f.readMark(ctx, s.ID())}
				return w.write()
			})
		}
		if sequent.CodeOf(err) != vault.CodeConflict || try == tries {
			return err
		}
	}
}

// Session reads a session from its file, for a store that does not have it. If
// there is no file, the error matches sequent.ErrNotFound.
func (f *Files) Session(ctx context.Context, id sequent.ID) (sequent.Header, []sequent.Thought, error) {
	uri, ok, err := f.Find(ctx, id)
	if err != nil {
		return sequent.Header{}, nil, err
	}
	if !ok {
		return sequent.Header{}, nil, noFile(id)
	}
	n, err := f.vault.Read(ctx, uri)
	if errors.Is(err, vault.ErrNotFound) {
		err = noFile(id)
	}
	if err != nil {
		return sequent.Header{}, nil, err
	}
	return f.FromNote(ctx, id, n)
}

func noFile(id sequent.ID) error {
	return &sequent.Error{
		Code: sequent.CodeSessionNotFound, Field: "sessionId",
		Msg: fmt.Sprintf("there is no session %q", shortened(string(id))),
		Fix: "check the id, or begin a new session",
	}
}

// Find returns where the file of a session is, and whether there is one. It
// looks into the folders for dates as well.
func (f *Files) Find(ctx context.Context, id sequent.ID) (vault.URI, bool, error) {
	if err := checkID(id); err != nil {
		return "", false, err
	}
	for _, p := range []string{f.readMark(ctx, id).Path, flat(id), dated(id)} {
		uri, err := vault.PathURI(p)
		if p == "" || err != nil || uri.Name() != string(id) {
			continue
		}
		if _, err := f.vault.Stat(ctx, uri); err == nil {
			return uri, true, nil
		} else if !errors.Is(err, vault.ErrNotFound) {
			return "", false, err
		}
	}
	for info, err := range f.vault.WalkFolder(ctx, Folder) {
		if sequent.CodeOf(err) == sequent.CodeCanceled {
			return "", false, err
		}
		if err == nil && info.URI.Name() == string(id) {
			return info.URI, true, nil
		}
	}
	uri, err := vault.PathURI(flat(id))
	return uri, false, err
}

// place returns where the file of a session is, or is to be.
func (f *Files) place(ctx context.Context, s *sequent.Session) (vault.URI, error) {
	if s.Version() <= 1 { // it has just begun, and nobody has moved its file
		return vault.PathURI(flat(s.ID()))
	}
	uri, _, err := f.Find(ctx, s.ID())
	return uri, err
}

func flat(id sequent.ID) string { return path.Join(Folder, string(id)+".md") }

// dated is where Maenifold puts the file of a session.
func dated(id sequent.ID) string {
	return path.Join(Folder, begun(id).Format("2006/01/02"), string(id)+".md")
}

// A writer writes to one file, which it holds.
type writer struct {
	files   *Files
	held    *vault.Held
	session *sequent.Session
	mark    mark

	untold         bool // front matter could not be brought up to date
	restoreDeleted bool // what a person has deleted comes back
	appended       int  // sections written
	changed        bool // the file
}

func (w *writer) write() error {
	s := w.session
	info, err := w.held.Stat()
	if errors.Is(err, vault.ErrNotFound) {
		return w.create()
	}
	if err != nil {
		return err
	}
	if w.mark.fits(info, s.Epoch()) && !w.restoreDeleted {
		if w.mark.Version >= s.Version() {
			return nil // another process has written this, and more
		}
		if w.mark.Front == frontKey(s) {
			text := w.broken(sections(s, w.mark.Seq))
			if text != "" {
				if info, err = w.held.Append(text, vault.Info{}); err != nil {
					return err
				}
			}
			w.appended, w.changed = max(s.Len()-w.mark.Seq, 0), text != ""
			w.done(info, "\n")
			return nil
		}
	}
	return w.reconcile()
}

// create writes a new file with all there is.
func (w *writer) create() error {
	s := w.session
	n := &vault.Note{Body: "\n# " + title(s) + "\n" + sections(s, 0)}
	if err := describe(&n.Front, s); err != nil {
		return err
	}
	if err := w.held.Create(n); err != nil {
		return err
	}
	w.appended, w.changed, w.mark = s.Len(), true, mark{}
	w.done(n.Info, n.Body)
	return nil
}

// reconcile looks at the file as it is: it was edited, or a process died, or
// its front matter is to change.
func (w *writer) reconcile() error {
	n, err := w.held.Read()
	if err != nil {
		return err
	}
	c, err := compare(n, w.session, w.mark)
	if err != nil {
		return err
	}
	w.mark.Breaks = c.breaks
	if !c.frontOld(n, w.mark) {
		return w.extend(n.Info, c)
	}
	damaged := n.Front.Err()
	if damaged == nil {
		return w.rewrite(true)
	}
	w.untold = true
	if err := w.extend(n.Info, c); err != nil { // the thoughts can be added all the same
		return err
	}
	return damaged
}

// extend adds to the file what is missing at its end.
func (w *writer) extend(info vault.Info, c *comparison) error {
	if c.rewrite || w.restoreDeleted && len(c.deleted) > 0 {
		return w.rewrite(false)
	}
	if c.add != "" {
		var err error
		if info, err = w.held.Append(c.add, info); err != nil {
			return err
		}
		w.changed = true
	}
	w.appended = len(c.missing)
	w.done(info, c.body+c.add)
	return nil
}

// rewrite replaces the file, with what it lacks, and with front matter that tells
// the session's state.
func (w *writer) rewrite(front bool) error {
	var c *comparison
	before := ""
	n, err := w.held.Update(func(n *vault.Note) (err error) {
		before = string(n.Bytes())
		if c, err = compare(n, w.session, w.mark); err != nil {
			return err
		}
		n.Body = c.body + c.add
		if w.restoreDeleted {
			n.Body = c.restored()
		}
		if front {
			return tell(&n.Front, w.session)
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.appended, w.changed = len(c.missing), before != string(n.Bytes())
	if w.restoreDeleted {
		w.appended += len(c.deleted)
	}
	w.done(n.Info, n.Body)
	return nil
}

// done notes how far the file has been written, whose body is given.
func (w *writer) done(info vault.Info, body string) {
	s := w.session
	m := mark{
		Path: info.URI.Path(), Epoch: s.Epoch(), Version: s.Version(), Front: frontKey(s),
		Seq: max(s.Len(), w.mark.seqOf(s)), Size: info.Size, Modified: info.Modified.UnixNano(), Breaks: w.mark.Breaks,
	}
	if w.untold || w.mark.Epoch == s.Epoch() && w.mark.Version > s.Version() { // the snapshot is an old one
		m.Version, m.Front = w.mark.Version, w.mark.Front
	}
	if !strings.HasSuffix(body, "\n") {
		m.Size = -1 // nothing can be added without a look at the end
	}
	w.files.writeMark(s.ID(), m)
}

// broken returns a text with the line breaks of the file.
func (w *writer) broken(text string) string {
	if w.mark.Breaks != "\r\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", w.mark.Breaks)
}

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
	// Dialect is the dialect of sessions that are restored from files.
	Dialect string
	// Owns reports whether a session of the store without a file should have one in
	// this vault, because a crash prevented it. nil means none. Sessions that have, or
	// had, a file here always count.
	Owns func(h *sequent.Header) bool
}

// Files holds the session files of a vault. It is safe for concurrent use, also by
// several processes.
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

// Write writes what a session's file does not have yet: new thoughts, and a change of
// state. It is idempotent, and several processes may call it at once: each thought is
// written once, in the order of the log. Deleted sections stay deleted.
//
// If Write fails, the next Write or Sync writes what is missing.
func (f *Files) Write(ctx context.Context, s *sequent.Session) error {
	if err := checkID(s.ID()); err != nil {
		return err
	}
	const maxAttempts = 10 // an editor may replace the file during the write
	for attempt := 1; ; attempt++ {
		uri, err := f.locate(ctx, s)
		if err == nil {
			err = f.vault.Hold(ctx, uri, func(h *vault.Held) error {
				w := writer{files: f, held: h, session: s, mark: f.readMark(ctx, s.ID())}
				return w.write()
			})
		}
		if sequent.CodeOf(err) != vault.CodeConflict || attempt == maxAttempts {
			return err
		}
	}
}

// Session returns the session in a file, for a store that does not have it. The error for
// a missing file matches sequent.ErrNotFound.
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
		Msg: fmt.Sprintf("there is no session %q", quoted(string(id))),
		Fix: "check the id, or begin a new session",
	}
}

// Find returns the URI of a session's file, and whether it exists. It searches all folders
// below Folder.
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

// locate returns the URI of a session's file, or of the file to create.
func (f *Files) locate(ctx context.Context, s *sequent.Session) (vault.URI, error) {
	if s.Version() <= 1 { // a new session
		return vault.PathURI(flat(s.ID()))
	}
	uri, _, err := f.Find(ctx, s.ID())
	return uri, err
}

func flat(id sequent.ID) string { return path.Join(Folder, string(id)+".md") }

// dated returns the path of a session's file in Maenifold.
func dated(id sequent.ID) string {
	return path.Join(Folder, begun(id).Format("2006/01/02"), string(id)+".md")
}

// A writer writes to a locked file.
type writer struct {
	files   *Files
	held    *vault.Held
	session *sequent.Session
	mark    mark

	frontFailed    bool // the front matter could not be updated
	restoreDeleted bool // restore deleted sections
	appended       int  // sections written
	changed        bool // the file was changed
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
			return nil // another process has written it
		}
		if w.mark.Front == frontKey(s) {
			text := withBreaks(sections(s, w.mark.Seq), w.mark.Breaks)
			if text != "" {
				if info, err = w.held.Append(text, vault.Info{}); err != nil {
					return err
				}
			}
			w.appended, w.changed = max(s.Len()-w.mark.Seq, 0), text != ""
			w.saveMark(info, "\n")
			return nil
		}
	}
	return w.reconcile()
}

// create writes a new file with the whole session.
func (w *writer) create() error {
	s := w.session
	n := &vault.Note{Body: "\n# " + title(s) + "\n" + sections(s, 0)}
	if err := initFront(&n.Front, s); err != nil {
		return err
	}
	if err := w.held.Create(n); err != nil {
		return err
	}
	w.appended, w.changed, w.mark = s.Len(), true, mark{}
	w.saveMark(n.Info, n.Body)
	return nil
}

// reconcile reads the file and writes what is missing: the file was edited, or a process
// was killed, or the front matter must change.
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
	w.frontFailed = true
	if err := w.extend(n.Info, c); err != nil { // thoughts are added despite the damage
		return err
	}
	return damaged
}

// extend appends what is missing at the end of the file.
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
	w.saveMark(info, c.body+c.add)
	return nil
}

// rewrite replaces the file with one that has everything it lacked; with front, also the
// session's state in the front matter.
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
			return writeState(&n.Front, w.session)
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
	w.saveMark(n.Info, n.Body)
	return nil
}

// saveMark records that the file, which has this body, is up to date.
func (w *writer) saveMark(info vault.Info, body string) {
	s := w.session
	m := mark{
		Path: info.URI.Path(), Epoch: s.Epoch(), Version: s.Version(), Front: frontKey(s),
		Seq: max(s.Len(), w.mark.seqOf(s)), Size: info.Size, Modified: info.Modified.UnixNano(), Breaks: w.mark.Breaks,
	}
	if w.frontFailed || w.mark.Epoch == s.Epoch() && w.mark.Version > s.Version() { // an older snapshot
		m.Version, m.Front = w.mark.Version, w.mark.Front
	}
	if !strings.HasSuffix(body, "\n") {
		m.Size = -1 // the next write must read the end of the file
	}
	w.files.writeMark(s.ID(), m)
}

// withBreaks returns a text with the given line breaks; empty means \n.
func withBreaks(text, breaks string) string {
	if breaks != "\r\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", breaks)
}

package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// A Config configures an [Importer].
type Config struct {
	Engine *sequent.Engine // stores the sessions; required
	// Owner is the owner of the imported sessions. Nil keeps the owner in the source,
	// or the local user if there is none.
	Owner *string
	// Markdown parses a Markdown session, given the name of its file without .md and
	// its contents. Nil means that Markdown files are refused.
	Markdown func(ctx context.Context, name string, data []byte) (sequent.Header, []sequent.Thought, error)
	// Progress is called while a file is read, with the number of bytes that were read
	// and the size of the file; nil for none.
	Progress func(file string, read, size int64)
}

// An Importer imports sessions.
type Importer struct{ Config }

// New returns an importer.
func New(c Config) *Importer { return &Importer{c} }

// CodeUnreadable is the code of a file that cannot be imported.
const CodeUnreadable sequent.Code = "import_unreadable"

// Import imports a file, or all files in a folder and its subfolders. It reports each
// file that is, or by its name should be, a session, also if it cannot be read. It
// returns an error only if it cannot continue, for instance if the store is
// unreachable.
func (im *Importer) Import(ctx context.Context, path string, report func(Result)) (Summary, error) {
	var sum Summary
	info, err := os.Stat(path)
	if err != nil {
		return sum, &sequent.Error{
			Code: CodeUnreadable, Field: "FILE",
			Msg: fmt.Sprintf("%s cannot be opened: %v", path, plain(err)), Fix: "check the path",
		}
	}
	each := func(file string, named bool) error {
		r, known, err := im.file(ctx, file, named)
		switch {
		case err != nil:
			return err
		case !known:
			sum.Passed++
			return nil
		}
		sum.count(r.Outcome)
		report(r)
		return nil
	}
	if !info.IsDir() {
		return sum, each(path, true)
	}
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return canceled(ctx)
		case err != nil:
			sum.Failed++
			report(Result{File: file, Outcome: Failed, Err: unreadable(err)})
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && file != path && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || !promising(file):
			return nil
		}
		return each(file, false)
	})
	if err == nil && sum == (Summary{Passed: sum.Passed}) {
		err = &sequent.Error{
			Code: CodeUnreadable, Field: "FILE",
			Msg: path + " contains no sessions", Fix: supported(),
		}
	}
	return sum, err
}

// promising reports whether a file of a folder can be a session by its name.
func promising(file string) bool {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json", ".jsonl", ".md":
		return true
	}
	return false
}

// meant reports whether a file of a folder has the name of a session file, so that it
// is an error if it is not one.
func meant(file string) bool {
	name := strings.ToLower(filepath.Base(file))
	return name == "session.json" || name == "current_session.jsonl" || name == "current_session.json" ||
		strings.HasPrefix(name, "session-") && strings.HasSuffix(name, ".md")
}

// file imports one file. Named is set if the file was passed to Import itself. Known is
// set if it is, or by its name should be, a session. After an error the import cannot
// continue.
func (im *Importer) file(ctx context.Context, file string, named bool) (r Result, known bool, err error) {
	r = Result{File: file, Outcome: Failed}
	f, err := open(file)
	if err != nil {
		r.Err = unreadable(err)
		return r, true, nil
	}
	defer f.Close()
	r.Kind, err = kindOf(f)
	if err != nil {
		e := unreadable(err)
		if named {
			e.Fix = supported()
		}
		r.Err = e
		return r, named || meant(file), nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		r.Err = unreadable(err)
		return r, true, nil
	}
	s, err := im.read(ctx, r.Kind, f)
	if ctx.Err() != nil {
		return r, true, canceled(ctx)
	}
	if err != nil {
		r.Err = unreadable(err)
		return r, true, nil
	}
	return im.store(ctx, r, s)
}

// open opens a regular file. It looks before it opens: to open a FIFO blocks until
// there is a writer, and to open a device can have effects.
func open(file string) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return os.Open(file)
}

// A session is the contents of a file.
type session struct {
	header   sequent.Header
	log      []sequent.Thought
	entries  []sequent.Entry // the log, if the file has its hashes
	warnings []string
}

// read reads a file of a kind.
func (im *Importer) read(ctx context.Context, kind Kind, f *os.File) (session, error) {
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	src := skipBOM(&counting{ctx: ctx, r: f, name: f.Name(), size: size, progress: im.Progress})
	switch kind {
	case Export:
		h, entries, err := archive.ReadJSON(src)
		if err != nil {
			return session{}, err
		}
		return exported(h, entries)
	case SessionFile:
		return im.readSessionFile(src)
	case Arben:
		return im.readArben(src)
	case Maenifold:
		return im.readMarkdown(ctx, filepath.Base(f.Name()), src)
	}
	return session{}, errUnknown
}

// exported returns the session of an export. It refuses one whose hashes do not verify.
func exported(h sequent.Header, entries []sequent.Entry) (session, error) {
	s := session{header: h, log: sequent.Thoughts(entries)}
	if h.Entries == 0 && !slices.ContainsFunc(entries, func(e sequent.Entry) bool { return e.Proven() }) {
		return s, nil
	}
	if v := sequent.Verify(h, entries); v.Fault != nil {
		return session{}, &sequent.Error{
			Code: sequent.CodeInvalidSession, Field: "log",
			Msg: "the session is not what was recorded: " + v.Fault.String(),
			Fix: "import another copy; docs/export.md says how to import this one without its hashes",
		}
	}
	s.entries = entries
	return s, nil
}

// maxMarkdown is the maximum size of a Markdown file in bytes. It is read as a whole.
const maxMarkdown = 256 << 20

func (im *Importer) readMarkdown(ctx context.Context, name string, r io.Reader) (session, error) {
	if im.Markdown == nil {
		return session{}, errUnknown
	}
	data, err := io.ReadAll(io.LimitReader(r, maxMarkdown+1))
	if err == nil && len(data) > maxMarkdown {
		err = fmt.Errorf("longer than %d MiB", maxMarkdown>>20)
	}
	if err != nil {
		return session{}, err
	}
	h, log, err := im.Markdown(ctx, name[:len(name)-len(filepath.Ext(name))], data)
	if err == nil && len(log) == 0 {
		err = fmt.Errorf("no thoughts")
	}
	for i := range log {
		log[i].At = cmp.Or(log[i].At, time.Unix(0, 0).UTC())
	}
	return session{header: h, log: log}, err
}

// store stores a session.
func (im *Importer) store(ctx context.Context, r Result, s session) (Result, bool, error) {
	owner := s.header.Owner
	if im.Owner != nil {
		owner = *im.Owner
	}
	r.Key = sequent.Key{Owner: owner, ID: s.header.ID}
	r.Thoughts, r.Warnings = len(s.log), s.warnings
	if r.Title = s.header.Title; r.Title == "" && len(s.log) > 0 {
		r.Title, _, _ = strings.Cut(strings.TrimSpace(s.log[0].Text), "\n")
	}
	engine := im.Engine.Owned(owner)
	if r.Kind != Export {
		if known, err := engine.Session(ctx, s.header.ID); err == nil {
			s.header = joined(known.Header(), s.header)
		}
	}
	var did sequent.Restored
	var err error
	if s.entries != nil {
		did, err = engine.RestoreEntries(ctx, s.header, s.entries)
	} else {
		did, err = engine.Restore(ctx, s.header, s.log)
	}
	if err != nil {
		switch sequent.CodeOf(err) {
		case sequent.CodeInvalidSession, sequent.CodeInvalidThought, sequent.CodeLimitExceeded,
			sequent.CodeSessionExists, sequent.CodeRequestKeyReused, sequent.CodeConflict:
			r.Err = err
			return r, true, nil
		}
		return r, true, err
	}
	r.Outcome = map[sequent.Restored]Outcome{
		sequent.RestoredNew: Added, sequent.RestoredMore: Extended, sequent.RestoredNothing: Unchanged,
	}[did]
	return r, true, nil
}

// joined returns the header of a stored session updated from a file that is not an
// export: fields that such a file does not have stay as they are.
func joined(known, told sequent.Header) sequent.Header {
	labels := maps.Clone(known.Labels)
	if labels == nil {
		labels = make(map[string]string)
	}
	maps.Copy(labels, told.Labels)
	if len(labels) == 0 {
		labels = nil
	}
	told.Labels, told.Scope, told.Dialect, told.Created = labels, known.Scope, known.Dialect, known.Created
	told.Expires = known.Expires
	return told
}

func canceled(ctx context.Context) error {
	return &sequent.Error{
		Code: sequent.CodeCanceled, Msg: "the import was canceled", Err: ctx.Err(),
		Fix: "import again to continue",
	}
}

// unreadable adds a code to an error.
func unreadable(err error) *sequent.Error {
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e
	}
	return &sequent.Error{Code: CodeUnreadable, Msg: plain(err).Error()}
}

// plain returns an error of the file system without the path, which messages name
// already.
func plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// A counting reader reports progress, and fails when its context is done.
type counting struct {
	ctx      context.Context
	r        io.Reader
	name     string
	read     int64
	size     int64
	progress func(file string, read, size int64)
}

// Read implements [io.Reader].
func (c *counting) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(b)
	c.read += int64(n)
	if c.progress != nil {
		c.progress(c.name, c.read, c.size)
	}
	return n, err
}

// A step is a thought of a source.
type step struct {
	sequent.Draft
	at time.Time
}

package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// An Importer imports sessions from files that other servers or this program have written. The
// content of a file determines its format; see [Formats]. Folders are searched recursively. A
// damaged file is reported and skipped.
//
// A second import adds only what is new in the source; see [sequent.Engine.Restore]. A
// session keeps the id of its source. If the source has none, the id is derived from
// data that does not change when the session grows.
type Importer struct {
	Engine *sequent.Engine // stores the sessions; required
	// Owner is the owner of the imported sessions. Nil keeps the owner in the source,
	// or the local user if there is none.
	Owner *string
	// Markdown parses a Markdown session, given the name of its file without .md and
	// its contents. Nil means that Markdown files are refused.
	Markdown func(ctx context.Context, name string, data []byte) (sequent.Header, []sequent.Entry, error)
	// Progress is called before a file is read; nil for none.
	Progress func(file string)
}

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
		return sum, sequent.Errorf(CodeUnreadable, "FILE", "check the path", "%s cannot be opened: %v", path, plain(err))
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
		sum.Count(r.Outcome)
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
		err = sequent.Errorf(CodeUnreadable, "FILE", supported(), "%s contains no sessions", path)
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
	if im.Progress != nil {
		im.Progress(file)
	}
	if ctx.Err() != nil {
		return r, true, canceled(ctx)
	}
	data, err := contents(file)
	if err != nil {
		r.Err = unreadable(err)
		return r, true, nil
	}
	r.Kind, err = KindOf(data)
	if err != nil {
		e := unreadable(err)
		if named {
			e.Fix = supported()
		}
		r.Err = e
		return r, named || meant(file), nil
	}
	s, err := im.parse(ctx, r.Kind, file, data)
	if ctx.Err() != nil {
		return r, true, canceled(ctx)
	}
	if err != nil {
		r.Err = unreadable(err)
		return r, true, nil
	}
	return im.store(ctx, r, s)
}

// maxImport is the maximum size of a file in bytes. It is read as a whole.
const maxImport = 1 << 30

// contents reads a regular file, without a byte order mark. It looks before it opens: to open a
// FIFO blocks until there is a writer, and to open a device can have effects.
func contents(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxImport:
		return nil, fmt.Errorf("larger than %d MiB", maxImport>>20)
	}
	data, err := os.ReadFile(file)
	return bytes.TrimPrefix(data, []byte("\uFEFF")), err
}

// A session is the contents of a file.
type session struct {
	header   sequent.Header
	log      []sequent.Entry
	warnings []string
}

// parse reads the contents of a file of a kind.
func (im *Importer) parse(ctx context.Context, kind Kind, file string, data []byte) (session, error) {
	switch kind {
	case KindExport:
		h, entries, err := ReadJSON(bytes.NewReader(data))
		if err != nil {
			return session{}, err
		}
		return exported(h, entries)
	case KindSessionFile:
		return im.parseSessionFile(data)
	case KindArben:
		return im.parseArben(data)
	}
	return im.parseMarkdown(ctx, filepath.Base(file), data)
}

// exported returns the session of an export. It refuses one whose hashes do not verify.
func exported(h sequent.Header, entries []sequent.Entry) (session, error) {
	proven := h.Entries > 0 || slices.ContainsFunc(entries, func(e sequent.Entry) bool { return e.Proven() })
	if v := sequent.Verify(h, entries); proven && v.Fault != nil {
		return session{}, sequent.Errorf(sequent.CodeInvalidSession, "log", "import another copy; docs/proof.md says how to import this one without its hashes",
			"the session is not what was recorded: %s", v.Fault.String())
	}
	return session{header: h, log: entries}, nil
}

func (im *Importer) parseMarkdown(ctx context.Context, name string, data []byte) (session, error) {
	if im.Markdown == nil {
		return session{}, errUnknown
	}
	h, log, err := im.Markdown(ctx, strings.TrimSuffix(name, filepath.Ext(name)), data)
	if err == nil && len(log) == 0 {
		err = fmt.Errorf("no thoughts")
	}
	for i := range log {
		log[i].At = cmp.Or(log[i].At, time.Unix(0, 0).UTC())
		log[i].Thought.At = log[i].At
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
	thoughts := sequent.Thoughts(s.log)
	r.Thoughts, r.Warnings = len(thoughts), s.warnings
	if r.Title = s.header.Title; r.Title == "" && len(thoughts) > 0 {
		r.Title, _, _ = strings.Cut(strings.TrimSpace(thoughts[0].Text), "\n")
	}
	engine := im.Engine.Owned(owner)
	if r.Kind != KindExport {
		if known, err := engine.Session(ctx, s.header.ID); err == nil {
			s.header = joined(known.Header(), s.header)
		}
	}
	did, err := engine.Restore(ctx, s.header, s.log)
	switch {
	case OfSession(err):
		r.Err, err = err, nil
	case err == nil:
		r.Outcome = OutcomeOf(did)
	}
	return r, true, err
}

// joined returns the header of a stored session updated from a file that is not an
// export: fields that such a file does not have stay as they are.
func joined(known, told sequent.Header) sequent.Header {
	labels := maps.Clone(known.Labels)
	if labels == nil {
		labels = told.Labels
	}
	maps.Copy(labels, told.Labels)
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

// A step is a thought of a source.
type step struct {
	sequent.Draft
	at time.Time
}

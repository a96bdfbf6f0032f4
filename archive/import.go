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
	"regexp"
	"slices"
	"strings"

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
	// its contents.
	Markdown func(ctx context.Context, name string, data []byte) (sequent.Header, []sequent.Entry, error)
}

// CodeUnreadable is the code of a file that cannot be imported.
const CodeUnreadable sequent.Code = "import_unreadable"

// A Kind is a file format of sessions.
type Kind string

// The supported kinds.
const (
	KindExport      Kind = "sequent"      // what sequent export writes as JSON
	KindSessionFile Kind = "session-file" // session.json of sequentialthinking-plus and of our classic
	KindMaenifold   Kind = "maenifold"    // a Markdown file of a thinking session
	KindArben       Kind = "arben-adm"    // current_session.jsonl of mcp-sequential-thinking, and its exports
)

// Formats describes the files of each kind.
func Formats() []string {
	return []string{
		"a session that sequent export wrote as JSON",
		"a session.json of sequentialthinking-plus or of sequent serve --dialect classic",
		"a Markdown session of Maenifold, with type: sequential in its front matter",
		"a current_session.jsonl of arben-adm's mcp-sequential-thinking, or an export of it",
	}
}

// The beginnings of files of three kinds.
var (
	exportStart    = regexp.MustCompile(`^\{\s*"format"\s*:\s*"` + Format + `"`)
	arbenStart     = regexp.MustCompile(`^\{\s*"type"\s*:\s*"header"`)
	maenifoldStart = regexp.MustCompile(`^---\r?\n(?:(?:[^-\n]|-[^-\n]).*\n|\n)*?type: *["']?sequential["']?\s*\n`)
)

// KindOf determines the kind of a file by its contents; it is empty for no supported one.
func KindOf(data []byte) Kind {
	start := bytes.TrimLeft(data, "\uFEFF \t\r\n")
	has := func(text string) bool { return bytes.Contains(data, []byte(text)) } // a text in JSON escapes its quotes
	switch {
	case maenifoldStart.Match(start[:min(len(start), 64<<10)]):
		return KindMaenifold
	case !bytes.HasPrefix(start, []byte("{")):
		return ""
	case exportStart.Match(start):
		return KindExport
	case has(`"thoughtHistory"`):
		return KindSessionFile
	case has(`"thoughts"`), arbenStart.Match(start):
		return KindArben
	}
	return ""
}

// An Outcome is the result of importing a file.
type Outcome string

// The outcomes.
const (
	Added     Outcome = "added"     // the store did not have the session
	Extended  Outcome = "extended"  // the store had an earlier state of it
	Unchanged Outcome = "unchanged" // the store had all of it
	Failed    Outcome = "failed"    // see Result.Err; nothing of the file was stored
	Passed    Outcome = "passed"    // a file in a folder that is not a session
)

// OutcomeOf returns the outcome of restoring a session.
func OutcomeOf(r sequent.Restored) Outcome {
	return map[sequent.Restored]Outcome{sequent.RestoredNew: Added, sequent.RestoredMore: Extended, sequent.RestoredNothing: Unchanged}[r]
}

// OfSession reports whether an error concerns one session, so that others can still be
// restored.
func OfSession(err error) bool {
	return slices.Contains([]sequent.Code{
		sequent.CodeInvalidSession, sequent.CodeInvalidThought, sequent.CodeLimitExceeded, sequent.CodeSessionExists,
		sequent.CodeRequestKeyReused, sequent.CodeConflict, sequent.CodeCorrupt,
	}, sequent.CodeOf(err))
}

// A Result is the result of importing one file.
type Result struct {
	File     string
	Kind     Kind // empty if it is not recognised
	Outcome  Outcome
	Key      sequent.Key // of the session; empty if the file could not be read
	Title    string
	Thoughts int   // in the file
	Err      error // if Outcome is Failed
}

// Import imports a file, or all files in a folder and its subfolders, and reports the result of each. It returns an
// error only if it cannot continue, for instance if the store is unreachable.
func (im *Importer) Import(ctx context.Context, path string, report func(Result)) error {
	found := false
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		r := Result{File: file, Outcome: Failed, Err: unreadable(err)}
		skip := error(nil)
		switch {
		case ctx.Err() != nil:
			return canceled(ctx)
		case err != nil && file == path:
			return sequent.Errorf(CodeUnreadable, "FILE", "check the path", "%s cannot be opened: %v", path, plain(err))
		case err != nil && d.IsDir():
			skip = fs.SkipDir
		case err != nil:
		case d.IsDir() && file != path && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || file != path && (!d.Type().IsRegular() || !promising(file)):
			return nil
		default:
			if r, err = im.file(ctx, file, file == path); err != nil {
				return err
			}
		}
		found = found || r.Outcome != Passed
		report(r)
		return skip
	})
	if err == nil && !found {
		err = sequent.Errorf(CodeUnreadable, "FILE", supported(), "%s contains no sessions", path)
	}
	return err
}

// supported lists the supported formats, as the fix of an error.
func supported() string { return "supported formats: " + strings.Join(Formats(), "; ") }

// promising reports whether a file of a folder can be a session by its name.
func promising(file string) bool {
	return slices.Contains([]string{".json", ".jsonl", ".md"}, strings.ToLower(filepath.Ext(file)))
}

// meant matches the names of session files, of which it is an error not to be one.
var meant = regexp.MustCompile(`(?i)^(?:session\.json|current_session\.jsonl?|session-.*\.md)$`)

// file imports one file, which the caller of Import has named or which is in a folder. After an error the import
// cannot continue.
func (im *Importer) file(ctx context.Context, file string, named bool) (Result, error) {
	r := Result{File: file, Outcome: Failed}
	data, err := contents(file)
	if err == nil {
		r.Kind = KindOf(data)
	}
	if err == nil && r.Kind == "" {
		if !named && !meant.MatchString(filepath.Base(file)) {
			r.Outcome = Passed
			return r, nil
		}
		err = &sequent.Error{Code: CodeUnreadable, Msg: "not a recognised session file", Fix: supported()}
	}
	var s session
	if err == nil {
		s, err = im.parse(ctx, r.Kind, file, data)
	}
	if err == nil {
		if err = im.store(ctx, &r, s); !OfSession(err) {
			return r, err
		}
	}
	if ctx.Err() != nil {
		return r, canceled(ctx)
	}
	r.Err = unreadable(err)
	return r, nil
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
	header sequent.Header
	log    []sequent.Entry
}

// parse reads the contents of a file of a kind.
func (im *Importer) parse(ctx context.Context, kind Kind, file string, data []byte) (s session, err error) {
	switch kind {
	case KindSessionFile:
		return im.parseSessionFile(data)
	case KindArben:
		return im.parseArben(data)
	case KindMaenifold:
		s.header, s.log, err = im.Markdown(ctx, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), data)
		if err == nil && len(s.log) == 0 {
			err = errNoThoughts
		}
		for i := range s.log {
			s.log[i].At = cmp.Or(s.log[i].At, epoch)
			s.log[i].Thought.At = s.log[i].At
		}
		return s, err
	}
	s.header, s.log, err = ReadJSON(bytes.NewReader(data))
	proven := s.header.Entries > 0 || slices.ContainsFunc(s.log, func(e sequent.Entry) bool { return e.Proven() })
	if v := sequent.Verify(s.header, s.log); err == nil && proven && v.Fault != nil {
		err = sequent.Errorf(sequent.CodeInvalidSession, "log", "import another copy; docs/proof.md says how to import this one without its hashes",
			"the session is not what was recorded: %s", v.Fault.String())
	}
	return s, err
}

// store stores a session.
func (im *Importer) store(ctx context.Context, r *Result, s session) error {
	owner := s.header.Owner
	if im.Owner != nil {
		owner = *im.Owner
	}
	r.Key = sequent.Key{Owner: owner, ID: s.header.ID}
	thoughts := sequent.Thoughts(s.log)
	r.Thoughts, r.Title = len(thoughts), s.header.Title
	if r.Title == "" && len(thoughts) > 0 {
		r.Title, _, _ = strings.Cut(strings.TrimSpace(thoughts[0].Text), "\n")
	}
	engine := im.Engine.Owned(owner)
	if r.Kind != KindExport {
		if known, err := engine.Session(ctx, s.header.ID); err == nil {
			s.header = joined(known.Header(), s.header)
		}
	}
	did, err := engine.Restore(ctx, s.header, s.log)
	if err == nil {
		r.Outcome = OutcomeOf(did)
	}
	return err
}

// joined returns the header of a stored session updated from a file that is not an
// export: fields that such a file does not have stay as they are.
func joined(known, told sequent.Header) sequent.Header {
	labels := make(map[string]string)
	maps.Copy(labels, known.Labels)
	maps.Copy(labels, told.Labels)
	told.Labels, told.Scope, told.Dialect, told.Created, told.Expires = labels, known.Scope, known.Dialect, known.Created, known.Expires
	return told
}

func canceled(ctx context.Context) error {
	return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the import was canceled", Err: ctx.Err(), Fix: "import again to continue"}
}

// unreadable adds a code to an error; nil for none.
func unreadable(err error) error {
	if _, ok := errors.AsType[*sequent.Error](err); ok || err == nil {
		return err
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

package thinking

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A Store holds the sessions. [sequent.Engine] implements it.
type Store interface {
	Session(ctx context.Context, id sequent.ID) (*sequent.Session, error)
	AllSessions(ctx context.Context, q sequent.Query) iter.Seq2[sequent.Header, error]
	Restore(ctx context.Context, h sequent.Header, log []sequent.Thought) (sequent.Restored, error)
}

// A Problem is a kind of difference between the store and the vault.
type Problem string

// Problems that [Files.Sync] repairs.
const (
	NoFile     Problem = "no_file"     // the session has no file
	NotWritten Problem = "not_written" // the file lacks thoughts that were never written
	Torn       Problem = "torn"        // the file ends in a part of a section
	FrontOld   Problem = "front_old"   // front matter has another state than the session
	NotStored  Problem = "not_stored"  // the store does not have the session
	FileAhead  Problem = "file_ahead"  // the store lacks the last thoughts of the session
)

// Problems that Sync leaves to a person.
const (
	Edited   Problem = "edited"    // sections differ from the log
	Deleted  Problem = "deleted"   // sections were deleted; a rebuild restores them
	Doubled  Problem = "doubled"   // thoughts have several sections
	Foreign  Problem = "foreign"   // sections belong to no thought in the log
	TwoFiles Problem = "two_files" // the session has files in two folders; one is used
	Failed   Problem = "failed"    // the file or the session cannot be read or written
)

// Repairable reports whether Sync repairs the problem.
func (p Problem) Repairable() bool {
	switch p {
	case NoFile, NotWritten, Torn, FrontOld, NotStored, FileAhead:
		return true
	}
	return false
}

// A Finding is a difference between a session and its file.
type Finding struct {
	Session  sequent.ID
	URI      vault.URI // of the file; for NoFile, of the file to create
	Problem  Problem
	Thoughts []int // positions in the log, if the problem concerns thoughts
	Err      error // for Failed
}

// String describes the finding in one line.
func (f Finding) String() string {
	text := map[Problem]string{
		NoFile: "has no file", NotWritten: "lacks thoughts", Torn: "ends in a part of a thought",
		FrontOld: "has another state than the session", NotStored: "is not in the store",
		FileAhead: "has thoughts that the store lacks", Edited: "has edited thoughts", Deleted: "lacks deleted thoughts",
		Doubled: "has thoughts twice", Foreign: "has thoughts of no session",
		TwoFiles: "is not the only file of its session", Failed: "cannot be read or written",
	}[f.Problem]
	if len(f.Thoughts) > 0 {
		text += " (" + ranges(f.Thoughts) + ")"
	}
	if f.Err != nil {
		text += ": " + f.Err.Error()
	}
	return fmt.Sprintf("%s %s", f.URI, text)
}

// ranges formats sorted numbers as 1-3, 7.
func ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// Check yields the differences between the store and the vault, session by session, and
// changes neither. It ends at the first error. While sessions are being written, it may
// report thoughts that are about to be written to their files.
func (f *Files) Check(ctx context.Context, store Store) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		list, findings, err := f.sessionFiles(ctx, store)
		if err != nil {
			yield(Finding{}, err)
			return
		}
		for _, finding := range findings {
			if !yield(finding, nil) {
				return
			}
		}
		for _, p := range list {
			if err := ctx.Err(); err != nil {
				yield(Finding{}, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: err})
				return
			}
			for _, finding := range f.check(ctx, store, p) {
				if !yield(finding, nil) {
					return
				}
			}
		}
	}
}

// check compares one session with its file.
func (f *Files) check(ctx context.Context, store Store, p sessionFile) []Finding {
	failed := func(err error) []Finding {
		return []Finding{{Session: p.id, URI: p.uri, Problem: Failed, Err: err}}
	}
	// The file is read first: what it has, the store had before.
	n, err := f.vault.Read(ctx, p.uri)
	if err != nil && !errors.Is(err, vault.ErrNotFound) {
		return failed(err)
	}
	s, stored := store.Session(ctx, p.id)
	switch {
	case stored != nil && !errors.Is(stored, sequent.ErrNotFound):
		return failed(stored)
	case stored != nil && n == nil:
		return nil
	case stored != nil && !hasSections(n):
		return nil // another note with the name of a session
	case stored != nil:
		if err := ownFile(&n.Front, p.id); err != nil {
			return failed(err)
		}
		return []Finding{{Session: p.id, URI: p.uri, Problem: NotStored}}
	case n == nil:
		return []Finding{{Session: p.id, URI: p.uri, Problem: NoFile}}
	}
	m := f.readMark(ctx, p.id)
	c, err := compare(n, s, m)
	if err != nil {
		return failed(err)
	}
	list := c.findings(p)
	if err := n.Front.Err(); err != nil {
		return append(list, Finding{Session: p.id, URI: p.uri, Problem: Failed, Err: err})
	}
	if c.frontOld(n, m) {
		list = append(list, Finding{Session: p.id, URI: p.uri, Problem: FrontOld})
	}
	return list
}

// findings returns the findings of the comparison, except front matter.
func (c *comparison) findings(p sessionFile) []Finding {
	var list []Finding
	add := func(problem Problem, is bool, thoughts []int) {
		if is {
			list = append(list, Finding{Session: p.id, URI: p.uri, Problem: problem, Thoughts: thoughts})
		}
	}
	add(Torn, c.torn, nil)
	add(NotWritten, c.add != "" && !c.torn, c.missing)
	var ahead []int
	for _, s := range c.ahead {
		ahead = append(ahead, s.Seq)
	}
	add(FileAhead, len(ahead) > 0, ahead)
	add(Edited, len(c.edited) > 0, c.edited)
	add(Deleted, len(c.deleted) > 0, c.deleted)
	add(Doubled, len(c.doubled) > 0, c.doubled)
	add(Foreign, c.foreign > 0, nil)
	return list
}

// frontOld reports whether the front matter must be updated: it differs from the session,
// and not because a person edited it.
func (c *comparison) frontOld(n *vault.Note, m mark) bool {
	s := c.session
	if !n.Front.Present() || c.front == frontKey(s) {
		return false
	}
	return m.Epoch != s.Epoch() || m.Front != frontKey(s) && m.Version <= s.Version()
}

// A sessionFile is a session and its file.
type sessionFile struct {
	id     sequent.ID
	uri    vault.URI
	info   vault.Info      // of the file; zero if there is none
	header *sequent.Header // in the store; nil if the store does not have it
}

// sessionFiles returns the sessions that have a file or should have one, in the order of
// their files, and the problems of the files themselves.
func (f *Files) sessionFiles(ctx context.Context, store Store) ([]sessionFile, []Finding, error) {
	var list []sessionFile
	var findings []Finding
	at := map[sequent.ID]int{}
	for info, err := range f.vault.WalkFolder(ctx, Folder) {
		if sequent.CodeOf(err) == sequent.CodeCanceled {
			return nil, nil, err
		}
		if err != nil {
			findings = append(findings, Finding{URI: vault.URI("memory://" + Folder), Problem: Failed, Err: err})
			continue
		}
		id := sequent.ID(info.URI.Name())
		if !ValidID(id) {
			continue
		}
		if i, ok := at[id]; ok {
			used, other := list[i].info, info
			if uri, found, err := f.Find(ctx, id); err == nil && found && uri == info.URI {
				used, other = info, list[i].info
			}
			list[i].uri, list[i].info = used.URI, used
			findings = append(findings, Finding{Session: id, URI: other.URI, Problem: TwoFiles})
			continue
		}
		at[id] = len(list)
		list = append(list, sessionFile{id: id, uri: info.URI, info: info})
	}
	for h, err := range store.AllSessions(ctx, sequent.Query{ByCreated: true}) {
		if err != nil {
			return nil, nil, err
		}
		if j, ok := at[h.ID]; ok {
			list[j].header = &h
		} else if ValidID(h.ID) && (f.owns(&h) || f.readMark(ctx, h.ID).Epoch == h.Epoch) {
			uri, err := vault.PathURI(flat(h.ID))
			if err != nil {
				return nil, nil, err
			}
			at[h.ID] = len(list)
			list = append(list, sessionFile{id: h.ID, uri: uri, header: &h})
		}
	}
	return list, findings, nil
}

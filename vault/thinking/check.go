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

// A Store is where sessions are: a [sequent.Engine].
type Store interface {
	Session(ctx context.Context, id sequent.ID) (*sequent.Session, error)
	Sessions(ctx context.Context, q sequent.Query) (sequent.Page, error)
	Restore(ctx context.Context, h sequent.Header, log []sequent.Thought) (sequent.Restored, error)
}

// A Problem is a kind of difference between the store and the vault.
type Problem string

// What [Files.Sync] mends.
const (
	NoFile     Problem = "no_file"     // the session has no file
	NotWritten Problem = "not_written" // thoughts have never been written to the file
	Torn       Problem = "torn"        // the file ends in a part of a section
	FrontOld   Problem = "front_old"   // front matter tells an earlier state, or another
	NotStored  Problem = "not_stored"  // the store does not have the session
	FileAhead  Problem = "file_ahead"  // the store lacks the last thoughts of the session
)

// What Sync leaves as it is: it is a person's, or for a person to decide.
const (
	Edited   Problem = "edited"    // sections say something else than the log; they stay so
	Deleted  Problem = "deleted"   // sections were deleted; a rebuild brings them back
	Doubled  Problem = "doubled"   // sections are there more than once
	Foreign  Problem = "foreign"   // sections are of no thought in the log
	TwoFiles Problem = "two_files" // the session has files in two folders; one is used
	Failed   Problem = "failed"    // the file or the session cannot be used
)

// Mended reports whether Sync does something about the problem.
func (p Problem) Mended() bool {
	switch p {
	case NoFile, NotWritten, Torn, FrontOld, NotStored, FileAhead:
		return true
	}
	return false
}

// A Finding is a difference between a session and its file.
type Finding struct {
	Session  sequent.ID
	URI      vault.URI // of the file; where it would be, for NoFile
	Problem  Problem
	Thoughts []int // positions in the log, where the problem has some
	Err      error // for Failed
}

// String says the finding in one line.
func (f Finding) String() string {
	text := map[Problem]string{
		NoFile: "has no file", NotWritten: "lacks thoughts", Torn: "ends in a part of a thought",
		FrontOld: "does not tell the state of the session", NotStored: "is not in the store",
		FileAhead: "has thoughts that the store lacks", Edited: "has edited thoughts", Deleted: "lacks deleted thoughts",
		Doubled: "has thoughts twice", Foreign: "has thoughts that are not the session's",
		TwoFiles: "is not the only file of its session", Failed: "cannot be used",
	}[f.Problem]
	if len(f.Thoughts) > 0 {
		text += " (" + ranges(f.Thoughts) + ")"
	}
	if f.Err != nil {
		text += ": " + f.Err.Error()
	}
	return fmt.Sprintf("%s %s", f.URI, text)
}

// ranges writes numbers in order as 1-3, 7.
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

// Check yields what differs between the store and the vault, session by session,
// and changes neither. An error ends it. While sessions are being written to, it
// may see thoughts that are on their way to a file.
func (f *Files) Check(ctx context.Context, store Store) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		list, findings, err := f.places(ctx, store)
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
				yield(Finding{}, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was given up", Err: err})
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
func (f *Files) check(ctx context.Context, store Store, p sessionPlace) []Finding {
	failed := func(err error) []Finding {
		return []Finding{{Session: p.id, URI: p.uri, Problem: Failed, Err: err}}
	}
	// The file first: the store has what a file has.
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
	case stored != nil && !tells(n):
		return nil // a note that has the name of a session
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

// findings returns what the comparison has found, apart from front matter.
func (c *comparison) findings(p sessionPlace) []Finding {
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

// frontOld reports whether front matter is to be brought up to date: it tells
// something else than the session, which a person has not made it tell.
func (c *comparison) frontOld(n *vault.Note, m mark) bool {
	s := c.session
	if !n.Front.Present() || c.front == frontKey(s) {
		return false
	}
	return m.Epoch != s.Epoch() || m.Front != frontKey(s) && m.Version <= s.Version()
}

// A sessionPlace is a session with the place of its file.
type sessionPlace struct {
	id     sequent.ID
	uri    vault.URI
	info   vault.Info      // of the file; zero if there is none
	header *sequent.Header // in the store; nil if it is not there
}

// places returns the sessions that have a file or should have one, in the order
// of their files, and what is wrong with the files themselves.
func (f *Files) places(ctx context.Context, store Store) ([]sessionPlace, []Finding, error) {
	var list []sessionPlace
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
		list = append(list, sessionPlace{id: id, uri: info.URI, info: info})
	}
	q := sequent.Query{Limit: 500, ByCreated: true}
	for {
		page, err := store.Sessions(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		for i := range page.Headers {
			h := &page.Headers[i]
			if j, ok := at[h.ID]; ok {
				list[j].header = h
			} else if ValidID(h.ID) && (f.owns(h) || f.readMark(ctx, h.ID).Epoch == h.Epoch) {
				uri, err := vault.PathURI(flat(h.ID))
				if err != nil {
					return nil, nil, err
				}
				at[h.ID] = len(list)
				list = append(list, sessionPlace{id: h.ID, uri: uri, header: h})
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return list, findings, nil
		}
	}
}

// Package reference writes and reads the references by which people, documents and URLs name a session or one
// of its thoughts, such as plan#3.
package reference

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A Reference names a session or one of its thoughts. People, documents and URLs write
// it in one of these forms:
//
//	ID          the session
//	ID#9        the latest thought of the main line with the number 9
//	ID#name#9   the latest thought of the branch name with the number 9
//	ID@17       the thought at position 17 of the log
//
// Only the last form names the same thought for ever: a later thought can get a number
// that another one has. [Parse] also reads references without the ID.
//
// IDs and names of branches may contain # and @ themselves. A text is read as the
// reference with the longest ID that exists: "a#b#9" is thought 9 of the session "a#b"
// if there is one, otherwise of the branch b of the session "a". The last # is the one
// before the number. Whatever a text could mean besides, ID@17 names every thought.
type Reference struct {
	Session sequent.ID  // empty for the session that the context gives
	Branch  string      // empty or "main" for the main line
	Number  sequent.Ref // the author's number, if the reference has one
	Seq     int         // position in the log; 0 if the reference has none
}

// String returns the reference in the form that [Readings] reads.
func (r Reference) String() string {
	n, numbered := r.Number.Number()
	switch {
	case r.Seq > 0:
		return fmt.Sprintf("%s@%d", r.Session, r.Seq)
	case !numbered:
		return string(r.Session)
	case r.Branch == "":
		return fmt.Sprintf("%s#%d", r.Session, n)
	}
	return fmt.Sprintf("%s#%s#%d", r.Session, r.Branch, n)
}

// Short returns the reference without the ID, in the form that [Parse]
// reads: #9, name#9 or @17. It is empty if the reference names no thought.
func (r Reference) Short() string {
	id := string(r.Session)
	r.Session = ""
	text := r.String()
	if r.Branch == "" || r.Seq > 0 || strings.HasPrefix(r.Branch, "#") {
		return text
	}
	if rest, ok := strings.CutPrefix(text[1:], id); ok && id != "" {
		if _, ok := afterID(rest); ok { // would be read as a reference with the ID
			return text
		}
	}
	return text[1:]
}

// NamesThought reports whether r names a thought, not only a session.
func (r Reference) NamesThought() bool { return r.Seq > 0 || r.Number != sequent.Ref{} }

// Readings yields all readings of a text as a reference, the one with the longest ID
// first. The first reading is always the session whose ID is the whole text.
func Readings(text string) iter.Seq[Reference] {
	return func(yield func(Reference) bool) {
		if !yield(Reference{Session: sequent.ID(text)}) {
			return
		}
		for i := len(text) - 1; i > 0; i-- {
			if r, ok := afterID(text[i:]); ok {
				r.Session = sequent.ID(text[:i])
				if !yield(r) {
					return
				}
			}
		}
	}
}

// afterID parses what follows the ID of a reference: #9, #name#9 or @17.
func afterID(text string) (Reference, bool) {
	if text == "" {
		return Reference{}, false
	}
	rest := text[1:]
	n, ok := decimal(rest)
	switch {
	case text[0] == '@':
		return Reference{Seq: n}, ok && n > 0
	case text[0] != '#':
		return Reference{}, false
	case ok:
		return Reference{Number: sequent.To(n)}, true
	}
	last := strings.LastIndexByte(rest, '#')
	if last < 1 {
		return Reference{}, false
	}
	n, ok = decimal(rest[last+1:])
	return Reference{Branch: rest[:last], Number: sequent.To(n)}, ok
}

// decimal parses a number as String writes it, so that each thought has one spelling.
func decimal(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == text
}

// Find returns the session that a text refers to, and the text as a [Reference]. Of
// several readings it takes the one with the longest ID that exists. The caller
// resolves the reference if it names a thought.
//
// The error has the code [sequent.CodeSessionNotFound] if no reading has a session.
func Find(ctx context.Context, e *sequent.Engine, text string) (*sequent.Session, Reference, error) {
	var missing error
	for r := range Readings(text) {
		s, err := e.Session(ctx, r.Session)
		switch sequent.CodeOf(err) {
		case "":
			return s, r, nil
		case sequent.CodeSessionNotFound, sequent.CodeInvalidSession, sequent.CodeLimitExceeded: // another reading may have a valid ID
			if sequent.CodeOf(missing) != sequent.CodeSessionNotFound {
				missing = err
			}
		default:
			return nil, Reference{}, err
		}
	}
	return nil, Reference{}, missing
}

// Parse parses a reference to a thought of a session. The ID may be left out:
// 9 and #9 name a thought of the main line, name#9 and #name#9 one of a branch, @17 the
// one at a position of the log. A text that begins with the ID and a # or @ is read as a
// reference with an ID if it can be. The result names a thought that may not exist;
// [Reference.Resolve] returns it.
func Parse(s *sequent.Session, text string) (Reference, error) {
	if rest, ok := strings.CutPrefix(text, string(s.ID())); ok {
		if r, ok := afterID(rest); ok {
			r.Session = s.ID()
			return r, nil
		}
	}
	for _, rest := range []string{text, "#" + text} {
		if r, ok := afterID(rest); ok {
			return r, nil
		}
	}
	return Reference{}, sequent.Errorf(sequent.CodeInvalidThought, "thought",
		"write 9 or #9 for a thought of the main line, name#9 for one of a branch, @17 for a position in the log",
		"%.80q does not name a thought", text)
}

// Resolve returns the thought of a session that r names. The error of a reference to no
// thought has the code [sequent.CodeThoughtNotFound] and tells the numbers that exist.
func (r Reference) Resolve(s *sequent.Session) (sequent.Thought, error) {
	n, numbered := r.Number.Number()
	switch {
	case r.Session != "" && r.Session != s.ID():
		return sequent.Thought{}, sequent.Errorf(sequent.CodeThoughtNotFound, "thought", "", "%s is a thought of another session than %s", r, s.ID())
	case r.Seq == 0 && !numbered:
		return sequent.Thought{}, sequent.Errorf(sequent.CodeInvalidThought, "thought", fmt.Sprintf("add its number, as in %s#1", s.ID()),
			"the reference names no thought")
	case r.Seq > 0:
		if t, ok := s.At(r.Seq); ok {
			return t, nil
		}
		return sequent.Thought{}, sequent.Errorf(sequent.CodeThoughtNotFound, "thought", "", "there is no thought @%d: the log of %q has %d thoughts", r.Seq, s.ID(), s.Len())
	}
	branch, err := Line(s, r.Branch)
	if err != nil {
		return sequent.Thought{}, err
	}
	if t, ok := latest(s, branch, n); ok {
		return t, nil
	}
	return sequent.Thought{}, notOnLine(s, branch, n)
}

// To returns the reference to thought seq of a session: by its number, or by its position if a
// later thought of the line has the same number.
func To(s *sequent.Session, seq int) Reference {
	r := Reference{Session: s.ID(), Seq: seq}
	t, ok := s.At(seq)
	if !ok || t.Number < 0 {
		return r
	}
	if named, ok := latest(s, t.Branch, t.Number); ok && named.Seq == seq {
		return Reference{Session: s.ID(), Branch: t.Branch, Number: sequent.To(t.Number)}
	}
	return r
}

// Line returns the label of the line that a name stands for: [sequent.MainLine] for an empty
// name, and for "main" unless a branch has that name. The error of an unknown name has the
// code [sequent.CodeThoughtNotFound] and tells the branches that exist.
func Line(s *sequent.Session, name string) (branch string, err error) {
	branches := s.Branches()
	switch {
	case name == "" || slices.Contains(branches, name):
		return name, nil
	case name == "main":
		return sequent.MainLine, nil
	}
	fix := "it has no branches; leave the name out"
	if len(branches) > 0 {
		fix = "its branches are " + someOf(branches)
	}
	return "", sequent.Errorf(sequent.CodeThoughtNotFound, "branch", fix, "the session %q has no branch %q", s.ID(), name)
}

// someOf returns a list of names, shortened to a sentence that can be read.
func someOf(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// latest returns the latest thought with a number among those of one line.
func latest(s *sequent.Session, branch string, number int) (sequent.Thought, bool) {
	t, ok := s.Find(branch, number)
	return t, ok && t.Branch == branch
}

func notOnLine(s *sequent.Session, branch string, number int) error {
	var have []int
	var elsewhere, fixes []string
	for t := range s.All() {
		r := Reference{Session: s.ID(), Branch: t.Branch, Number: sequent.To(number)}.String()
		switch {
		case t.Branch == branch:
			have = append(have, t.Number)
			fixes = []string{"name one of these"}
		case t.Number == number && !slices.Contains(elsewhere, r):
			elsewhere = append(elsewhere, r)
		}
	}
	if len(elsewhere) > 0 {
		fixes = append(fixes, someOf(elsewhere))
	}
	where := "the main line"
	if branch != sequent.MainLine {
		where = fmt.Sprintf("the branch %q", branch)
	}
	return sequent.Errorf(sequent.CodeThoughtNotFound, "thought", strings.Join(fixes, ", or "),
		"there is no thought %d on %s of %q, whose numbers are %s", number, where, s.ID(), cmp.Or(sequent.Ranges(have), "none yet"))
}

package thinking

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// The keys of front matter.
const (
	keyTitle     = "title"
	keyPermalink = "permalink"
	keyType      = "type"
	keyStatus    = "status"
	keyCreated   = "created"
	keyModified  = "modified"
	keyAnalysis  = "analysisType"
	keyParent    = "parent"
	keyCompleted = "completed"
	keyCancelled = "cancelled"
	keyThoughts  = "thoughtCount" // how much of the log has been written
	keyOmitted   = "omitted"      // how many thoughts of a long session are not in the note
	keyMissing   = "missing"
)

// written returns how many thoughts of the log a note has had.
func written(f *vault.Front) int {
	n, err := strconv.Atoi(f.Get(keyThoughts))
	if err != nil {
		return 0
	}
	return n
}

// behind reports whether front matter has an earlier state than that of a header.
func behind(f *vault.Front, h sequent.Header) bool {
	return written(f) < h.Len || f.Time(keyModified).Before(h.Updated.Truncate(time.Millisecond))
}

// merge writes into a note, which may be empty, what it lacks of a session. What a person
// has written or deleted stays so.
func merge(n *vault.Note, s *sequent.Session, limit int64) error {
	if err := ownNote(&n.Front, s.ID()); err != nil {
		return err
	}
	if len(n.Bytes()) == 0 {
		n.Body = "\n# " + title(s) + "\n"
		err := n.Front.SetAll(keyTitle, title(s), keyPermalink, s.ID(), keyType, "sequential", keyStatus, s.State(), keyCreated, s.Created())
		if err != nil {
			return err
		}
	}
	var add strings.Builder
	for _, t := range missing(n, s) {
		add.WriteString(Text(s, t))
	}
	if add.Len() > 0 {
		n.AddSection(add.String()[1:])
	}
	if err := writeState(&n.Front, s); err != nil {
		return err
	}
	if int64(len(n.Bytes())) > limit || strings.Count(n.Body, "[[") > vault.MaxLinks {
		return shorten(n, s, int(limit))
	}
	return nil
}

// ownNote refuses a note with the permalink of another session: a copy, or on a
// case-insensitive file system the note of a session with a similar id.
func ownNote(f *vault.Front, id sequent.ID) error {
	if other := sequent.ID(f.Get(keyPermalink)); !ValidID(other) || other == id {
		return nil
	}
	return sequent.Errorf(sequent.CodeSessionExists, "sessionId", "move the file to another folder, or rename it if it is a copy",
		"the file of %s in the vault belongs to another session", id)
}

// missing returns the thoughts that a note was never given. A thought that it was given and
// does not have was deleted by a person.
func missing(n *vault.Note, s *sequent.Session) (list []sequent.Thought) {
	last := 0                  // of the log in the note
	have := make(map[int]bool) // false for a section of another log, such as that before a restored backup
	for _, sec := range Sections(n.Body) {
		t, ok := s.At(sec.Seq)
		if ok = ok && (sec.At.IsZero() || sec.At.Unix() == t.At.Unix() || sec.Draft.Text == t.Text); ok {
			last = max(last, sec.Seq)
		}
		have[sec.Seq] = have[sec.Seq] || ok
	}
	had, at := written(&n.Front), n.Front.Time(keyModified)
	for t := range s.All() {
		own, other := have[t.Seq]
		given := t.Seq < last || t.Seq <= had && !t.At.Truncate(time.Millisecond).After(at)
		// A call that cancels can leave all texts out, and front matter has when it did.
		empty := t.Text == "" && t.Note == "" && conclusionOf(s, t) == ""
		if !own && !empty && (other || !given) {
			list = append(list, t)
		}
	}
	return list
}

var closed = []sequent.State{sequent.Completed, sequent.Cancelled, sequent.Abandoned}

// writeState writes the session's state into front matter, unless a person has deleted or
// damaged that, or the state is not newer.
func writeState(f *vault.Front, s *sequent.Session) error {
	if !f.Present() || f.Err() != nil || !behind(f, s.Header()) {
		return nil
	}
	status := string(s.State())
	if now := f.Get(keyStatus); s.State() == sequent.Active && now != "" && !slices.Contains(closed, sequent.State(now)) {
		status = now // a person may have written another word for it
	}
	ends := map[sequent.State]any{s.State(): s.Updated()}
	var lacks any
	if text := s.Label(LabelMissing); text != "" {
		lacks = strings.Split(text, ", ")
	}
	parent := s.Label(LabelParent)
	if parent != "" {
		parent = "[[workflow/" + parent + "]]"
	}
	return f.SetAll(keyStatus, status, keyModified, s.Updated(), keyAnalysis, s.Label(LabelAnalysisType), keyParent, parent,
		keyCompleted, ends[sequent.Completed], keyCancelled, ends[sequent.Cancelled], keyThoughts, s.Len(), keyMissing, lacks)
}

// shorten removes the first sections of a note that would be larger than a note may be, and
// sets the key that counts them. The newest, in half of the limit so that the next ones find
// room, stay, and so do those that a person has edited.
func shorten(n *vault.Note, s *sequent.Session, limit int) error {
	list := Sections(n.Body)
	size, links := len(n.Body), strings.Count(n.Body, "[[")
	var b strings.Builder
	done, omitted := 0, 0
	for i, sec := range list {
		if size <= limit/2 && links <= vault.MaxLinks/2 || i == len(list)-1 {
			break
		}
		part := n.Body[sec.Start:sec.End]
		if t, ok := s.At(sec.Seq); ok && slices.Equal(strings.Fields(part), strings.Fields(Text(s, t))) {
			b.WriteString(strings.TrimSuffix(n.Body[done:sec.Start], "\n"))
			done, omitted = sec.End, sec.Seq
			size, links = size-len(part), links-strings.Count(part, "[[")
		}
	}
	n.Body = b.String() + n.Body[done:]
	if omitted == 0 || !n.Front.Present() || n.Front.Err() != nil {
		return nil
	}
	return n.Front.Set(keyOmitted, omitted)
}

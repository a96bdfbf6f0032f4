package thinking

import (
	"cmp"
	"strings"

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
	keyThoughts  = "thoughtCount"
	keyMissing   = "missing"
)

// frontKey returns what front matter tells of a session that can change.
func frontKey(s *sequent.Session) string {
	return strings.Join([]string{
		string(s.State()), s.Label(LabelAnalysisType), workflowLink(s.Label(LabelParent)), s.Label(LabelMissing),
	}, "|")
}

// frontKeyOf returns what a file's front matter tells.
func frontKeyOf(f *vault.Front) string {
	return strings.Join([]string{
		f.Get(keyStatus), f.Get(keyAnalysis), linkIn(f, keyParent), strings.Join(f.List(keyMissing), ", "),
	}, "|")
}

// linkIn returns a link, which YAML takes for a list in a list where it has no
// quotes.
func linkIn(f *vault.Front, key string) string {
	if s := f.Get(key); s != "" {
		return s
	}
	if list := f.List(key); len(list) == 1 {
		return list[0]
	}
	return ""
}

// describe writes the front matter of a new file.
func describe(f *vault.Front, s *sequent.Session) error {
	for _, kv := range [][2]string{{keyTitle, title(s)}, {keyPermalink, string(s.ID())}, {keyType, "sequential"}, {keyStatus, string(s.State())}} {
		if err := f.Set(kv[0], kv[1]); err != nil {
			return err
		}
	}
	if err := f.SetTime(keyCreated, s.Created()); err != nil {
		return err
	}
	return tell(f, s)
}

// tell writes what has changed of a session into front matter, if there is any.
func tell(f *vault.Front, s *sequent.Session) error {
	if !f.Present() {
		return nil // a person has deleted it
	}
	t := teller{front: f}
	t.set(keyStatus, string(s.State()))
	t.err = cmp.Or(t.err, f.SetTime(keyModified, s.Updated()))
	t.set(keyAnalysis, s.Label(LabelAnalysisType))
	t.set(keyParent, workflowLink(s.Label(LabelParent)))
	for key, state := range map[string]sequent.State{keyCompleted: sequent.Completed, keyCancelled: sequent.Cancelled} {
		if s.State() != state {
			t.set(key, "")
		} else if t.err == nil {
			t.err = f.SetTime(key, s.Updated())
		}
	}
	if s.State() == sequent.Active {
		t.set(keyThoughts, "")
	} else if t.err == nil {
		t.err = f.SetInt(keyThoughts, s.Len())
	}
	if lacks := s.Label(LabelMissing); lacks == "" {
		t.set(keyMissing, "")
	} else if t.err == nil {
		t.err = f.SetList(keyMissing, strings.Split(lacks, ", "))
	}
	return t.err
}

// A teller sets keys until one cannot be set.
type teller struct {
	front *vault.Front
	err   error
}

// set gives a key a value, or removes it if that is empty.
func (t *teller) set(key, value string) {
	switch {
	case t.err != nil:
	case value == "":
		t.err = t.front.Delete(key)
	default:
		t.err = t.front.Set(key, value)
	}
}

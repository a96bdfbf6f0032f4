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

// frontKey returns the state of a session for comparison with its front matter.
func frontKey(s *sequent.Session) string {
	return strings.Join([]string{
		string(s.State()), s.Label(LabelAnalysisType), workflowLink(s.Label(LabelParent)), s.Label(LabelMissing),
	}, "|")
}

// frontKeyOf returns the state in front matter.
func frontKeyOf(f *vault.Front) string {
	return strings.Join([]string{
		f.Get(keyStatus), f.Get(keyAnalysis), linkIn(f, keyParent), strings.Join(f.List(keyMissing), ", "),
	}, "|")
}

// linkIn returns a link, which YAML parses as a list of a list if it has no quotes.
func linkIn(f *vault.Front, key string) string {
	if s := f.Get(key); s != "" {
		return s
	}
	if list := f.List(key); len(list) == 1 {
		return list[0]
	}
	return ""
}

// initFront sets the front matter of a new file.
func initFront(f *vault.Front, s *sequent.Session) error {
	for _, kv := range [][2]string{{keyTitle, title(s)}, {keyPermalink, string(s.ID())}, {keyType, "sequential"}, {keyStatus, string(s.State())}} {
		if err := f.Set(kv[0], kv[1]); err != nil {
			return err
		}
	}
	if err := f.SetTime(keyCreated, s.Created()); err != nil {
		return err
	}
	return writeState(f, s)
}

// writeState writes the session's state into existing front matter.
func writeState(f *vault.Front, s *sequent.Session) error {
	if !f.Present() {
		return nil // a person deleted it
	}
	t := setter{front: f}
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

// A setter sets keys up to the first error.
type setter struct {
	front *vault.Front
	err   error
}

// set sets a key, or deletes it if the value is empty.
func (t *setter) set(key, value string) {
	switch {
	case t.err != nil:
	case value == "":
		t.err = t.front.Delete(key)
	default:
		t.err = t.front.Set(key, value)
	}
}

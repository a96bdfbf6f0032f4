package importer

import "github.com/sequent-dev/sequent"

// An Outcome is what became of a file.
type Outcome string

// The outcomes.
const (
	Added     Outcome = "added"     // the store did not have the session
	Extended  Outcome = "extended"  // the store had an earlier state of it
	Unchanged Outcome = "unchanged" // the store had all of it
	Failed    Outcome = "failed"    // Result.Err tells why; nothing of the file is in the store
)

// A Result is what became of one file.
type Result struct {
	File     string
	Kind     Kind // empty if it is of none
	Outcome  Outcome
	Key      sequent.Key // of the session; empty if the file could not be read
	Title    string
	Thoughts int      // in the file
	Warnings []string // what was left out of a file that is otherwise in order
	Err      error    // for Failed; with a code for programs
}

// A Summary counts what became of files.
type Summary struct {
	Added, Extended, Unchanged, Failed int
	Passed                             int // files in folders that hold no sessions
}

func (s *Summary) count(o Outcome) {
	switch o {
	case Added:
		s.Added++
	case Extended:
		s.Extended++
	case Unchanged:
		s.Unchanged++
	default:
		s.Failed++
	}
}

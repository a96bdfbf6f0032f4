package importer

import "github.com/sequent-dev/sequent"

// An Outcome is the result of importing a file.
type Outcome string

// The outcomes.
const (
	Added     Outcome = "added"     // the store did not have the session
	Extended  Outcome = "extended"  // the store had an earlier state of it
	Unchanged Outcome = "unchanged" // the store had all of it
	Failed    Outcome = "failed"    // see Result.Err; nothing of the file was stored
)

// A Result is the result of importing one file.
type Result struct {
	File     string
	Kind     Kind // empty if it is not recognised
	Outcome  Outcome
	Key      sequent.Key // of the session; empty if the file could not be read
	Title    string
	Thoughts int      // in the file
	Warnings []string // parts of the file that were skipped
	Err      error    // if Outcome is Failed
}

// A Summary counts files by outcome.
type Summary struct {
	Added     int `json:"added"`
	Extended  int `json:"extended"`
	Unchanged int `json:"unchanged"`
	Failed    int `json:"failed"`
	Passed    int `json:"passed"` // files in folders that are not sessions
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

package standard

import (
	"cmp"
	"fmt"

	"github.com/sequent-dev/sequent"
)

// notFound returns the refusal of a reference to a number that no thought has.
func notFound(field string, number int, s *sequent.Session) error {
	var have []int
	for t := range s.All() {
		have = append(have, t.Number)
	}
	return missing(field, number, "in the session", have, "name one of these")
}

// notOnPath returns the refusal of a reference to a number that no thought on the path
// to the end of a line has, except the thought at position without.
func notOnPath(field string, number int, s *sequent.Session, branch string, without int, fix string) error {
	var have []int
	for _, t := range s.Path(branch) {
		if t.Seq != without {
			have = append(have, t.Number)
		}
	}
	where := "on the main line"
	if branch != "" {
		where = fmt.Sprintf("on the path of branch %q", branch)
	}
	return missing(field, number, where, have, cmp.Or(fix, "name one of these"))
}

func missing(field string, number int, where string, have []int, fix string) error {
	r := &refusal{
		Code: codeThoughtNotFound, Field: field,
		Message: fmt.Sprintf("%s is %d, but the numbers %s are %s", field, number, where, sequent.Ranges(have)),
		Fix:     fix,
	}
	if len(have) == 0 {
		r.Message = fmt.Sprintf("%s is %d, but there is no thought before this one", field, number)
		r.Fix = "leave it out, or pass the sessionId of the session you mean"
	}
	return r
}

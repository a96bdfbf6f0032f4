package standard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
		Message: fmt.Sprintf("%s is %d, but the numbers %s are %s", field, number, where, ranges(have)),
		Fix:     fix,
	}
	if len(have) == 0 {
		r.Message = fmt.Sprintf("%s is %d, but there is no thought before this one", field, number)
		r.Fix = "leave it out, or pass the sessionId of the session you mean"
	}
	return r
}

// maxRanges limits a list of numbers in a message for a model.
const maxRanges = 12

// ranges returns numbers in short form: "1-4, 7".
func ranges(numbers []int) string {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var parts []string
	for i := 0; i < len(numbers); {
		first := numbers[i]
		last := first
		for i++; i < len(numbers) && numbers[i] == last+1; i++ {
			last++
		}
		part := strconv.Itoa(first)
		if last > first {
			part += "-" + strconv.Itoa(last)
		}
		parts = append(parts, part)
	}
	if len(parts) > maxRanges {
		parts = append(append(parts[:1:1], "…"), parts[len(parts)-maxRanges+1:]...)
	}
	return strings.Join(parts, ", ")
}

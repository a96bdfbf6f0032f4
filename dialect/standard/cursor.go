package standard

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A position is the place in a session where a page ended. Later thoughts do not change
// it.
type position struct {
	known  int // thoughts in the session at the first page
	before int // the next page ends before this item
}

var errCursor = &refusal{
	Code: codeInvalidCursor, Field: "cursor",
	Message: "the cursor does not belong to this call",
	Fix:     "repeat the call that gave it with nothing but the cursor added, or leave it out",
}

// cursor returns the position as a cursor. It is short because a model repeats it.
func (at position) cursor(in recallArgs, s *sequent.Session) string {
	return fmt.Sprintf("%d-%d-%s", at.known, at.before, check(in, s))
}

func parsePosition(in recallArgs, s *sequent.Session) (position, error) {
	known, rest, _ := strings.Cut(in.Cursor, "-")
	before, sum, _ := strings.Cut(rest, "-")
	at := position{}
	var errs [2]error
	at.known, errs[0] = strconv.Atoi(known)
	at.before, errs[1] = strconv.Atoi(before)
	if errs[0] != nil || errs[1] != nil || sum != check(in, s) ||
		at.known < 1 || at.known > s.Len() || at.before < 1 {
		return position{}, errCursor
	}
	return at, nil
}

// check returns 12 bits of a hash of the query, so that cursors of other queries are
// refused.
func check(in recallArgs, s *sequent.Session) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%q %q %q", s.ID(), in.View, in.Branch)
	return fmt.Sprintf("%03x", h.Sum32()&0xfff)
}

package standard

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A position says where a page of a session ended: the session had so many
// thoughts, and the items before that one are still to be shown. Thoughts that
// come later do not change what it means.
type position struct {
	known  int
	before int
}

var errCursor = &refusal{
	Code: codeInvalidCursor, Field: "cursor",
	Message: "the cursor does not belong to this call",
	Fix:     "repeat the call that gave it with nothing but the cursor added, or leave it out",
}

// cursor returns the position for a model to pass on. It is short because a
// model writes it.
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

// check tells the cursors of one question from those of another.
func check(in recallArgs, s *sequent.Session) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%q %q %q", s.ID(), in.View, in.Branch)
	return fmt.Sprintf("%03x", h.Sum32()&0xfff)
}

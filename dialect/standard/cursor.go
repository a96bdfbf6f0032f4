package standard

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A position is the place in a session where a page ended, and what the page showed.
// Later thoughts do not change it.
type position struct {
	known  int // thoughts in the session at the first page
	before int // the next page ends before this item
	view   string
	status string
	line   string
	whole  bool // all lines
}

var errCursor = &refusal{
	Code: codeInvalidCursor, Field: "cursor",
	Message: "the cursor does not belong to this call",
	Fix:     "repeat the call with nothing but the cursor, or leave it out",
}

// Letters of the views and states in a cursor.
var (
	cursorViews  = []string{viewEffective, viewLog, viewOutline}
	cursorStates = []string{
		"", string(sequent.Current), string(sequent.Superseded), string(sequent.Left), string(sequent.Disputed), string(sequent.Concluded),
	}
)

func (at position) until(before int) position {
	at.before = before
	return at
}

// cursor returns the position as a cursor, such as 21-9-000-6t7khgb34fjm. It is short
// because a model repeats it, and has all that the next call needs: the thoughts at the
// first page, the next item, the view, the status, the line, and the session.
func (at position) cursor(s *sequent.Session) string {
	line := 0
	if !at.whole {
		line = 1 + slices.Index(append([]string{""}, s.Branches()...), at.line)
	}
	return fmt.Sprintf("%d-%d-%d%d%d-%s", at.known, at.before,
		slices.Index(cursorViews, at.view), slices.Index(cursorStates, at.status), line, s.ID())
}

// splitCursor returns the session of a cursor of a session.
func splitCursor(cursor string) (place string, id sequent.ID, ok bool) {
	parts := strings.SplitN(cursor, "-", 4)
	if len(parts) < 4 || parts[3] == "" || cursor[0] < '0' || cursor[0] > '9' {
		return "", "", false
	}
	return strings.Join(parts[:3], "-"), sequent.ID(parts[3]), true
}

func parsePosition(cursor string, s *sequent.Session) (position, error) {
	place, id, ok := splitCursor(cursor)
	var at position
	var view, status, line int
	if ok {
		_, err := fmt.Sscanf(place, "%d-%d-%1d%1d%d", &at.known, &at.before, &view, &status, &line)
		ok = err == nil
	}
	branches := append([]string{"", ""}, s.Branches()...)
	if !ok || id != s.ID() || at.known < 1 || at.known > s.Len() || at.before < 1 ||
		view < 0 || view >= len(cursorViews) || status < 0 || status >= len(cursorStates) || line < 0 || line >= len(branches) {
		return position{}, errCursor
	}
	at.view, at.status, at.line, at.whole = cursorViews[view], cursorStates[status], branches[line], line == 0
	return at, nil
}

// check refuses arguments that say something else than the cursor, and fills in those
// that were left out.
func (at position) check(in *recallArgs, s *sequent.Session) error {
	line, whole := at.line, at.whole
	if in.Branch != "" {
		label, err := lineNamed(s, in.Branch)
		if err != nil {
			return err
		}
		line, whole = label, false
	}
	if line != at.line || whole != at.whole || in.View != "" && in.View != at.view || in.Status != "" && in.Status != at.status {
		return errCursor
	}
	in.View, in.Status = at.view, at.status
	if !at.whole {
		in.Branch = at.line
		if at.line == "" {
			in.Branch = mainLine
		}
	}
	return nil
}

// The cursors of lists and searches have a letter of their own.
const (
	cursorList   = "l"
	cursorAll    = "L" // of all projects
	cursorSearch = "q"
)

// listCursor returns the cursor of the next page of a list.
func listCursor(in recallArgs, next string) string {
	switch {
	case next == "":
		return ""
	case in.Session == allProjects:
		return cursorAll + next
	}
	return cursorList + next
}

// searchCursor returns the cursor of the next page of a search, with the query.
func searchCursor(in recallArgs, next string) string {
	if next == "" {
		return ""
	}
	return cursorSearch + base64.RawURLEncoding.EncodeToString([]byte(in.Session+"\x00"+in.Query)) + "." + next
}

// resume fills in what a cursor says of the call that it belongs to.
func (in *recallArgs) resume() error {
	if in.Cursor == "" {
		return nil
	}
	var session, query string
	if _, id, ok := splitCursor(in.Cursor); ok {
		session = string(id)
	} else if rest, ok := strings.CutPrefix(in.Cursor, cursorList); ok {
		in.Cursor = rest
	} else if rest, ok := strings.CutPrefix(in.Cursor, cursorAll); ok {
		session, in.Cursor = allProjects, rest
	} else {
		asked, next, _ := strings.Cut(strings.TrimPrefix(in.Cursor, cursorSearch), ".")
		text, err := base64.RawURLEncoding.DecodeString(asked)
		s, q, ok := strings.Cut(string(text), "\x00")
		if err != nil || !ok || next == "" {
			return errCursor
		}
		session, query, in.Cursor = s, q, next
	}
	if in.Session != "" && in.Session != session || in.Query != "" && in.Query != query {
		return errCursor
	}
	in.Session, in.Query = session, query
	return nil
}

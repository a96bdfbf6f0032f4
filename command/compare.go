package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
)

// mainLine is what people call the line without a label.
const mainLine = "main"

// A comparison is where two lines of a session part, what each has of its own that still holds, and
// how each ends.
type comparison struct {
	Session    sequent.ID `json:"session"`
	Lines      [2]string  `json:"lines"`
	Comparison string     `json:"comparison"`
}

func (c *comparison) text(pg *page) { pg.prose(c.Comparison) }

// compareLines compares the lines that --compare names. One name of a session with two lines is
// compared with the other line.
func compareLines(ctx context.Context, s *sequent.Session, names []string) (result, error) {
	lines := append([]string{""}, s.Branches()...)
	shown := make([]string, len(lines))
	for i, line := range lines {
		shown[i] = cmp.Or(line, mainLine)
	}
	if len(lines) == 1 {
		return nil, &usageError{
			msg: fmt.Sprintf("the session %s has one line, so there is nothing to compare", s.ID()),
			fix: "leave out --compare",
		}
	}
	fix := "the lines of the session " + string(s.ID()) + " are " + strings.Join(some(shown), ", ")
	two := make([]string, 0, 2)
	for _, name := range names {
		line, err := s.LineNamed(name)
		if e, ok := errors.AsType[*sequent.Error](err); ok {
			e.Fix = fix
		}
		if err != nil {
			return nil, err
		}
		two = append(two, line)
	}
	if len(two) == 1 && len(lines) == 2 {
		two = append(two, lines[1-slices.Index(lines, two[0])])
	}
	switch {
	case len(two) != 2:
		return nil, &usageError{msg: "--compare requires two lines, such as --compare " + quoted(shown[0]+","+shown[1]), fix: fix}
	case two[0] == two[1]:
		return nil, &usageError{msg: fmt.Sprintf("--compare names the line %s twice", cmp.Or(two[0], mainLine)), fix: fix}
	}
	text, _, err := brief.Compare(ctx, s, two[0], two[1], math.MaxInt)
	return &comparison{s.ID(), [2]string{cmp.Or(two[0], mainLine), cmp.Or(two[1], mainLine)}, text}, err
}

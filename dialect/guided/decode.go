package guided

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// given has the valid arguments of a call; nil means absent or not valid.
type given struct {
	Thought  *string `json:"thought"`
	Number   *int    `json:"thoughtNumber"`
	Total    *int    `json:"totalThoughts"`
	Next     *bool   `json:"nextThoughtNeeded"`
	Revision *bool   `json:"isRevision"`
	From     *int    `json:"branchFromThought"`
	Branch   *string `json:"branchId"`
	More     *bool   `json:"needsMoreThoughts"`
}

// plain reports whether the thought refers to no other thought.
func (in given) plain() bool {
	return !said(in.Revision) && !said(in.More) && in.From == nil && in.Branch == nil
}

func said(b *bool) bool { return b != nil && *b }

// described returns what is wrong with arguments: the first that does not fit the schema,
// and all that are missing.
func described(faults []*tool.ArgumentError) string {
	var all, missing []string
	for _, f := range faults {
		if f.Missing {
			missing = append(missing, f.Field)
		} else if len(all) == 0 {
			all = append(all, f.Error())
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		all = append(all, missing[0]+" is missing")
	default:
		all = append(all, strings.Join(missing, ", ")+" are missing")
	}
	return strings.Join(all, "; ")
}

// check returns the first rule that arguments break, all of which fit the schema. No
// words mean none.
func (in given) check(limits sequent.Limits) (why reason, words string) {
	switch {
	case strings.TrimSpace(*in.Thought) == "":
		return validationError, "thought is empty; it must say one concrete step"
	case tooLong(*in.Thought, limits):
		return tooLarge, fmt.Sprintf("thought has %d bytes, the limit is %d", len(*in.Thought), limits.Text)
	case in.Branch != nil && !goodName(*in.Branch, limits):
		return validationError, fmt.Sprintf("branchId must be a name of at most %d printable characters", limits.Name)
	case in.From == nil && in.Branch != nil:
		return validationError, "branchId is given without branchFromThought; they go together"
	case in.From != nil && in.Branch == nil:
		return validationError, "branchFromThought is given without branchId; they go together"
	case in.From != nil && *in.From >= max(1, *in.Number):
		return validationError, fmt.Sprintf(
			"branchFromThought is %d, and thoughtNumber is %d; the number must be higher", *in.From, max(1, *in.Number))
	}
	return "", ""
}

// goodName reports whether the engine accepts the name of a branch.
func goodName(name string, limits sequent.Limits) bool {
	if limits.Name > 0 && utf8.RuneCountInString(name) > limits.Name {
		return false
	}
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

func tooLong(text string, limits sequent.Limits) bool {
	return limits.Text > 0 && len(text) > limits.Text
}

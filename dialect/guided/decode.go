package guided

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// A decoder decodes arguments one by one, so that one at fault does not cost the others.
type decoder struct {
	tool     tool.Tool // all arguments are optional; it stores them in the context's given
	required []string
}

type givenKey struct{}

func newDecoder(spec tool.Spec) decoder {
	var schema struct {
		Type       json.RawMessage `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required,omitempty"`
	}
	if err := json.Unmarshal(spec.InputSchema, &schema); err != nil {
		panic("guided: " + err.Error())
	}
	required := schema.Required
	schema.Required = nil
	spec.InputSchema = tool.JSONReply(schema).JSON
	store := func(ctx context.Context, _ tool.Call, in given) (tool.Reply, error) {
		*ctx.Value(givenKey{}).(*given) = in
		return tool.Reply{}, nil
	}
	return decoder{tool.New(spec, store, func(err *tool.ArgumentError) (tool.Reply, error) { return tool.Reply{}, err }), required}
}

// decode returns the valid arguments of a call, and what is wrong with the others: the
// first that does not fit the schema, and all that are missing.
func (d decoder) decode(ctx context.Context, c tool.Call) (in given, words string) {
	var members map[string]json.RawMessage
	if object, err := tool.Object(c.Args); err == nil {
		_ = json.Unmarshal(object, &members) // the tool says what is wrong
	}
	missing := d.missing(members)
	var faults []string
	ctx = context.WithValue(ctx, givenKey{}, &in)
	for {
		_, err := d.tool.Call(ctx, c)
		e, ok := errors.AsType[*tool.ArgumentError](err)
		if !ok {
			break
		}
		if len(faults) == 0 {
			faults = append(faults, e.Error())
		}
		if _, there := members[e.Field]; !there {
			return in, faults[0] // it is not about one argument
		}
		delete(members, e.Field)
		c.Args = tool.JSONReply(members).JSON
	}
	if in.Branch != nil && *in.Branch == "" {
		in.Branch = nil
	}
	switch len(missing) {
	case 0:
	case 1:
		faults = append(faults, missing[0]+" is missing")
	default:
		faults = append(faults, strings.Join(missing, ", ")+" are missing")
	}
	return in, strings.Join(faults, "; ")
}

// missing returns the required arguments that a call lacks.
func (d decoder) missing(members map[string]json.RawMessage) (names []string) {
	nullable := []string{"branchFromThought", "branchId"}
	for _, name := range d.required {
		raw, there := members[name]
		if !there || string(raw) == "null" && !slices.Contains(nullable, name) {
			names = append(names, name)
		}
	}
	return names
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

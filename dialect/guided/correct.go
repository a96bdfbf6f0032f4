package guided

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// A partial has the valid arguments of a refused call.
type partial struct {
	Thought  *string `json:"thought"`
	Number   *int    `json:"thoughtNumber"`
	Total    *int    `json:"totalThoughts"`
	Next     *bool   `json:"nextThoughtNeeded"`
	Revision *bool   `json:"isRevision"`
	From     *int    `json:"branchFromThought"`
	Branch   *string `json:"branchId"`
	More     *bool   `json:"needsMoreThoughts"`
}

func (in args) partial() partial {
	return partial{
		Thought: &in.Thought, Number: &in.Number, Total: &in.Total, Next: &in.Next,
		Revision: &in.Revision, From: in.From, Branch: in.Branch, More: &in.More,
	}
}

// plain is [args.plain] for the known arguments.
func (p partial) plain() bool {
	said := func(b *bool) bool { return b != nil && *b }
	return !said(p.Revision) && !said(p.More) && p.From == nil && p.Branch == nil
}

// correct returns the most likely intended call: the valid arguments, completed to fit
// the session. It would be accepted, unless its thought is empty, which only the author
// can write.
func (p partial) correct(s *sequent.Session, limits sequent.Limits) args {
	out := args{Revision: p.Revision != nil && *p.Revision, More: p.More != nil && *p.More}
	if p.Thought != nil && strings.TrimSpace(*p.Thought) != "" && !tooLong(*p.Thought, limits) {
		out.Thought = *p.Thought
	}
	if p.Branch != nil && goodName(*p.Branch, limits) {
		out.Branch = p.Branch
	}
	if p.From != nil && *p.From >= 1 {
		out.From = p.From
	}

	switch {
	case p.Number != nil:
		out.Number = max(1, *p.Number)
	case out.Branch != nil && begun(s, *out.Branch):
		out.Number = s.NextNumber(*out.Branch)
	case out.From != nil: // a branch counts on from its origin
		out.Number = min(*out.From, maxNumber-1) + 1
	case out.Branch != nil:
		out.Number = s.NumberAfter(s.Len())
	default:
		out.Number = s.NextNumber("")
	}
	out.Number = min(out.Number, maxNumber)
	out.pair(s)
	last, _ := s.Last()
	out.Total = last.Total
	if p.Total != nil {
		out.Total = *p.Total
	}
	unplanned := out.Total == 0 // no estimate yet
	out.Total = max(out.Total, out.Number)
	out.Next = out.Number < out.Total || unplanned
	if p.Next != nil {
		out.Next = *p.Next
	}
	return out
}

// pair completes an incomplete branch, and raises the number above its origin: an origin
// is what the author meant, and the branch counts on from it.
func (in *args) pair(s *sequent.Session) {
	if in.From == nil && in.Branch != nil {
		if origin, ok := s.Origin(*in.Branch); ok && origin.Number >= 1 {
			in.From = new(origin.Number)
		} else if in.Number > 1 {
			in.From = new(in.Number - 1)
		}
	}
	if in.From == nil || *in.From >= maxNumber { // no number is above the origin
		in.From, in.Branch = nil, nil
		return
	}
	if in.Branch == nil {
		in.Branch = new(freeBranch(s))
	}
	if *in.From < in.Number {
		return
	}
	in.Number = *in.From + 1
	if begun(s, *in.Branch) {
		in.Number = min(max(in.Number, s.NextNumber(*in.Branch)), maxNumber)
	}
}

// freeBranch returns the first unused name of branch-1, branch-2, ….
func freeBranch(s *sequent.Session) string {
	for n := 1; ; n++ {
		if name := fmt.Sprintf("branch-%d", n); !begun(s, name) {
			return name
		}
	}
}

func begun(s *sequent.Session, branch string) bool {
	_, ok := s.End(branch)
	return ok
}

func tooLong(text string, limits sequent.Limits) bool {
	return limits.Text > 0 && len(text) > limits.Text
}

// looseTool returns a tool for which all arguments are optional. Its reply is a partial.
func looseTool(spec tool.Spec) tool.Tool {
	var schema struct {
		Type       json.RawMessage `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	unmarshal(spec.InputSchema, &schema)
	spec.InputSchema = tool.JSONReply(schema).JSON
	answer := func(_ context.Context, _ tool.Call, in partial) (tool.Reply, error) { return tool.JSONReply(in), nil }
	return tool.New(spec, answer, misfit)
}

func unmarshal(schema json.RawMessage, to any) {
	if err := json.Unmarshal(schema, to); err != nil {
		panic("guided: " + err.Error())
	}
}

// A required is an argument that every call has.
type required struct {
	name     string
	nullable bool
}

// requiredOf returns the required arguments of a schema, in its order.
func requiredOf(schema json.RawMessage) []required {
	var s struct {
		Properties map[string]struct{ Type json.RawMessage }
		Required   []string
	}
	unmarshal(schema, &s)
	list := make([]required, len(s.Required))
	for i, name := range s.Required {
		list[i] = required{name, strings.Contains(string(s.Properties[name].Type), `"null"`)}
	}
	return list
}

// missing returns the names of the required arguments that a call lacks.
func (d *server) missing(members map[string]json.RawMessage) (names []string) {
	for _, r := range d.required {
		raw, there := members[r.name]
		if !there || string(raw) == "null" && !r.nullable {
			names = append(names, r.name)
		}
	}
	return names
}

// members returns the arguments of a call by name; nil if they are no object.
func members(c tool.Call) (m map[string]json.RawMessage) {
	object, err := tool.Object(c.Args)
	if err != nil || json.Unmarshal(object, &m) != nil {
		return nil
	}
	return m
}

// salvage returns the valid ones of the arguments of a refused call.
func (d *server) salvage(ctx context.Context, c tool.Call, members map[string]json.RawMessage) (p partial) {
	if members == nil {
		return partial{}
	}
	members = maps.Clone(members)
	for {
		c.Args = tool.JSONReply(members).JSON
		reply, err := d.loose.Call(ctx, c)
		if err == nil {
			err = json.Unmarshal(reply.JSON, &p)
		}
		if err == nil {
			return p
		}
		e, ok := errors.AsType[*tool.ArgumentError](err)
		if !ok {
			return partial{}
		}
		if _, there := members[e.Field]; !there {
			return partial{} // the error is not about one argument
		}
		delete(members, e.Field)
	}
}

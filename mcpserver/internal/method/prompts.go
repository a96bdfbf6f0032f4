package method

import (
	"context"
	"slices"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/tool"
)

// maxCompletions is the maximum number of values that the protocol allows.
const maxCompletions = 100

// getPrompt answers prompts/get.
func (s *Server) getPrompt(ctx context.Context, r *Request, result []byte) ([]byte, error) {
	p := params{raw: r.Params}
	name, given := p.text("name"), make(map[string]string)
	for arg, value := range message.Members(p.object("arguments")) {
		text, ok := jsonscan.Text(value)
		given[arg] = text
		p.bad = p.bad || !ok
	}
	if p.bad {
		return nil, badParams(r)
	}
	prompt := s.promptNamed(name)
	if prompt == nil {
		return nil, message.InvalidParams("unknown prompt %q", name)
	}
	if r.Seen != nil {
		r.Seen.Prompt = prompt.Name
	}
	args := make(map[string]string)
	for _, a := range prompt.Arguments {
		v, ok := given[a.Name]
		switch {
		case ok:
			args[a.Name] = v
		case a.Required:
			return nil, message.InvalidParams("prompt %q needs the argument %q", name, a.Name)
		}
	}
	if err := r.begin(ctx, tool.Heavy); err != nil { // it can read a whole session
		return nil, err
	}
	defer r.end(tool.Heavy)
	text, err := prompt.Get(ctx, r.Caller, args)
	if err != nil {
		return nil, err
	}
	if prompt.Description != "" {
		result = message.AppendName(result, "description")
		result = message.AppendQuoted(result, prompt.Description)
	}
	result = message.AppendName(result, "messages")
	result = append(result, `[{"role":"user","content":{"type":"text","text":`...)
	result = message.AppendQuoted(result, text)
	return append(result, `}}]`...), nil
}

// promptNamed returns a prompt of the dialect; nil if there is none.
func (s *Server) promptNamed(name string) *dialect.Prompt {
	i := slices.IndexFunc(s.dialect.Prompts, func(p dialect.Prompt) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &s.dialect.Prompts[i]
}

// A completer proposes values that begin with prefix.
type completer func(ctx context.Context, c tool.Caller, prefix string) ([]string, error)

// complete answers completion/complete.
func (s *Server) complete(ctx context.Context, r *Request, result []byte) ([]byte, error) {
	p := params{raw: r.Params}
	ref, argument := params{raw: p.object("ref")}, params{raw: p.object("argument")}
	kind, name, uri := ref.text("type"), ref.text("name"), ref.text("uri")
	variable, prefix := argument.text("name"), argument.text("value")
	switch {
	case p.bad || ref.bad || argument.bad:
		return nil, badParams(r)
	case ref.raw == nil:
		return nil, missingParam("ref")
	case kind != "ref/prompt" && kind != "ref/resource":
		return nil, badParams(r)
	case variable == "":
		return nil, missingParam("argument.name")
	}
	find, err := s.resourceCompleter(uri, variable)
	if kind == "ref/prompt" {
		find, err = s.promptCompleter(name, variable)
	}
	if err != nil {
		return nil, err
	}
	values := []string{} // not null
	if find != nil {
		if err := r.begin(ctx, tool.Heavy); err != nil { // it can search
			return nil, err
		}
		defer r.end(tool.Heavy)
		found, err := find(ctx, r.Caller, prefix)
		if err != nil {
			return nil, err
		}
		values = append(values, found...)
	}
	return appendCompletion(result, values)
}

// appendCompletion appends the values of a completion, up to maxCompletions.
func appendCompletion(result []byte, values []string) ([]byte, error) {
	raw, err := message.Marshal(struct {
		Values  []string `json:"values"`
		Total   int      `json:"total,omitempty"`
		HasMore bool     `json:"hasMore,omitempty"`
	}{values[:min(len(values), maxCompletions)], len(values), len(values) > maxCompletions})
	if err != nil {
		return nil, err
	}
	return append(message.AppendName(result, "completion"), raw...), nil
}

// promptCompleter returns the completer of an argument; nil if there is none.
func (s *Server) promptCompleter(prompt, argument string) (completer, error) {
	p := s.promptNamed(prompt)
	if p == nil {
		return nil, message.InvalidParams("unknown prompt %q", prompt)
	}
	i := slices.IndexFunc(p.Arguments, func(a dialect.Argument) bool { return a.Name == argument })
	if i < 0 {
		return nil, message.InvalidParams("prompt %q has no argument %q", prompt, argument)
	}
	return p.Arguments[i].Complete, nil
}

// resourceCompleter returns the completer of the variable of a template; nil if there is
// none.
func (s *Server) resourceCompleter(uri, variable string) (completer, error) {
	i := slices.IndexFunc(s.templates, func(t template) bool { return t.URI == uri })
	if i < 0 {
		return nil, message.InvalidParams("unknown resource template %q", uri)
	}
	if s.templates[i].variable != variable {
		return nil, message.InvalidParams("resource template %q has no variable %q", uri, variable)
	}
	return s.templates[i].Complete, nil
}

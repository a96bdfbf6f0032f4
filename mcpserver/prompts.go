package mcpserver

import (
	"context"
	"slices"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// maxCompletions is the maximum number of values that the protocol allows.
const maxCompletions = 100

// A promptResult is the result of prompts/get.
type promptResult struct {
	Description string          `json:"description,omitempty"`
	Messages    []promptMessage `json:"messages"`
}

type promptMessage struct {
	Role    string      `json:"role"`
	Content textContent `json:"content"`
}

// getPrompt answers prompts/get.
func (s *Server) getPrompt(ctx context.Context, r *request) (any, error) {
	p, err := decode[struct {
		Name      string
		Arguments map[string]string
	}](r)
	if err != nil {
		return nil, err
	}
	prompt := s.promptNamed(p.Name)
	if prompt == nil {
		return nil, invalidParams("unknown prompt %q", p.Name)
	}
	if r.Seen != nil {
		r.Seen.Prompt = prompt.Name
	}
	args := make(map[string]string)
	for _, a := range prompt.Arguments {
		v, ok := p.Arguments[a.Name]
		switch {
		case ok:
			args[a.Name] = v
		case a.Required:
			return nil, invalidParams("prompt %q needs the argument %q", p.Name, a.Name)
		}
	}
	if err := r.Turn.Take(ctx); err != nil { // it can read a whole session
		return nil, err
	}
	text, err := prompt.Get(ctx, r.Caller, args)
	return promptResult{prompt.Description, []promptMessage{{"user", textContent{"text", text}}}}, err
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

// completeParams are the params of completion/complete.
type completeParams struct {
	Ref      *struct{ Type, Name, URI string }
	Argument struct{ Name, Value string }
}

// A completion has the values of a completion, up to maxCompletions.
type completion struct {
	Values  []string `json:"values"`
	Total   int      `json:"total,omitempty"`
	HasMore bool     `json:"hasMore,omitempty"`
}

// complete answers completion/complete.
func (s *Server) complete(ctx context.Context, r *request) (any, error) {
	p, err := decode[completeParams](r)
	if err != nil {
		return nil, err
	}
	find, err := s.completer(r, p)
	if err != nil {
		return nil, err
	}
	values := []string{} // not null
	if find != nil {
		if err := r.Turn.Take(ctx); err != nil { // it can search
			return nil, err
		}
		found, err := find(ctx, r.Caller, p.Argument.Value)
		if err != nil {
			return nil, err
		}
		values = append(values, found...)
	}
	return struct {
		Completion completion `json:"completion"`
	}{completion{values[:min(len(values), maxCompletions)], len(values), len(values) > maxCompletions}}, nil
}

// completer returns the completer of an argument of a prompt or of the variable of a
// template; nil if there is none.
func (s *Server) completer(r *request, p completeParams) (completer, error) {
	name := p.Argument.Name
	switch {
	case p.Ref == nil:
		return nil, missingParam("ref")
	case p.Ref.Type != "ref/prompt" && p.Ref.Type != "ref/resource":
		return nil, badParams(r)
	case name == "":
		return nil, missingParam("argument.name")
	case p.Ref.Type == "ref/resource":
		i := slices.IndexFunc(s.templates, func(t template) bool { return t.URI == p.Ref.URI })
		if i < 0 {
			return nil, invalidParams("unknown resource template %q", p.Ref.URI)
		}
		if s.templates[i].variable != name {
			return nil, invalidParams("resource template %q has no variable %q", p.Ref.URI, name)
		}
		return s.templates[i].Complete, nil
	}
	prompt := s.promptNamed(p.Ref.Name)
	if prompt == nil {
		return nil, invalidParams("unknown prompt %q", p.Ref.Name)
	}
	i := slices.IndexFunc(prompt.Arguments, func(a dialect.Argument) bool { return a.Name == name })
	if i < 0 {
		return nil, invalidParams("prompt %q has no argument %q", p.Ref.Name, name)
	}
	return prompt.Arguments[i].Complete, nil
}

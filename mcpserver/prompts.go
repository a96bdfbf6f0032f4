package mcpserver

import (
	"context"
	"slices"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// maxCompletions is the maximum number of values that the protocol allows.
const maxCompletions = 100

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
	prompt := s.prompt(p.Name)
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
	return struct {
		Description string          `json:"description,omitempty"`
		Messages    []promptMessage `json:"messages"`
	}{prompt.Description, []promptMessage{{"user", textContent{"text", text}}}}, err
}

// prompt returns a prompt of the dialect; nil if there is none.
func (s *Server) prompt(name string) *dialect.Prompt {
	prompts := s.config.Dialect.Prompts
	i := slices.IndexFunc(prompts, func(p dialect.Prompt) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &prompts[i]
}

// A completer proposes values that begin with prefix.
type completer func(ctx context.Context, c tool.Caller, prefix string) ([]string, error)

// completeParams are the params of completion/complete.
type completeParams struct {
	Ref      struct{ Type, Name, URI string }
	Argument struct{ Name, Value string }
}

// complete answers completion/complete.
func (s *Server) complete(ctx context.Context, r *request) (any, error) {
	p, err := decode[completeParams](r)
	if err != nil {
		return nil, err
	}
	find, ok := s.completer(p)
	if !ok {
		return nil, invalidParams("invalid params: no prompt or resource template has the argument to be completed")
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
	return map[string]any{"completion": struct {
		Values  []string `json:"values"`
		Total   int      `json:"total,omitempty"`
		HasMore bool     `json:"hasMore,omitempty"`
	}{values[:min(len(values), maxCompletions)], len(values), len(values) > maxCompletions}}, nil
}

// completer returns what proposes values for an argument of a prompt, or for the variable of a
// template; nil if nothing does. It returns false if there is no such argument or variable.
func (s *Server) completer(p completeParams) (find completer, ok bool) {
	switch p.Ref.Type {
	case "ref/resource":
		for _, t := range s.templates {
			if t.URI == p.Ref.URI && t.variable == p.Argument.Name {
				return t.Complete, true
			}
		}
	case "ref/prompt":
		for _, prompt := range s.config.Dialect.Prompts {
			for _, a := range prompt.Arguments {
				if prompt.Name == p.Ref.Name && a.Name == p.Argument.Name {
					return a.Complete, true
				}
			}
		}
	}
	return nil, false
}

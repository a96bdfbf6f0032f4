package mcpserver

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// maxCompletions is how many values the protocol lets a completion have.
const maxCompletions = 100

// A completer proposes values that begin with prefix.
type completer func(ctx context.Context, c tool.Caller, prefix string) ([]string, error)

// callTool answers tools/call for one tool. [Server.receive] words its errors
// and encodes its result.
func (s *Server) callTool(t tool.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := tool.Call{Args: req.Params.Arguments, Caller: s.callerOf(ctx)}
		if x := exchangeIn(ctx); x != nil {
			c.Progress = x.progress.reporter()
		}
		reply, err := t.Call(ctx, c)
		if err != nil {
			return nil, err
		}
		res := &mcp.CallToolResult{
			Content: []mcp.Content{&mcp.TextContent{Text: reply.Text}},
			IsError: reply.Failed,
		}
		if reply.JSON != nil {
			res.StructuredContent = reply.JSON
		}
		return res, nil
	}
}

func (s *Server) readResource(r dialect.Resource) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		text, err := r.Read(ctx, s.callerOf(ctx))
		if err != nil {
			return nil, err
		}
		return document(req.Params.URI, r.MIME, text), nil
	}
}

func (s *Server) readTemplate(t dialect.Template) mcp.ResourceHandler {
	before, _, after := variable(t.URI)
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		// The SDK has matched the template, so that before and after are there.
		value, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, before), after))
		if err != nil || value == "" {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		text, err := t.Read(ctx, s.callerOf(ctx), value)
		if err != nil {
			return nil, err
		}
		return document(req.Params.URI, t.MIME, text), nil
	}
}

// escaped returns a URI as it should have been written: what no URI can hold is
// escaped. Models write the names of documents as people do, with spaces and
// letters of all scripts.
func escaped(uri string) string {
	var b strings.Builder
	for i := range len(uri) {
		if c := uri[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func document(uri, mime, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{
		Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: text}},
	}
}

func (s *Server) getPrompt(p dialect.Prompt) mcp.PromptHandler {
	return func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		args := make(map[string]string)
		for _, a := range p.Arguments {
			v, ok := req.Params.Arguments[a.Name]
			switch {
			case ok:
				args[a.Name] = v
			case a.Required:
				return nil, invalidParams("prompt %q needs the argument %q", p.Name, a.Name)
			}
		}
		text, err := p.Get(ctx, s.callerOf(ctx), args)
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{
			Description: p.Description,
			Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
		}, nil
	}
}

// completes reports whether anything of d can be completed.
func completes(d dialect.Dialect) bool {
	return slices.ContainsFunc(d.Templates, func(t dialect.Template) bool { return t.Complete != nil }) ||
		slices.ContainsFunc(d.Prompts, func(p dialect.Prompt) bool {
			return slices.ContainsFunc(p.Arguments, func(a dialect.Argument) bool { return a.Complete != nil })
		})
}

func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	find, err := s.completer(req.Params.Ref, req.Params.Argument.Name)
	if err != nil {
		return nil, err
	}
	var values []string
	if find != nil {
		if values, err = find(ctx, s.callerOf(ctx), req.Params.Argument.Value); err != nil {
			return nil, err
		}
	}
	details := mcp.CompletionResultDetails{Total: len(values), Values: []string{}} // not null
	details.HasMore = len(values) > maxCompletions
	details.Values = append(details.Values, values[:min(len(values), maxCompletions)]...)
	return &mcp.CompleteResult{Completion: details}, nil
}

// completer finds what proposes values for an argument; nil if nothing does.
func (s *Server) completer(ref *mcp.CompleteReference, name string) (completer, error) {
	if ref.Type == "ref/prompt" {
		i := slices.IndexFunc(s.dialect.Prompts, func(p dialect.Prompt) bool { return p.Name == ref.Name })
		if i < 0 {
			return nil, invalidParams("unknown prompt %q", ref.Name)
		}
		args := s.dialect.Prompts[i].Arguments
		j := slices.IndexFunc(args, func(a dialect.Argument) bool { return a.Name == name })
		if j < 0 {
			return nil, invalidParams("prompt %q has no argument %q", ref.Name, name)
		}
		return args[j].Complete, nil
	}
	i := slices.IndexFunc(s.dialect.Templates, func(t dialect.Template) bool { return t.URI == ref.URI })
	if i < 0 {
		return nil, invalidParams("unknown resource template %q", ref.URI)
	}
	t := s.dialect.Templates[i]
	if _, v, _ := variable(t.URI); v != name {
		return nil, invalidParams("resource template %q has no variable %q", ref.URI, name)
	}
	return t.Complete, nil
}

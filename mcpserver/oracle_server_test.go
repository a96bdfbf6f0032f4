package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// oracle returns a server of the SDK for a dialect.
func oracle(d dialect.Dialect) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sequent", Version: "v1.2.3"}, &mcp.ServerOptions{
		Instructions: d.Instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
		SetCacheable: func(_ context.Context, r mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = int(time.Hour.Milliseconds()), "private"
			if _, ok := r.(*mcp.ReadResourceRequest); ok {
				c.TTLMs, c.CacheScope = 0, "private"
			}
		},
		CompletionHandler: func(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return oracleComplete(ctx, d, r.Params)
		},
	})
	for _, t := range d.Tools {
		a := t.Annotations
		spec := &mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: a.ReadOnly, DestructiveHint: &a.Destructive, IdempotentHint: a.Idempotent, OpenWorldHint: &a.OpenWorld,
		}}
		if t.OutputSchema != nil {
			spec.OutputSchema = t.OutputSchema
		}
		s.AddTool(spec, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			reply, err := t.Call(ctx, tool.Call{Args: r.Params.Arguments})
			if err != nil {
				return nil, err
			}
			res := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: reply.Text}}, IsError: reply.Failed}
			if reply.JSON != nil {
				res.StructuredContent = reply.JSON
			}
			return res, nil
		})
	}
	document := func(mime string, read func(ctx context.Context, uri string) (string, error)) mcp.ResourceHandler {
		return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			text, err := read(ctx, r.Params.URI)
			if errors.Is(err, sequent.ErrNotFound) {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			if err != nil {
				return nil, err
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: mime, Text: text}}}, nil
		}
	}
	for _, r := range d.Resources {
		s.AddResource(&mcp.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIME},
			document(r.MIME, func(ctx context.Context, _ string) (string, error) { return r.Read(ctx, tool.Caller{}) }))
	}
	for _, tm := range d.Templates {
		before, rest, _ := strings.Cut(tm.URI, "{")
		_, after, _ := strings.Cut(rest, "}")
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: tm.URI, Name: tm.Name, Title: tm.Title, Description: tm.Description, MIMEType: tm.MIME},
			document(tm.MIME, func(ctx context.Context, uri string) (string, error) {
				value := strings.NewReplacer("%20", " ", "%2F", "/", "%3C", "<", "%3E", ">").Replace(strings.TrimSuffix(strings.TrimPrefix(uri, before), after))
				if value == "" {
					return "", sequent.ErrNotFound
				}
				return tm.Read(ctx, tool.Caller{}, value)
			}))
	}
	for _, p := range d.Prompts {
		spec := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			spec.Arguments = append(spec.Arguments, &mcp.PromptArgument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required})
		}
		s.AddPrompt(spec, func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			args := make(map[string]string)
			for _, a := range p.Arguments {
				v, ok := r.Params.Arguments[a.Name]
				if !ok && a.Required {
					return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: "missing"}
				}
				if ok {
					args[a.Name] = v
				}
			}
			text, err := p.Get(ctx, tool.Caller{}, args)
			if err != nil {
				return nil, err
			}
			return &mcp.GetPromptResult{Description: p.Description, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
		})
	}
	return s
}

func oracleComplete(ctx context.Context, d dialect.Dialect, p *mcp.CompleteParams) (*mcp.CompleteResult, error) {
	bad := &jsonrpc.Error{Code: codeInvalidParams, Message: "unknown"}
	var find func(context.Context, tool.Caller, string) ([]string, error)
	known := false
	for _, pr := range d.Prompts {
		for _, a := range pr.Arguments {
			if p.Ref.Type == "ref/prompt" && pr.Name == p.Ref.Name && a.Name == p.Argument.Name {
				find, known = a.Complete, true
			}
		}
	}
	for _, t := range d.Templates {
		if p.Ref.Type == "ref/resource" && t.URI == p.Ref.URI && (strings.Contains(t.URI, "{"+p.Argument.Name+"}") || strings.Contains(t.URI, "{+"+p.Argument.Name+"}")) {
			find, known = t.Complete, true
		}
	}
	if !known {
		return nil, bad
	}
	values := []string{}
	if find != nil {
		found, err := find(ctx, tool.Caller{}, p.Argument.Value)
		if err != nil {
			return nil, err
		}
		values = append(values, found...)
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Total: len(values), Values: values[:min(100, len(values))], HasMore: len(values) > 100,
	}}, nil
}

// comparingDialect answers in all ways that a dialect can.
func comparingDialect() dialect.Dialect {
	d := newNotebook().Dialect()
	var tools []tool.Tool
	for _, t := range d.Tools {
		// The SDK does not outlive a panic, and does not answer at all where content
		// is not JSON.
		if t.Name != "wait" && t.Name != "panic" && t.Name != "broken" {
			tools = append(tools, t)
		}
	}
	for name, r := range map[string]tool.Reply{
		"spaced": {Text: "bad \xff utf-8 \u2028", JSON: json.RawMessage(" { \"a\" : \"<\u2028>\" , \"b\" : [ ] }\n")},
		"empty":  {Text: ""},
	} {
		tools = append(tools, tool.Tool{
			Spec: tool.Spec{Name: name, Description: "More.", InputSchema: json.RawMessage(noteSchema)},
			Call: func(context.Context, tool.Call) (tool.Reply, error) { return r, nil },
		})
	}
	d.Tools = tools
	return d
}

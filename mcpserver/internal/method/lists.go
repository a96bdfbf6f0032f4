package method

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/tool"
)

// lists has the results of the list methods, in the order of the dialect, without the
// members that only one era has. They never change.
type lists struct {
	tools, resources, templates, prompts, skills []byte
}

type publishedTool struct {
	Name         string            `json:"name"`
	Description  string            `json:"description,omitempty"`
	InputSchema  json.RawMessage   `json:"inputSchema"`
	OutputSchema json.RawMessage   `json:"outputSchema,omitempty"`
	Annotations  *tool.Annotations `json:"annotations,omitempty"`
	Title        string            `json:"title,omitempty"`
	Meta         json.RawMessage   `json:"_meta,omitempty"`
}

type publishedResource struct {
	URI         string `json:"uri,omitempty"`
	URITemplate string `json:"uriTemplate,omitempty"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
}

type publishedPrompt struct {
	Name        string              `json:"name"`
	Title       string              `json:"title,omitempty"`
	Description string              `json:"description,omitempty"`
	Arguments   []publishedArgument `json:"arguments,omitempty"`
}

type publishedArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// newLists returns the lists of a dialect. Private means that other clients get other
// lists.
func newLists(d dialect.Dialect, private bool) lists {
	var tools []publishedTool
	for _, t := range d.Tools {
		out := publishedTool{t.Name, t.Description, t.InputSchema, t.OutputSchema, &t.Annotations, t.Title, nil}
		if t.App != nil {
			out.Annotations, out.Meta = nil, appMeta(t.App)
		}
		tools = append(tools, out)
	}
	var resources, templates []publishedResource
	for _, r := range d.Resources {
		resources = append(resources, publishedResource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIME: r.MIME})
	}
	for _, t := range d.Templates {
		templates = append(templates, publishedResource{URITemplate: t.URI, Name: t.Name, Title: t.Title, Description: t.Description, MIME: t.MIME})
	}
	var prompts []publishedPrompt
	for _, p := range d.Prompts {
		out := publishedPrompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			out.Arguments = append(out.Arguments, publishedArgument{a.Name, a.Title, a.Description, a.Required})
		}
		prompts = append(prompts, out)
	}
	return lists{
		tools:     list("tools", tools, private),
		resources: list("resources", resources, private),
		templates: list("resourceTemplates", templates, false),
		prompts:   list("prompts", prompts, false),
		skills:    list("skills", publishedSkills(d), private),
	}
}

// list returns the members of the result of a list method. The list is never null.
func list[T any](name string, items []T, private bool) []byte {
	if items == nil {
		items = []T{}
	}
	return append(cacheable(private), fmt.Sprintf(`,%q:%s`, name, mustMarshal(items))...)
}

// cacheable returns the members with the time for which a client may cache a result, and
// whether it is the same for all clients.
func cacheable(private bool) []byte {
	scope := "public"
	if private {
		scope = "private"
	}
	return fmt.Appendf(nil, `"ttlMs":%d,"cacheScope":%q`, listTTL.Milliseconds(), scope)
}

func (s *Server) listTools(_ context.Context, r *Request, result []byte) ([]byte, error) {
	return page(r, result, s.lists.tools)
}

func (s *Server) listResources(_ context.Context, r *Request, result []byte) ([]byte, error) {
	return page(r, result, s.lists.resources)
}

func (s *Server) listTemplates(_ context.Context, r *Request, result []byte) ([]byte, error) {
	return page(r, result, s.lists.templates)
}

func (s *Server) listPrompts(_ context.Context, r *Request, result []byte) ([]byte, error) {
	return page(r, result, s.lists.prompts)
}

// page answers a list method. The whole list is one page, so no cursor is valid.
func page(r *Request, result, members []byte) ([]byte, error) {
	p := params{raw: r.Params}
	cursor := p.text("cursor")
	if p.bad {
		return nil, badParams(r)
	}
	if cursor != "" {
		return nil, message.InvalidParams("invalid params")
	}
	return appendMembers(result, members), nil
}

// appendMembers appends members of an object to others.
func appendMembers(object, members []byte) []byte {
	if object[len(object)-1] != '{' {
		object = append(object, ',')
	}
	return append(object, members...)
}

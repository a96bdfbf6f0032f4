package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

type publishedTool struct {
	Name         string            `json:"name"`
	Description  string            `json:"description,omitempty"`
	InputSchema  json.RawMessage   `json:"inputSchema"`
	OutputSchema json.RawMessage   `json:"outputSchema,omitempty"`
	Annotations  *tool.Annotations `json:"annotations,omitempty"`
	Title        string            `json:"title,omitempty"`
	Meta         *appMeta          `json:"_meta,omitempty"`
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

// newLists returns the results of the list methods, in the order of the dialect. They never
// change. Private means that other clients get other lists.
func newLists(d dialect.Dialect, private bool) map[string]json.RawMessage {
	var tools []publishedTool
	for _, t := range d.Tools {
		out := publishedTool{t.Name, t.Description, t.InputSchema, t.OutputSchema, &t.Annotations, t.Title, nil}
		if t.App != nil {
			out.Annotations, out.Meta = nil, appMetaOf(t.App)
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
	return map[string]json.RawMessage{
		"tools/list":               listResult("tools", tools, private),
		"resources/list":           listResult("resources", resources, private),
		"resources/templates/list": listResult("resourceTemplates", templates, false),
		"prompts/list":             listResult("prompts", prompts, false),
		"skills/list":              listResult("skills", publishedSkills(d), private),
	}
}

// listResult returns the result of a list method. The list is never null.
func listResult[T any](name string, items []T, private bool) json.RawMessage {
	if items == nil {
		items = []T{}
	}
	c := cached(private)
	return fmt.Appendf(nil, `{"ttlMs":%d,"cacheScope":%q,%q:%s}`, c.TTL, c.Scope, name, mustMarshal(items))
}

// list answers a list method. The whole list is one page, so no cursor is valid.
func (s *Server) list(_ context.Context, r *request) (any, error) {
	p, err := decode[struct{ Cursor string }](r)
	if err == nil && p.Cursor != "" {
		err = invalidParams("invalid params")
	}
	return s.lists[r.Method], err
}

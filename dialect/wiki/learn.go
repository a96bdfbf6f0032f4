package wiki

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/tool"
)

// learnArgs is the argument that all tools have.
type learnArgs struct {
	Learn bool `json:"learn,omitzero"`
}

// pages has what the schema of each tool does not say: its replies, examples and
// refusals.
//
//go:embed learn/*.md
var pages embed.FS

// teach returns a tool that answers a call with learn by its documentation, whatever else
// the arguments have or lack.
func teach(t tool.Tool) tool.Tool {
	page, err := pages.ReadFile("learn/" + t.Name + ".md")
	if err != nil {
		panic("wiki: " + err.Error()) // it is embedded
	}
	text := documentation(t.Spec, string(page))
	reply := tool.JSONReply(struct {
		Tool          string `json:"tool"`
		Documentation string `json:"documentation"`
	}{t.Name, text})
	reply.Text = text
	call := t.Call
	t.Call = func(ctx context.Context, c tool.Call) (tool.Reply, error) {
		if bytes.Contains(c.Args, []byte(`"learn"`)) && learns(c.Args) {
			return reply, nil
		}
		return call(ctx, c)
	}
	return t
}

// learns reports whether arguments ask for the documentation, in one of the spellings of
// true that tools accept.
func learns(args json.RawMessage) bool {
	var in struct {
		Learn json.RawMessage `json:"learn"`
	}
	return json.Unmarshal(args, &in) == nil && strings.EqualFold(strings.Trim(string(in.Learn), `"`), "true")
}

// documentation returns the page of a tool: its description, its parameters and the rest.
func documentation(s tool.Spec, rest string) string {
	var schema struct {
		Properties orderedProperties `json:"properties"`
		Required   []string          `json:"required"`
	}
	if err := json.Unmarshal(s.InputSchema, &schema); err != nil {
		panic("wiki: " + err.Error()) // tool.New has compiled it
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n## Parameters\n\n", s.Title, strings.TrimSpace(s.Description))
	for _, p := range schema.Properties {
		var kind strings.Builder
		kind.WriteString(p.Type)
		for _, name := range schema.Required {
			if name == p.name {
				kind.WriteString(", required")
			}
		}
		if len(p.Default) > 0 {
			kind.WriteString(", default " + string(p.Default))
		}
		if len(p.Enum) > 0 {
			kind.WriteString(", one of " + strings.Join(p.Enum, ", "))
		}
		fmt.Fprintf(&b, "- `%s` (%s)", p.name, kind.String())
		if p.Description != "" {
			b.WriteString(": " + p.Description)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n" + strings.TrimSpace(rest))
	return b.String()
}

// A property is a parameter of a tool.
type property struct {
	name        string
	Type        string          `json:"type"`
	Enum        []string        `json:"enum"`
	Default     json.RawMessage `json:"default"`
	Description string          `json:"description"`
}

// orderedProperties are the parameters of a tool in the order of its contract.
type orderedProperties []property

// UnmarshalJSON implements [json.Unmarshaler].
func (o *orderedProperties) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		p := property{name: fmt.Sprint(name)}
		if err := dec.Decode(&p); err != nil {
			return err
		}
		*o = append(*o, p)
	}
	return nil
}

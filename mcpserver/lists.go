package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// cacheable are the members with the time, in milliseconds, for which a client may cache a
// result, which can differ from that of another client.
type cacheable struct {
	TTL   int64  `json:"ttlMs"`
	Scope string `json:"cacheScope"`
}

// cached are the members of the description and the lists, which do not change while a
// server runs. After an upgrade, clients see the old ones for at most that long.
var cached = cacheable{time.Hour.Milliseconds(), "private"}

// appsExtension is the name of the extension of clients that show pages, and appMIME the
// type of these (MCP Apps, 2026-01-26).
const (
	appsExtension = "io.modelcontextprotocol/ui"
	appMIME       = "text/html;profile=mcp-app"
)

// skillsExtension is the name of the extension for skills (SEP-2640). A server that declares
// it has the methods skills/list and skills/get.
const skillsExtension = "io.modelcontextprotocol/skills"

// A publishedTool is an entry of tools/list.
type publishedTool struct {
	tool.Spec
	Annotations *tool.Annotations `json:"annotations,omitempty"` // instead of the Spec's
	Meta        map[string]any    `json:"_meta,omitempty"`
}

func publishedTools(tools []tool.Tool) (list []publishedTool) {
	for _, t := range tools {
		p := publishedTool{Spec: t.Spec, Annotations: &t.Annotations}
		if t.App != nil {
			p.Annotations, p.Meta = nil, map[string]any{"ui": t.App}
			if t.App.Page != "" { // older hosts read the URI of the page under a name of its own
				p.Meta["ui/resourceUri"] = t.App.Page
			}
		}
		list = append(list, p)
	}
	return list
}

// A publishedSkill is an entry of skills/list: what the skill says of itself, and its files.
type publishedSkill struct {
	URI         string            `json:"uri"`
	Frontmatter map[string]string `json:"frontmatter"`
	Resources   []skillFile       `json:"resources"`
}

// A skillFile has the size in bytes and the hash with which a client checks what it reads.
type skillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

// publishedSkills returns the entries of skills/list, and the resources at which the texts are read.
func publishedSkills(skills []dialect.Skill) (list []publishedSkill, texts []dialect.Resource) {
	for _, s := range skills {
		uri, sum := "skill://"+s.Name+"/SKILL.md", sha256.Sum256([]byte(s.Text))
		list = append(list, publishedSkill{
			URI: uri, Frontmatter: map[string]string{"name": s.Name, "description": s.Description},
			Resources: []skillFile{{uri, "sha256:" + hex.EncodeToString(sum[:]), len(s.Text)}},
		})
		texts = append(texts, dialect.Resource{
			URI: uri, Name: s.Name, Description: s.Description, MIME: "text/markdown",
			Read: func(context.Context, tool.Caller) (string, error) { return s.Text, nil },
		})
	}
	return list, texts
}

// newLists returns the results of the list methods, in the order of the dialect. They never
// change.
func newLists(d dialect.Dialect, skills []publishedSkill) map[string]json.RawMessage {
	return map[string]json.RawMessage{
		"tools/list":               listResult("tools", publishedTools(d.Tools)),
		"resources/list":           listResult("resources", d.Resources),
		"resources/templates/list": listResult("resourceTemplates", d.Templates),
		"prompts/list":             listResult("prompts", d.Prompts),
		"skills/list":              listResult("skills", skills),
	}
}

// listResult returns the result of a list method. The list is never null.
func listResult[T any](name string, items []T) json.RawMessage {
	all := mustMarshal(append([]T{}, items...))
	return fmt.Appendf(nil, `{"ttlMs":%d,"cacheScope":%q,%q:%s}`, cached.TTL, cached.Scope, name, all)
}

// list answers a list method. The whole list is one page, so no cursor is valid.
func (s *Server) list(_ context.Context, r *request) (any, error) {
	p, err := decode[struct{ Cursor string }](r)
	if err == nil && p.Cursor != "" {
		err = badParams(r)
	}
	return s.lists[r.Method], err
}

// getSkill answers skills/get.
func (s *Server) getSkill(_ context.Context, r *request) (any, error) {
	p, err := decode[uriParams](r)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.skills, func(skill publishedSkill) bool { return skill.URI == p.URI })
	if i < 0 {
		return nil, invalidParams("unknown skill")
	}
	return struct {
		cacheable
		Skill publishedSkill `json:"skill"`
	}{cached, s.skills[i]}, nil
}

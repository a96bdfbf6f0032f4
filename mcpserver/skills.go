package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// skillsExtension is the name of the extension for skills (SEP-2640). A server that declares
// it has the methods skills/list and skills/get.
const skillsExtension = "io.modelcontextprotocol/skills"

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

// skillURI returns the URI at which the text of a skill is read.
func skillURI(s dialect.Skill) string { return "skill://" + s.Name + "/SKILL.md" }

// withSkills returns a dialect whose skills are among its resources.
func withSkills(d dialect.Dialect) dialect.Dialect {
	d.Resources = slices.Clone(d.Resources)
	for _, s := range d.Skills {
		d.Resources = append(d.Resources, dialect.Resource{
			URI: skillURI(s), Name: s.Name, Description: s.Description, MIME: "text/markdown",
			Read: func(context.Context, tool.Caller) (string, error) { return s.Text, nil },
		})
	}
	return d
}

// publishedSkills returns the entries of a dialect's skills.
func publishedSkills(d dialect.Dialect) (list []publishedSkill) {
	for _, s := range d.Skills {
		sum := sha256.Sum256([]byte(s.Text))
		list = append(list, publishedSkill{
			URI: skillURI(s), Frontmatter: map[string]string{"name": s.Name, "description": s.Description},
			Resources: []skillFile{{skillURI(s), "sha256:" + hex.EncodeToString(sum[:]), len(s.Text)}},
		})
	}
	return list
}

// getSkill answers skills/get.
func (s *Server) getSkill(_ context.Context, r *request) (any, error) {
	p, err := decode[uriParams](r)
	if err != nil {
		return nil, err
	}
	for _, skill := range publishedSkills(s.dialect) {
		if skill.URI == p.URI {
			return struct {
				cacheable
				Skill publishedSkill `json:"skill"`
			}{cached(s.varies), skill}, nil
		}
	}
	return nil, invalidParams("unknown skill")
}

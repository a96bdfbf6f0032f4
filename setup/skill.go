package setup

import (
	"bytes"
	_ "embed" // for the skill
	"path/filepath"
	"strings"
)

// Skill is the text of the skill: when to use the tool, and how.
//
//go:embed skill/SKILL.md
var Skill string

// SkillDescription returns what the front matter of the skill says of when to use it.
func SkillDescription() string {
	_, rest, _ := strings.Cut(Skill, "\ndescription: ")
	description, _, _ := strings.Cut(rest, "\n")
	return description
}

// SkillFile returns where a client looks for the skill, for all projects or for the one in
// the working directory. It returns an empty string for clients that are not known to read
// skills.
func (s System) SkillFile(c Client, project bool) string {
	if c.Skills == "" {
		return ""
	}
	base := s.Home
	if project {
		base = s.Dir
	}
	return filepath.Join(base, filepath.FromSlash(c.Skills), EntryName, "SKILL.md")
}

// AddSkill plans to write the skill for a client. Several clients share one file.
func (s Setup) AddSkill(c Client, project bool) (Change, error) {
	return s.skill(c, project, []byte(Skill))
}

// RemoveSkill plans to delete the skill of a client. A file that is not a version of the skill is kept.
func (s Setup) RemoveSkill(c Client, project bool) (Change, error) {
	return s.skill(c, project, nil)
}

// skill plans to give the skill of a client a text, or to delete it.
func (s Setup) skill(c Client, project bool, text []byte) (Change, error) {
	change, err := s.plan(c, project, s.System.SkillFile(c, project))
	change.Skill = true
	if err != nil || change.File == "" {
		return change, err
	}
	change.replan = func() (Change, error) { return s.skill(c, project, text) }
	own, _, _ := strings.Cut(Skill, "description:") // with the name
	switch {
	case text == nil && !bytes.HasPrefix(change.file.text, []byte(own)), bytes.Equal(change.file.text, text):
		return change, nil
	case text == nil:
		change.Action, change.Deletes = Remove, true
	case change.Creates:
		change.Action = Add
	default:
		change.Action = Update
	}
	change.after = text
	return change, nil
}

// SharesSkill reports whether two clients read the skill from the same file.
func (c Client) SharesSkill(other Client) bool {
	return c.Skills != "" && strings.EqualFold(c.Skills, other.Skills)
}

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
	file := s.System.SkillFile(c, project)
	change, err := s.skill(c, project, file)
	if err != nil || file == "" {
		return change, err
	}
	change.replan = func() (Change, error) { return s.AddSkill(c, project) }
	change.after = []byte(Skill)
	change.Creates = !change.file.exists
	switch {
	case change.Creates:
		change.Action = Add
		change.undo.Created = true
	case !bytes.Equal(change.file.text, change.after):
		change.Action = Update
	}
	change.undo.New = Skill
	return change, nil
}

// RemoveSkill plans to delete the skill of a client. A file that setup did not write is kept.
func (s Setup) RemoveSkill(c Client, project bool) (Change, error) {
	file := s.System.SkillFile(c, project)
	change, err := s.skill(c, project, file)
	if err != nil || file == "" {
		return change, err
	}
	change.replan = func() (Change, error) { return s.RemoveSkill(c, project) }
	change.after = change.file.text
	if change.file.exists && (change.undo.New != "" || string(change.file.text) == Skill) {
		change.Action, change.Deletes, change.after = Remove, true, nil
		if len(change.undo.Dirs) == 0 {
			change.undo.Dirs = []string{filepath.Dir(file)}
		}
	}
	return change, nil
}

func (s Setup) skill(c Client, project bool, file string) (Change, error) {
	change := Change{Client: c, Project: project, File: file, Action: Keep, Skill: true}
	if file == "" {
		return change, nil
	}
	var err error
	if change.file, err = readFile(file); err != nil {
		return change, &FileError{File: file, Err: err}
	}
	change.undo = s.receipt(file)
	change.undo.File = file
	return change, nil
}

// SharesSkill reports whether two clients read the skill from the same file.
func (c Client) SharesSkill(other Client) bool {
	return c.Skills != "" && strings.EqualFold(c.Skills, other.Skills)
}

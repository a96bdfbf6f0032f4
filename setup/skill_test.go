package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The skill is short, and its description fits what clients read of it.
func TestSkillText(t *testing.T) {
	head, body, ok := strings.Cut(strings.TrimPrefix(Skill, "---\n"), "\n---\n")
	if !ok || strings.Count(Skill, "\n") > 60 {
		t.Fatalf("the skill has %d lines, want at most 60 with a front matter", strings.Count(Skill, "\n"))
	}
	fields, err := (yamlSyntax{}).parse([]byte(head))
	if err != nil || fields["name"] != EntryName {
		t.Errorf("got front matter %v, %v", fields, err)
	}
	if len(fields) != 2 || fields["description"] != SkillDescription() {
		t.Errorf("the front matter %v has more than a name and the description %q", fields, SkillDescription())
	}
	if d, _ := fields["description"].(string); len(d) < 100 || len(d) > 1024 {
		t.Errorf("the description has %d characters, want 100 to 1024", len(d))
	}
	for _, word := range []string{"sequentialthinking", "recall_thinking", "revisesThought", "branchFromThought", "branchId", "nextThoughtNeeded: false", "sessionId"} {
		if !strings.Contains(body, word) {
			t.Errorf("the skill does not mention %s", word)
		}
	}
}

func TestSkill(t *testing.T) {
	claude, _ := Lookup("claude-code")
	for _, project := range []bool{false, true} {
		s := machine(t)
		if change := s.must(t)(s.RemoveSkill(claude, project)); change.Action != Keep {
			t.Errorf("removing no skill does %s", change.Action)
		}
		change := s.must(t)(s.AddSkill(claude, project))
		if change.Action != Add || !change.Creates || get(t, change.File) != Skill {
			t.Errorf("got %+v", change)
		}
		if again := s.must(t)(s.AddSkill(claude, project)); again.Action != Keep {
			t.Errorf("the second run does %s", again.Action)
		}
		put(t, change.File, "---\nname: sequent\ndescription: of an older version\n---\n")
		if update := s.must(t)(s.AddSkill(claude, project)); update.Action != Update || !strings.Contains(get(t, update.Copy), "older") || get(t, change.File) != Skill {
			t.Errorf("the update does %s", update.Action)
		}
		if gone := s.must(t)(s.RemoveSkill(claude, project)); gone.Action != Remove || s.System.Exists(filepath.Dir(gone.File)) {
			t.Errorf("Remove does %s", gone.Action)
		}
		if left, _ := os.ReadDir(filepath.Join(s.System.Home)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// A skill that another program has written is not deleted.
func TestForeignSkill(t *testing.T) {
	claude, _ := Lookup("claude-code")
	s := machine(t)
	file := s.System.SkillFile(claude, false)
	put(t, file, "mine")
	if change := s.must(t)(s.RemoveSkill(claude, false)); change.Action != Keep || get(t, file) != "mine" {
		t.Errorf("Remove does %s", change.Action)
	}
	windsurf, _ := Lookup("windsurf")
	if change, err := s.AddSkill(windsurf, false); err != nil || change.Action != Keep {
		t.Errorf("a client without skills: %s, %v", change.Action, err)
	}
}

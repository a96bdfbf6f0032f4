package setup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A project's files cannot lead setup to files elsewhere, neither through the file nor through
// its directory.
func TestLinkOutOfProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	c, _ := Lookup("cursor")
	for _, link := range []string{".cursor/mcp.json", ".cursor"} {
		s := machine(t)
		own := filepath.Join(s.System.Home, "own", "mcp.json")
		put(t, own, "{}")
		target := own
		if link == ".cursor" {
			target = filepath.Dir(own)
		}
		link = filepath.Join(s.System.Dir, link)
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(target, link)); err != nil {
			t.Fatal(err)
		}
		for _, exists := range []bool{true, false} {
			if !exists && link != filepath.Join(s.System.Dir, ".cursor") {
				continue
			}
			if !exists {
				if err := os.Remove(own); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Add(c, true, local); err == nil || !strings.Contains(err.Error(), "out of the project") {
				t.Errorf("%s, exists %v: Add returns %v", link, exists, err)
			}
			if _, err := s.Entries(c, true); err == nil {
				t.Errorf("%s, exists %v: Entries reads the file", link, exists)
			}
		}
	}
	skills, _ := Lookup("codex")
	s := machine(t)
	put(t, filepath.Join(s.System.Dir, "x"), "")
	if err := os.Symlink(s.System.Home, filepath.Join(s.System.Dir, ".agents")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddSkill(skills, true); err == nil {
		t.Error("AddSkill writes out of the project")
	}
}

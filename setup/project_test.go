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
	for _, to := range [][2]string{{".cursor/mcp.json", "own/mcp.json"}, {".cursor", "own"}, {".cursor", "empty"}} {
		s := machine(t)
		put(t, filepath.Join(s.System.Home, "own", "mcp.json"), "{}")
		put(t, filepath.Join(s.System.Home, "empty", "x"), "")
		link, target := filepath.Join(s.System.Dir, to[0]), to[1]
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(filepath.Join(s.System.Home, target), link)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Add(c, true, local); err == nil || !strings.Contains(err.Error(), "out of the project") {
			t.Errorf("%s to %s: Add returns %v", link, target, err)
		}
		if _, err := s.Entries(c, true); err == nil {
			t.Errorf("%s to %s: Entries reads the file", link, target)
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

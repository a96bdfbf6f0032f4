package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// A module is what go mod edit -json tells of a go.mod.
type module struct {
	Module  struct{ Path string }
	Require []struct {
		Path, Version string
		Indirect      bool
	}
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

func readModule(t *testing.T, dir string) module {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	var m module
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return m
}

// Adapters are modules of their own, so that who uses this one downloads no
// framework, and who uses an adapter downloads the one.
func TestAdaptersAreModules(t *testing.T) {
	root := filepath.Join("..", "..")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	ours := make(map[string]bool) // what the root module requires
	for _, r := range readModule(t, root).Require {
		ours[r.Path] = true
	}
	files, err := filepath.Glob(filepath.Join(root, "adapters", "*", "go.mod"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no adapters (%v)", err)
	}
	version := "" // of the root module, that all of them require
	for _, file := range files {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		m := readModule(t, dir)
		if want := path.Join(modulePath, "adapters", name); m.Module.Path != want {
			t.Errorf("%s is the module %s, want %s", file, m.Module.Path, want)
		}
		if len(m.Replace) != 1 || m.Replace[0].Old.Path != modulePath || m.Replace[0].New.Path != "../.." {
			t.Errorf("%s replaces %+v, want %s by ../.. alone", file, m.Replace, modulePath)
		}
		requires, frameworks := "", 0
		for _, r := range m.Require {
			switch {
			case r.Path == modulePath:
				requires = r.Version
			case r.Indirect || ours[r.Path]:
			default:
				frameworks++
				// go.sum has every module of the graph, also those that are only looked at.
				if strings.Contains(string(sums), "\n"+r.Path+" ") {
					t.Errorf("the root module's graph has %s, which belongs to %s", r.Path, file)
				}
			}
		}
		if frameworks == 0 {
			t.Errorf("%s requires nothing that the root module does not: it need not be a module", file)
		}
		if version == "" {
			version = requires
		}
		if requires == "" || requires != version {
			t.Errorf("%s requires version %q of %s, others %q", file, requires, modulePath, version)
		}
	}
}

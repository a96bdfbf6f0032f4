package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A module is the part of the output of go mod edit -json that the tests use.
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

// Adapters are separate modules, so that users of the root module download no
// framework and users of an adapter download only its own.
func TestAdaptersAreModules(t *testing.T) {
	root := filepath.Join("..", "..")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if replaced := readModule(t, root).Replace; len(replaced) > 0 {
		t.Errorf("the root module replaces %+v: it could not be installed with go install", replaced)
	}
	required := make(map[string]bool) // by the root module
	for _, r := range readModule(t, root).Require {
		required[r.Path] = true
	}
	files, err := filepath.Glob(filepath.Join(root, "adapters", "*", "go.mod"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no adapters (%v)", err)
	}
	version := "" // of the root module, the same in all adapters
	for _, file := range files {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		m := readModule(t, dir)
		if want := path.Join(modulePath, "adapters", name); m.Module.Path != want {
			t.Errorf("%s is the module %s, want %s", file, m.Module.Path, want)
		}
		if len(m.Replace) != 1 || m.Replace[0].Old.Path != modulePath || m.Replace[0].New.Path != "../.." {
			t.Errorf("%s replaces %+v, want only %s by ../..", file, m.Replace, modulePath)
		}
		requires, frameworks := "", 0
		for _, r := range m.Require {
			switch {
			case r.Path == modulePath:
				requires = r.Version
			case r.Indirect || required[r.Path]:
			default:
				frameworks++
				// go.sum lists every module of the graph, even if no package of it is built.
				if strings.Contains(string(sums), "\n"+r.Path+" ") {
					t.Errorf("the root module depends on %s, which only %s may require", r.Path, file)
				}
			}
		}
		if frameworks == 0 {
			t.Errorf("%s requires nothing beyond the root module: it needs no module of its own", file)
		}
		if version == "" {
			version = requires
		}
		if requires == "" || requires != version {
			t.Errorf("%s requires %s %q, other adapters %q", file, modulePath, requires, version)
		}
	}
}

// Everybody who starts the program in an editor pays for what is linked into it. These
// packages made it a third larger, and were initialised at every start.
func TestProgramLinksNoLargePackages(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/sequent")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, modulePath+"/internal/telemetry") {
		t.Fatal("the program does not link internal/telemetry")
	}
	for pattern, why := range map[string]string{
		"google.golang.org/grpc/...": "telemetry is posted with net/http",
		"html/template":              "its templates keep the linker from removing unused methods",
	} {
		for _, p := range linked {
			if matches(pattern, p) {
				t.Errorf("the program links %s: %s", p, why)
			}
		}
	}
}

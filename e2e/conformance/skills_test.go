package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// The suite's scenarios of the extension for skills hold without an exception, in both eras. The
// scenario of directories is skipped by the suite: the server does not declare that it reads
// directories.
func TestSkills(t *testing.T) {
	t.Parallel()
	node := needSuite(t)
	url := programtest.ServeHTTP(t, programtest.Build(t), "--store", "memory")
	for _, revision := range revisions {
		for scenario, atLeast := range map[string]int{"sep-2640-skills-enumeration": 30, "sep-2640-skills-manifest": 6} {
			results := t.TempDir()
			out, err := exec.CommandContext(t.Context(), node, suite, "server", "--url", url, "--scenario", scenario,
				"--spec-version", revision, "--force", "--output-dir", results).CombinedOutput()
			if err != nil {
				t.Errorf("%s, %s: the suite ends with %v\n%s", revision, scenario, err, out)
				continue
			}
			files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("the results are %q: %v", files, err)
			}
			data, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			var checks []struct{ ID, Status, ErrorMessage string }
			if err := json.Unmarshal(data, &checks); err != nil {
				t.Fatal(err)
			}
			passed := 0
			for _, c := range checks {
				switch c.Status {
				case "SUCCESS":
					passed++
				case "FAILURE", "WARNING":
					t.Errorf("%s, %s: %s", revision, c.ID, c.ErrorMessage)
				}
			}
			if passed < atLeast {
				t.Errorf("%s, %s: %d checks have passed, want at least %d", revision, scenario, passed, atLeast)
			}
		}
	}
}

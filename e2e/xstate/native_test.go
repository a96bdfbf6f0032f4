package xstate

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// The machine of the first seed with the npm package: it owns the session, observes the
// steps of each phase, and resumes in its session after a kill.
func TestPackage(t *testing.T) {
	t.Parallel()
	program, node := programtest.Build(t), ready(t)
	file := programtest.NPMPackage(t, node, "ai-sdk")
	run := func(t *testing.T, dir string, more ...string) ([]byte, error) {
		options, err := json.Marshal(map[string]string{"command": program, "store": filepath.Join(dir, "sequent.db")})
		if err != nil {
			t.Fatal(err)
		}
		args := append([]string{"native.mjs", file, string(options), filepath.Join(dir, "plan.json")}, more...)
		return exec.Command(node, args...).Output()
	}
	check := func(t *testing.T, out []byte, err error, want []string) {
		t.Helper()
		var got struct {
			Owned    bool
			Thoughts []string
		}
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		if err != nil || !got.Owned || !slices.Equal(got.Thoughts, want) {
			t.Errorf("%v: got %s, want the machine's session with %q", err, out, want)
		}
	}
	t.Run("steps", func(t *testing.T) {
		out, err := run(t, t.TempDir())
		check(t, out, err, slices.Concat(thoughts("analyze_code", 1), thoughts("research", 15), thoughts("design", 4)))
	})
	t.Run("resume", func(t *testing.T) {
		dir := t.TempDir()
		if out, err := run(t, dir, "die"); err == nil {
			t.Fatalf("the process was not killed: %s", out)
		}
		out, err := run(t, dir)
		check(t, out, err, slices.Concat(thoughts("analyze_code", 1), thoughts("research", 5), thoughts("research", 15), thoughts("design", 4)))
	})
}

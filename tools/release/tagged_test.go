package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// A commit that is prepared and tagged is released as it is, with the same changes. Another
// commit is not released under its tag.
func TestTaggedCommit(t *testing.T) {
	needtest.Long(t)
	dir := repository(t, nil)
	run := func(out string) (*release, error) {
		r := &release{version: "v0.1.0", repository: dir, out: out, systems: []string{runtime.GOOS + "/" + runtime.GOARCH}, log: t.Output()}
		return r, r.run(t.Context())
	}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	first, err := run(filepath.Join(t.TempDir(), "first"))
	if err != nil {
		t.Fatal(err)
	}
	git("apply", "--index", filepath.Join(first.out, "release.patch"))
	git("commit", "--quiet", "--message=release")
	git("tag", "v0.1.0")
	second, err := run(filepath.Join(t.TempDir(), "second"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, second.out, "CHANGES.md"), read(t, first.out, "CHANGES.md"); second.patched || got != want {
		t.Errorf("the tagged commit gets a patch: %v, and the changes\n%s, want\n%s", second.patched, got, want)
	}
	if !strings.Contains(string(second.programs[0].content), git("rev-parse", "HEAD")) {
		t.Error("the program does not contain the tagged commit")
	}
	git("commit", "--quiet", "--allow-empty", "--message=more")
	if _, err := run(filepath.Join(t.TempDir(), "third")); err == nil || !strings.Contains(err.Error(), "is a tag of the commit") {
		t.Errorf("error %v, want one about the tag", err)
	}
}

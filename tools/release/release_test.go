package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sequent-dev/sequent/internal/gendocs"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// toy is a repository with all that a release looks at, and no modules of others.
const toy = `
-- go.mod --
module example.com/toy

go 1.26
-- LICENSE --
do as you like
-- README.md --
# Toy
-- internal/gendocs/released.txt --
none
-- toy.go --
package toy

const Name = "toy"
-- testdata/a.txt --
kept
-- npm/toy/toy.js --
#!/usr/bin/env node
-- npm/toy/README.md --
# Toy

<!-- begin published npm: make generate -->
This package is not published yet.
<!-- end published -->
-- packaging/install.sh --
#!/bin/sh
-- packaging/install.ps1 --
Write-Output
-- cmd/toy/main.go --
package main

import (
	"fmt"
	"runtime/debug"

	"example.com/toy"
)

func main() {
	info, _ := debug.ReadBuildInfo()
	fmt.Println(toy.Name, info.Main.Version)
}
-- adapters/one/go.mod --
module example.com/toy/adapters/one

go 1.26

require example.com/toy v0.0.0

replace example.com/toy => ../..
-- adapters/one/one.go --
package one

import "example.com/toy"

const Name = toy.Name
-- tools/go.mod --
module example.com/toy/tools

go 1.26
-- tools/tools.go --
package tools
-- changelog/unreleased/b.md --
Fixed: one thing
of two lines.

Added: in the same file.
-- changelog/unreleased/a.md --
Added: another thing.
`

// repository commits toy, with some files replaced, and returns its directory.
func repository(t *testing.T, replaced map[string]string) string {
	t.Helper()
	needtest.Program(t, "git", "install git")
	for name, value := range map[string]string{
		"GOPROXY": "off", "GOFLAGS": "", "GIT_CONFIG_GLOBAL": os.DevNull,
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
	} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	files := make(map[string]string)
	for _, f := range txtar.Parse([]byte(toy)).Files {
		files[f.Name] = string(f.Data)
	}
	maps.Copy(files, replaced)
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "toy"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func TestRelease(t *testing.T) {
	needtest.Long(t)
	dir := repository(t, nil)
	own := runtime.GOOS + "/" + runtime.GOARCH
	const other = "windows/arm64"
	build := func(out string) *release {
		r := &release{version: "v0.1.0", repository: dir, out: out, systems: []string{own, other}, log: t.Output()}
		if err := r.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := build(filepath.Join(t.TempDir(), "first"))
	second := build(filepath.Join(t.TempDir(), "second"))

	sums := read(t, first.out, "SHA256SUMS")
	if again := read(t, second.out, "SHA256SUMS"); again != sums {
		t.Errorf("two releases of one commit differ:\n%s%s", sums, again)
	}
	var listed []string
	lines := strings.SplitSeq(strings.TrimSpace(sums), "\n")
	for line := range lines {
		sum, name, _ := strings.Cut(line, "  ")
		listed = append(listed, name)
		file := name
		if strings.HasSuffix(name, ".tgz") {
			file = "npm/" + name
		}
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, first.out, file)))); got != sum {
			t.Errorf("%s has the checksum %s, SHA256SUMS says %s", name, got, sum)
		}
	}
	ownName := "toy_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH
	for _, want := range []string{
		"install.ps1", "install.sh", "server.json", "toy.rb", "toy_0.1.0_windows_arm64.mcpb", "toy_0.1.0_windows_arm64.zip",
		ownName + ".mcpb", "sequent-dev-toy-0.1.0.tgz", "sequent-dev-toy-win32-arm64-0.1.0.tgz",
	} {
		if !slices.Contains(listed, want) {
			t.Errorf("SHA256SUMS lists %q, without %s", listed, want)
		}
	}
	packed := func(dir, program string) []string {
		return []string{dir + "/CHANGELOG.md", dir + "/LICENSE", dir + "/README.md", dir + "/" + program}
	}
	const windows = "toy_0.1.0_windows_arm64"
	if got, want := namesOfZip(t, read(t, first.out, windows+".zip")), packed(windows, "toy.exe"); !slices.Equal(got, want) {
		t.Errorf("the archive for Windows has %q, want %q", got, want)
	}
	if runtime.GOOS != "windows" {
		d := "toy_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH
		got := namesOfTar(t, read(t, first.out, d+".tar.gz"))
		if want := packed(d, "toy"); !slices.Equal(got, want) {
			t.Errorf("the archive for %s has %q, want %q", own, got, want)
		}
	}

	const changes = "## v0.1.0 (2026-01-02)\n\n### Added\n\n- another thing.\n- in the same file.\n\n### Fixed\n\n- one thing\n  of two lines.\n"
	if got := read(t, first.out, "CHANGES.md"); got != changes {
		t.Errorf("CHANGES.md is\n%s, want\n%s", got, changes)
	}
	// The patch is what has to be committed.
	apply := exec.Command("git", "apply", "--index", filepath.Join(first.out, "release.patch"))
	apply.Dir = dir
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s", err, out)
	}
	if got := read(t, dir, "CHANGELOG.md"); got != "# Changelog\n\n"+changes {
		t.Errorf("CHANGELOG.md is\n%s", got)
	}
	if got := read(t, dir, "adapters/one/go.mod"); !strings.Contains(got, "require example.com/toy v0.1.0\n") {
		t.Errorf("the adapter's go.mod is\n%s", got)
	}
	if got := read(t, dir, "internal/gendocs/released.txt"); got != "v0.1.0\n" {
		t.Errorf("released.txt has %q", got)
	}
	page, err := gendocs.Block("npm", "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "npm/toy/README.md"); got != "# Toy\n\n"+page {
		t.Errorf("npm/toy/README.md is\n%s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "changelog/unreleased/a.md")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the patch changelog/unreleased/a.md: %v", err)
	}
}

// What users could not use is not released, and nothing of it stays.
func TestReleaseFails(t *testing.T) {
	needtest.Long(t)
	tests := []struct {
		name, version string
		files         map[string]string
		want          string // in the error
	}{
		{"no version", "", nil, "not of the form"},
		{"a version without v", "0.1.0", nil, "not of the form"},
		{"a major version that needs another path", "v2.0.0", nil, "not of the form"},
		{"a change of no kind", "v0.1.0", map[string]string{"changelog/unreleased/a.md": "New: a thing.\n"}, `a.md begins with "New"`},
		{"a command that does not build", "v0.1.0", map[string]string{"cmd/toy/main.go": "package main\n"}, "go build"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			r := &release{version: tt.version, repository: repository(t, tt.files), out: out, log: t.Output()}
			if tt.name == "a command that does not build" {
				r.systems = []string{runtime.GOOS + "/" + runtime.GOARCH}
			}
			if err := r.run(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is there: %v", out, err)
			}
		})
	}
}

func TestUncommittedChanges(t *testing.T) {
	dir := repository(t, nil)
	if err := os.WriteFile(filepath.Join(dir, "new.go"), []byte("package toy\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := &release{version: "v0.1.0", repository: dir, out: filepath.Join(t.TempDir(), "out"), log: t.Output()}
	if err := r.run(t.Context()); err == nil || !strings.Contains(err.Error(), "uncommitted changes") {
		t.Errorf("error %v, want one about uncommitted changes", err)
	}
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func namesOfZip(t *testing.T, archive string) []string {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

func namesOfTar(t *testing.T, archive string) []string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader([]byte(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		names = append(names, h.Name)
		if executable := h.Mode&0o111 != 0; executable != strings.HasSuffix(h.Name, "/toy") {
			t.Errorf("%s has the mode %o", h.Name, h.Mode)
		}
	}
}

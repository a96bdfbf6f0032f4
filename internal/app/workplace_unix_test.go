//go:build unix

package app

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A server on standard input asks git for the project once, and for branch and commit when a
// session begins: later calls wait for no file. None of these commands runs a hook or a command of
// the repository's configuration.
func TestGitIsAskedOnce(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\ncase \"$*\" in *toplevel*) printf '/p\\n/p/.git\\n';; *symbolic*) echo main;; *verify*) echo 1a2b;; esac\n", log)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	a, err := Open(t.Context(), Config{Store: "memory", Dialect: "standard"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var in, out bytes.Buffer
	fmt.Fprintln(&in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	for i := range 5 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sequentialthinking","arguments":{"thought":"t","thoughtNumber":%[1]d,"totalThoughts":5,"nextThoughtNeeded":true}}}`+"\n", i+1)
	}
	if err := a.Serve(t.Context(), &in, &out); err != nil {
		t.Fatal(err)
	}
	asked, err := os.ReadFile(log)
	if want := `rev-parse --path-format=absolute --show-toplevel --git-common-dir
config --get remote.origin.url
symbolic-ref --quiet --short HEAD
rev-parse --quiet --verify HEAD
`; err != nil || string(asked) != want {
		t.Errorf("git was asked %q, error %v; want %q", asked, err, want)
	}
	for h, err := range a.Engine.AllSessions(t.Context(), sequent.Query{}) {
		if o := h.Origin; err != nil || h.Len != 5 || o.Project != "/p" || o.GitBranch != "main" || o.Commit != "1a2b" {
			t.Errorf("the session has %d thoughts and comes from %+v, error %v", h.Len, o, err)
		}
	}
}

package parity

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

const plusSequences = 200

// volatile matches what differs between any two session files: the id and the time.
var volatile = regexp.MustCompile(`(?m)^  "(id|timestamp)": ".*",$`)

// The session files are those of sequentialthinking-plus 0.6.2, byte for byte, except for
// id and timestamp. That program is in no package registry, so this test runs only if
// SEQUENT_PLUS names a folder with its index.js and its installed packages:
//
//	make oracles PLUS=FOLDER
func TestParityOfSessionFiles(t *testing.T) {
	t.Parallel()
	plus := os.Getenv("SEQUENT_PLUS")
	if plus == "" {
		t.Skip("SEQUENT_PLUS does not name a folder with sequentialthinking-plus 0.6.2")
	}
	node := needtest.Program(t, "node", "install Node.js 20 or newer")
	program := programtest.Build(t)
	g := newGenerator(t)
	size := programtest.Size(plusSequences)
	for range size {
		calls := g.plusCalls()
		dirs := [2]string{t.TempDir(), t.TempDir()}
		theirs := processes(node, filepath.Join(plus, "index.js"), "--storage-path", dirs[0])(t, calls)
		ours := processes(program, "serve", "--dialect", "classic", "--store", "memory", "--storage-path", dirs[1])(t, calls)
		for i, call := range calls {
			if theirs[i].Failed || ours[i].Failed || theirs[i].Fields.String() != ours[i].Fields.String() || saved(t, theirs[i]) != saved(t, ours[i]) {
				t.Fatalf("call %s\nours:   %s %s\ntheirs: %s %s", call, ours[i].Fields, ours[i].Text, theirs[i].Fields, theirs[i].Text)
			}
		}
		if want, got := sessionFile(t, dirs[0]), sessionFile(t, dirs[1]); got != want {
			t.Fatalf("calls %q\nours:\n%s\ntheirs:\n%s", calls, got, want)
		}
	}
	t.Logf("%d session files", size)
}

// saved returns the member sessionSaved of a reply.
func saved(t *testing.T, a answer) bool {
	t.Helper()
	var reply struct{ SessionSaved *bool }
	if err := json.Unmarshal([]byte(a.Text), &reply); err != nil || reply.SessionSaved == nil {
		t.Fatalf("no sessionSaved in %s (%v)", a.Text, err)
	}
	return *reply.SessionSaved
}

// plusCalls generates the calls of one session, the last of which completes it. The values
// have the types of the schema: the original program converts none.
func (g generator) plusCalls() []string {
	n := 1 + g.IntN(12)
	var calls []string
	for i := range n {
		members := []member{
			{"thought", g.thought()}, {"thoughtNumber", fmt.Sprint(i + 1)}, {"totalThoughts", fmt.Sprint(1 + g.IntN(15))},
			{"nextThoughtNeeded", fmt.Sprint(i < n-1)},
		}
		optional := func(odds int, name string, value func() string) {
			if g.IntN(odds) == 0 {
				members = append(members, member{name, value()})
			}
		}
		boolean := func() string { return fmt.Sprint(g.IntN(2) == 0) }
		number := func() string { return fmt.Sprint(1 + g.IntN(9)) }
		optional(3, "isRevision", boolean)
		optional(4, "revisesThought", number)
		optional(3, "branchFromThought", number)
		optional(3, "branchId", g.branch)
		optional(4, "needsMoreThoughts", boolean)
		calls = append(calls, object(members))
	}
	return calls
}

// sessionFile returns the only session file of a folder, without id and timestamp.
func sessionFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "session.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s has the files %q (%v), want one", dir, files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if n := len(volatile.FindAllString(text, -1)); n != 2 {
		t.Fatalf("%s: %d lines with id and timestamp, want 2:\n%.500s", files[0], n, text)
	}
	return strings.TrimSpace(volatile.ReplaceAllString(text, `  "$1",`))
}

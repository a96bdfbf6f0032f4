// Package newdialect tests what CONTRIBUTING.md says of adding and removing a
// dialect: its package, and one line in internal/app with its import.
package newdialect

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

const (
	root  = "../.."
	table = "internal/app/dialects.go"
)

// An overlay changes the source tree for one build: see "go help build".
type overlay struct {
	t       *testing.T
	Replace map[string]string // the file that the compiler reads instead; empty removes it
}

func newOverlay(t *testing.T) *overlay {
	return &overlay{t: t, Replace: make(map[string]string)}
}

// write gives a file of the module another content.
func (o *overlay) write(name, text string) {
	o.t.Helper()
	file := filepath.Join(o.t.TempDir(), filepath.Base(name))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
	o.Replace[path(o.t, name)] = file
}

// build builds the program.
func (o *overlay) build() string {
	o.t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		o.t.Fatal(err)
	}
	dir := o.t.TempDir()
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		o.t.Fatal(err)
	}
	program := filepath.Join(dir, "sequent.exe")
	cmd := exec.Command("go", "build", "-overlay", file, "-o", program, "./cmd/sequent")
	cmd.Dir = root
	programtest.Output(o.t, cmd)
	return program
}

// path returns the absolute name of a file of the module.
func path(t *testing.T, name string) string {
	t.Helper()
	abs, err := filepath.Abs(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// insert puts lines behind the one line that has a text.
func insert(t *testing.T, text, behind string, lines ...string) string {
	t.Helper()
	before, after, ok := strings.Cut(text, behind+"\n")
	if !ok || strings.Contains(after, behind+"\n") {
		t.Fatalf("%s has the line %q not once", table, behind)
	}
	return before + behind + "\n" + strings.Join(lines, "\n") + "\n" + after
}

// A dialect is added by its package, a line in the table and its import. It is
// served like any other, with its own URL.
func TestAdd(t *testing.T) {
	t.Parallel()
	o := newOverlay(t)
	o.write("dialect/tally/tally.go", read(t, "testdata/tally.go.txt"))
	o.write("dialect/tally/tool.json", read(t, "testdata/tool.json"))
	text := read(t, path(t, table))
	text = insert(t, text, `	"github.com/sequent-dev/sequent/dialect/status"`,
		`	"github.com/sequent-dev/sequent/dialect/tally"`)
	text = insert(t, text, `		{Name: "wiki", Build: a.wiki},`,
		`		plain("tally", func() dialect.Dialect { return tally.New(tally.Config{Engine: a.Engine}) }),`)
	o.write(table, text)
	program := o.build()

	p := programtest.Start(t, time.Minute, program, "serve", "--dialect", "tally", "--store", "memory")
	p.Ask(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	p.Send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.Ask(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count","arguments":{"thought":"a"}}}`)
	if got := p.Ask(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"count","arguments":{"thought":"b"}}}`); !strings.Contains(got, "thought 2") {
		t.Errorf("the second call is answered with %s", got)
	}
	if got := p.Ask(t, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"count","arguments":{"thought":7}}}`); !strings.Contains(got, `"isError":true`) {
		t.Errorf("a wrong argument is answered with %s", got)
	}
	p.Close(t)

	url := programtest.ServeHTTP(t, program, "--store", "memory")
	client := http.Client{Timeout: time.Minute}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/tally", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	res, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), "serverInfo") {
		t.Errorf("/mcp/tally answers %s, %v: %s", res.Status, err, body)
	}
}

// A dialect is removed by its folder, its line and its import.
func TestRemove(t *testing.T) {
	t.Parallel()
	o := newOverlay(t)
	err := filepath.WalkDir(path(t, "dialect/guided"), func(file string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			o.Replace[file] = ""
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	removed := 0
	for line := range strings.Lines(read(t, path(t, table))) {
		if strings.Contains(line, "guided") {
			removed++
		} else {
			kept = append(kept, line)
		}
	}
	if removed != 2 {
		t.Errorf("%s names guided in %d lines, want 2", table, removed)
	}
	o.write(table, strings.Join(kept, ""))
	program := o.build()
	cmd := exec.Command(program, "serve", "--dialect", "guided", "--store", "memory")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "standard, classic, history, status, wiki") {
		t.Errorf("without guided the program says %v: %s", err, out)
	}
}

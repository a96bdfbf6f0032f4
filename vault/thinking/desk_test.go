package thinking_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

const (
	sessionID = sequent.ID("session-1756610546730-48291")
	fileName  = "thinking/sequential/session-1756610546730-48291.md"
)

// A desk is a vault with a store beside it.
type desk struct {
	t      *testing.T
	dir    string
	files  *thinking.Files
	engine *sequent.Engine
	now    time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), now: time.Date(2025, 8, 31, 3, 22, 26, 730_000_000, time.UTC)}
	d.engine = sequent.New(sequent.Config{Now: func() time.Time { d.now = d.now.Add(time.Second); return d.now }})
	d.files = openFiles(t, d.dir)
	return d
}

func openFiles(t *testing.T, dir string) *thinking.Files {
	t.Helper()
	v, err := vault.Open(vault.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return thinking.New(v)
}

// commit changes the session, or begins it, without writing its file.
func (d *desk) commit(id sequent.ID, change func(*sequent.Change) error) *sequent.Session {
	d.t.Helper()
	s, err := d.engine.Ensure(d.t.Context(), id, func(c *sequent.Change) error {
		if c.Session().Len() == 0 {
			c.BeginIn("", "test")
			c.SetLabel(thinking.LabelVault, d.files.ID())
		}
		return change(c)
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// think commits and writes the file.
func (d *desk) think(draft sequent.Draft) *sequent.Session {
	d.t.Helper()
	s := d.commit(sessionID, thought(draft))
	if _, err := d.files.Write(d.t.Context(), s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

func thought(d sequent.Draft) func(*sequent.Change) error {
	return func(c *sequent.Change) error {
		_, err := c.Append(d)
		return err
	}
}

// step is a plain thought.
func step(n int) sequent.Draft {
	return sequent.Draft{Number: n, Total: 5, Text: fmt.Sprintf("Step %d of [[authentication]].", n)}
}

func (d *desk) read() string { return d.readFile(fileName) }

func (d *desk) readFile(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

func (d *desk) write(text string) { d.writeFile(fileName, text) }

func (d *desk) writeFile(name, text string) {
	d.t.Helper()
	name = filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// edit changes the file as a person does.
func (d *desk) edit(old, new string) {
	d.t.Helper()
	text := d.read()
	if !strings.Contains(text, old) {
		d.t.Fatalf("the file does not hold %q:\n%s", old, text)
	}
	d.write(strings.Replace(text, old, new, 1))
}

// wantSame fails the test if a sync finds something to do.
func (d *desk) wantSame() {
	d.t.Helper()
	if r := d.sync(false); r.Notes > 0 || r.Read > 0 || len(r.Failed) > 0 {
		d.t.Errorf("a sync gives %+v\n%s", r, d.read())
	}
}

func (d *desk) sync(rebuild bool) thinking.Report {
	d.t.Helper()
	r, err := d.files.Sync(d.t.Context(), d.engine, rebuild)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

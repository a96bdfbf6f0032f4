package thinking_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlite"
	"github.com/sequent-dev/sequent/vault/thinking"
)

const (
	processDir  = "SEQUENT_TEST_DIR"  // in a child: with the vault and the store
	processName = "SEQUENT_TEST_NAME" // marks the thoughts of a child
	said        = "said: "            // before a thought in a child's output
)

// Several processes write to a shared note and to their own at once, and half of them are
// killed. What they acknowledged is in the note once and in order; the next thoughts and a
// sync write what a killed process has left unwritten.
func TestProcesses(t *testing.T) {
	if dir := os.Getenv(processDir); dir != "" {
		work(t, dir, os.Getenv(processName))
		return
	}
	const processes = 4
	dir := t.TempDir()
	var mu sync.Mutex // guards acknowledged
	var acknowledged []string
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestProcesses$")
			cmd.Env = append(os.Environ(), processDir+"="+dir, fmt.Sprintf("%s=p%d", processName, i))
			var errs strings.Builder
			cmd.Stderr = &errs
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			count := 0
			for lines := bufio.NewScanner(out); lines.Scan(); {
				text, ok := strings.CutPrefix(lines.Text(), said)
				if !ok {
					continue
				}
				mu.Lock()
				acknowledged = append(acknowledged, text)
				mu.Unlock()
				if count++; i%2 == 1 && count == 10+i {
					kill()
				}
			}
			if err := cmd.Wait(); (err != nil) != (i%2 == 1) {
				t.Errorf("process %d ends with %v after %d thoughts\n%s", i, err, count, &errs)
			}
		})
	}
	wg.Wait()

	d := newDesk(t)
	d.dir = dir
	d.files = openFiles(t, dir)
	d.engine = openEngine(t, dir)
	d.sync(false)
	d.wantSame()
	have := make(map[string]int)
	for h, err := range d.engine.AllSessions(t.Context(), sequent.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		s := must(d.engine.Session(t.Context(), h.ID))
		list := thinking.Sections(d.readFile(thinking.Folder + "/" + string(h.ID) + ".md"))
		for i, sec := range list {
			if th, _ := s.At(i + 1); sec.Seq != i+1 || sec.Draft.Text != th.Text {
				t.Errorf("%s: section %d is %d, %q, and the thought is %q", h.ID, i+1, sec.Seq, sec.Draft.Text, th.Text)
			}
			have[sec.Draft.Text]++
		}
		if len(list) != s.Len() {
			t.Errorf("%s: %d sections of %d thoughts", h.ID, len(list), s.Len())
		}
	}
	for _, text := range acknowledged {
		if have[text] != 1 {
			t.Errorf("%q was acknowledged, and is there %d times", text, have[text])
		}
	}
}

func openEngine(t *testing.T, dir string) *sequent.Engine {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "sequent.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return sequent.New(sequent.Config{Store: store})
}

// work adds thoughts to a shared session and to a session of its own, and prints each
// thought once it is in the store and in the note.
func work(t *testing.T, dir, name string) {
	d := &desk{t: t, dir: dir, files: openFiles(t, dir), engine: openEngine(t, dir)}
	var wg sync.WaitGroup
	for _, id := range []sequent.ID{"session-1-shared", sequent.ID("session-1-" + name)} {
		wg.Go(func() {
			for n := range 25 {
				text := fmt.Sprintf("%s says %d on %s", name, n, id)
				if _, err := d.files.Write(t.Context(), d.commit(id, thought(sequent.Draft{Text: text}))); err != nil {
					t.Error(err)
				}
				os.Stdout.WriteString(said + text + "\n") // one call, so that a sudden death leaves whole lines
			}
		})
	}
	wg.Wait()
}

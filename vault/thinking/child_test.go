package thinking_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlite"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// Tests with several processes run this test binary as a child, with its task in
// environment variables.
const (
	childTask   = "SEQUENT_TEST_CHILD"  // a key of tasks
	childDir    = "SEQUENT_TEST_DIR"    // with the vault and the store
	childName   = "SEQUENT_TEST_NAME"   // marks the child's thoughts
	childCount  = "SEQUENT_TEST_COUNT"  // of thoughts; 0 means until it is killed
	childStrike = "SEQUENT_TEST_STRIKE" // before the file of which thought it kills itself
)

var tasks = map[string]func(context.Context) error{"think": thinkTask}

func TestMain(m *testing.M) {
	name := os.Getenv(childTask)
	if name == "" {
		os.Exit(m.Run())
	}
	task := tasks[name]
	if task == nil {
		task = systemTasks[name]
	}
	if err := task(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A place is a vault with a SQLite store beside it.
type place struct {
	store  *sqlite.Store
	engine *sequent.Engine
	vault  *vault.Vault
	files  *thinking.Files
}

func openPlace(ctx context.Context, dir string) (*place, error) {
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "sequent.db")})
	if err != nil {
		return nil, err
	}
	v, err := vault.Open(vault.Config{Dir: filepath.Join(dir, "vault"), Create: true})
	if err != nil {
		return nil, err
	}
	return &place{
		store: store, engine: sequent.New(sequent.Config{Store: store}), vault: v,
		files: thinking.New(v),
	}, nil
}

func (p *place) close() error {
	if err := p.vault.Close(); err != nil {
		return err
	}
	return p.store.Close()
}

// thinkTask adds thoughts to a shared session and to its own, and prints each thought once
// it is in the store and in the file.
func thinkTask(ctx context.Context) error {
	p, err := openPlace(ctx, os.Getenv(childDir))
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(os.Getenv(childCount))
	if err != nil {
		return err
	}
	strike, err := strconv.Atoi(os.Getenv(childStrike))
	if err != nil {
		return err
	}
	name := os.Getenv(childName)
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	var wg sync.WaitGroup
	var failed sync.Map
	for _, id := range []sequent.ID{"session-1-shared", sequent.ID("session-1-" + name)} {
		wg.Go(func() {
			for n := 0; count == 0 || n < count; n++ {
				text := fmt.Sprintf("%s says %d on %s", name, n, id)
				s, err := p.engine.Ensure(ctx, id, func(c *sequent.Change) error {
					if c.Session().Len() == 0 {
						c.BeginIn("", "test")
						c.SetLabel(thinking.LabelVault, p.files.ID())
					}
					_, err := c.Append(sequent.Draft{Number: c.Session().Len(), Total: c.Session().Len(), Text: text})
					return err
				})
				if err == nil {
					if n+1 == strike {
						kill(os.Getpid())
					}
					_, err = p.files.Write(ctx, s)
				}
				if err != nil {
					failed.Store(id, fmt.Errorf("%s: %w", text, err))
					return
				}
				os.Stdout.WriteString(text + "\n") // one call, so that a sudden death leaves whole lines
			}
		})
	}
	wg.Wait()
	for _, err := range failed.Range {
		return err.(error)
	}
	return p.close()
}

// A child is a process that a test has started.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  *bufio.Scanner // of its stdout
	errors *strings.Builder
}

func start(t *testing.T, dir, name string, count, strike int) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.CommandContext(t.Context(), self), errors: new(strings.Builder)}
	c.cmd.Env = append(os.Environ(), childTask+"=think", childDir+"="+dir, childName+"="+name,
		childCount+"="+strconv.Itoa(count), childStrike+"="+strconv.Itoa(strike))
	c.cmd.Stderr = c.errors
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(stdout)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !c.lines.Scan() || c.lines.Text() != "ready" {
		t.Fatalf("the child did not begin: %s", c.errors)
	}
	return c
}

func (c *child) begin(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(c.stdin, "\n"); err != nil {
		t.Fatal(err)
	}
}

// rest returns what the child prints until it exits.
func (c *child) rest() []string {
	var said []string
	for c.lines.Scan() {
		said = append(said, c.lines.Text())
	}
	return said
}

// Several processes write to a shared file and to their own files at once.
func TestProcesses(t *testing.T) {
	const processes, thoughts = 4, 25
	dir := t.TempDir()
	var children []*child
	for i := range processes {
		children = append(children, start(t, dir, fmt.Sprint("p", i), thoughts, 0))
	}
	said := make([][]string, processes)
	var wg sync.WaitGroup
	for i, c := range children {
		c.begin(t)
		wg.Go(func() { said[i] = c.rest() })
	}
	wg.Wait()
	all := map[string]bool{}
	for i, c := range children {
		if err := c.cmd.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, c.errors)
		}
		for _, line := range said[i] {
			all[line] = true
		}
	}
	if len(all) != processes*thoughts*2 {
		t.Errorf("%d thoughts were written, want %d", len(all), processes*thoughts*2)
	}
	if gaps := checkPlace(t, dir, all, false); gaps > 0 {
		t.Errorf("files lack %d thoughts", gaps)
	}
	checkPlace(t, dir, all, true)
}

// A process is killed at a random moment, another continues, and a sync writes what is
// missing.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	all, gaps := map[string]bool{}, 0
	for round := range 9 {
		strike := 0
		if round%2 == 0 {
			strike = 1 + round/2 // between store and file
		}
		c := start(t, dir, fmt.Sprint("k", round), 0, strike)
		c.begin(t)
		timer := time.AfterFunc(time.Duration(20+23*round)*time.Millisecond, func() {
			if strike == 0 {
				kill(c.cmd.Process.Pid)
			}
		})
		for _, line := range c.rest() {
			all[line] = true
		}
		timer.Stop()
		if err := c.cmd.Wait(); err == nil {
			t.Fatal("the child was not killed")
		}
		gaps += checkPlace(t, dir, all, round%3 == 2)
	}
	if gaps == 0 {
		t.Error("nothing was ever missing: the test shows nothing")
	}
}

// checkPlace compares the sections of all files with the thoughts in the store, and returns
// how many thoughts the files lack.
func checkPlace(t *testing.T, dir string, said map[string]bool, sync bool) (gaps int) {
	t.Helper()
	p, err := openPlace(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if sync {
		r, err := p.files.Sync(t.Context(), p.engine, thinking.Options{})
		if err != nil || len(r.Failed) > 0 {
			t.Fatalf("sync: %+v, %v", r, err)
		}
		r, err = p.files.Sync(t.Context(), p.engine, thinking.Options{})
		if err != nil || r.Notes > 0 || len(r.Failed) > 0 {
			t.Errorf("after a sync, another gives %+v, %v", r, err)
		}
	}
	found := map[string]int{}
	page, err := p.engine.Sessions(t.Context(), sequent.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range page.Headers {
		s, err := p.engine.Session(t.Context(), h.ID)
		if err != nil {
			t.Fatal(err)
		}
		n, err := p.vault.Read(t.Context(), vault.URI("memory://thinking/sequential/"+string(h.ID)))
		if err != nil {
			gaps += s.Len() // the process died before it was made
			continue
		}
		last := 0
		for _, sec := range thinking.Sections(n.Body) {
			th, _ := s.At(sec.Seq)
			if sec.Seq != last+1 || sec.Draft.Text != th.Text {
				t.Errorf("%s: section %d after %d says %q, and the thought %q", h.ID, sec.Seq, last, sec.Draft.Text, th.Text)
			}
			last = sec.Seq
			found[sec.Draft.Text]++
		}
		gaps += s.Len() - last
	}
	if sync && gaps > 0 {
		t.Errorf("after a sync, files lack %d thoughts", gaps)
	}
	for text := range said {
		if found[text] != 1 {
			t.Errorf("%q was acknowledged, and is there %d times", text, found[text])
		}
	}
	return gaps
}

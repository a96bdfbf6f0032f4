package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// Tests with several processes run this test binary as a child, controlled by
// these environment variables.
const (
	childTask    = "SEQUENT_TEST_CHILD"   // a key of tasks or systemTasks
	childStore   = "SEQUENT_TEST_STORE"   // path of the database
	childName    = "SEQUENT_TEST_NAME"    // prefix of the child's thoughts
	childSession = "SEQUENT_TEST_SESSION" // id of the session that it appends to
	childWriters = "SEQUENT_TEST_WRITERS" // number of goroutines
)

// tasks are the tasks of a child.
var tasks = map[string]func() error{
	"append":    appendTask,
	"hold":      holdTask,
	"operation": operationTask,
}

func TestMain(m *testing.M) {
	name := os.Getenv(childTask)
	if name == "" {
		os.Exit(m.Run())
	}
	task := tasks[name]
	if task == nil {
		task = systemTasks[name]
	}
	if err := task(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A child is a process started by a test.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  *bufio.Scanner // of its stdout
	errors *strings.Builder
}

// start starts a child that runs a task.
func start(t *testing.T, task string, env ...string) *child {
	t.Helper()
	c := command(t, task, env...)
	c.launch(t)
	return c
}

// command returns a child that has not been started.
func command(t *testing.T, task string, env ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.CommandContext(t.Context(), self), errors: new(strings.Builder)}
	c.cmd.Env = append(os.Environ(), append(env, childTask+"="+task)...)
	c.cmd.Stderr = c.errors
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(stdout)
	return c
}

func (c *child) launch(t *testing.T) {
	t.Helper()
	if err := c.cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", c.cmd.Path, err)
	}
}

// line returns the next line that the child prints.
func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("the child exited early: %v\n%s", c.lines.Err(), c.errors)
	}
	return c.lines.Text()
}

// wait closes the child's input and waits for it to exit.
func (c *child) wait(t *testing.T) {
	t.Helper()
	c.stdin.Close()
	for c.lines.Scan() {
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("child: %v\n%s", err, c.errors)
	}
}

// openChild opens the store of a child, with a log on stderr.
func openChild(ctx context.Context) (*Store, error) {
	return Open(ctx, Config{
		Path:   os.Getenv(childStore),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// adding returns a change that appends one thought.
func adding(text string) func(*sequent.Change) error {
	return func(c *sequent.Change) error {
		n := c.Session().Len() + 1
		_, err := c.Append(sequent.Draft{Number: n, Total: n, Text: text})
		return err
	}
}

// appendTask opens the store when its parent says so, appends thoughts until its input ends, and
// prints each acknowledged one.
func appendTask() error {
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	ctx := context.Background()
	s, err := openChild(ctx)
	if err != nil {
		return err
	}
	e := sequent.New(sequent.Config{Store: s})
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	writers, err := strconv.Atoi(os.Getenv(childWriters))
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	failed := make(chan error, writers)
	for w := range writers {
		wg.Go(func() {
			session := sequent.ID(os.Getenv(childSession))
			if session == "" {
				session = sequent.ID(fmt.Sprint("session-", w))
			}
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				text := fmt.Sprintf("%s.%d %d", os.Getenv(childName), w, n)
				start := time.Now()
				if _, err := e.Ensure(ctx, session, adding(text)); err != nil {
					failed <- fmt.Errorf("%s after %v: %w", text, time.Since(start), err)
					return
				}
				// One write per line, so that lines of several goroutines do not
				// mix and a kill leaves whole lines.
				os.Stdout.WriteString(text + "\n")
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		return err
	}
	return s.Close()
}

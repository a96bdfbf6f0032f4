//go:build unix

package workflow_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault/workflow"
)

// TestMain also runs the child process that is killed: it answers steps for ever and
// prints each one that is recorded.
func TestMain(m *testing.M) {
	dir := os.Getenv("SEQUENT_TEST_ANSWER_IN")
	if dir == "" {
		os.Exit(m.Run())
	}
	id := os.Getenv("SEQUENT_TEST_RUN")
	w := openIn(new(outside), dir, "killed")
	for {
		r, err := w.Advance(context.Background(), id, workflow.Answer{Response: "[[x]] " + strings.Repeat("long ", 2000)})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(r.Answered)
	}
}

// outside is a testing.TB for the child process.
type outside struct{ testing.TB }

func (*outside) Helper()        {}
func (*outside) Cleanup(func()) {}
func (*outside) Fatal(a ...any) { panic(fmt.Sprint(a...)) }

// After a kill at any moment, the note has as many steps as its front matter says, and at
// least those that were acknowledged.
func TestKilled(t *testing.T) {
	w, dir := open(t)
	for round := range 10 {
		var steps []string
		for range 200 {
			steps = append(steps, "step")
		}
		r := must(t)(w.Start(t.Context(), workflow.Plan{Steps: steps}))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SEQUENT_TEST_ANSWER_IN="+dir, "SEQUENT_TEST_RUN="+r.ID)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		told := make(chan int)
		go func() {
			n := 0
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
					t.Errorf("it says %s", lines.Text())
				}
				if n == 1 {
					told <- n
				}
			}
			told <- n
		}()
		<-told
		time.Sleep(time.Duration(round*3) * time.Millisecond) // any moment will do
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		acknowledged := <-told
		_ = cmd.Wait() // it was killed
		got := must(t)(w.View(t.Context(), r.ID))
		if n := strings.Count(got.Note, "## Step "); n != got.Answered || n < acknowledged || n > acknowledged+1 {
			t.Errorf("round %d: %d sections, stepCount %d, %d acknowledged", round, n, got.Answered, acknowledged)
		}
		must(t)(w.Advance(t.Context(), r.ID, workflow.Answer{Response: "[[goes on]]"}))
	}
}

// Package xstate tests the recipe for users of AI SDK and XState: a machine that
// owns the session and its phases. Only the model is scripted.
package xstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// A script holds the thoughts of each phase.
type script struct {
	Analyze  []string `json:"analyze_code"`
	Research []string `json:"research"`
	Design   []string `json:"design"`
}

// thoughts returns n numbered thoughts.
func thoughts(name string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%s %d", name, i+1))
	}
	return list
}

// A result is the output of run.mjs.
type result struct {
	Protocols []string
	Sessions  []string
	Steps     map[string]int
	Offered   []string
	States    []string
	Error     string
}

// each runs a test over both transports.
func each(t *testing.T, test func(t *testing.T, run func(s script) (result, error), session func(id string) archive.Export)) {
	t.Parallel()
	server, node := programtest.Build(t), ready(t)
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			store := filepath.Join(dir, "sequent.db")
			args := []string{"run.mjs", filepath.Join(dir, "plan.json"), transport}
			if transport == "http" {
				args = append(args, programtest.ServeHTTP(t, server, "--store", store, "--dialect", "history"))
			} else {
				args = append(args, server, "serve", "--store", store, "--dialect", "history")
			}
			run := func(s script) (got result, err error) {
				in, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(node, args...)
				cmd.Stdin = strings.NewReader(string(in))
				out, err := cmd.Output()
				if err != nil {
					if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
						t.Logf("%s", exit.Stderr)
					}
					return got, err
				}
				return got, json.Unmarshal(out, &got)
			}
			test(t, run, func(id string) (e archive.Export) {
				out := programtest.Output(t, exec.Command(server, "export", id, "--format", "json", "--store", store))
				if err := json.Unmarshal(out, &e); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				list := programtest.Output(t, exec.Command(server, "list", "--json", "--store", store))
				if n := strings.Count(string(list), `"id":`); n != 1 {
					t.Errorf("got %d sessions, want 1: %s", n, list)
				}
				return e
			})
		})
	}
}

func texts(e archive.Export) (list []string) {
	for _, th := range sequent.Thoughts(e.Log) {
		list = append(list, th.Text)
	}
	return list
}

const complete = `"plan_complete"`

var phases = []string{`{"planning":"analyze_code"}`, `{"planning":"research"}`, `{"planning":"design"}`}

// One session records the whole plan, and each phase observes its maximum of steps.
func TestPlan(t *testing.T) {
	each(t, func(t *testing.T, run func(script) (result, error), session func(string) archive.Export) {
		got, err := run(script{thoughts("analysis", 3), thoughts("finding", 40), thoughts("choice", 30)})
		if err != nil {
			t.Fatal(err)
		}
		if want := append(slices.Clone(phases), complete); !slices.Equal(got.States, want) {
			t.Errorf("got states %q, want %q", got.States, want)
		}
		if got.Steps["analyze_code"] != 1 || got.Steps["research"] != 15 || got.Steps["design"] != 20 {
			t.Errorf("got steps %v", got.Steps)
		}
		if len(got.Sessions) != 1 || !slices.Equal(got.Offered, []string{"sequentialthinking"}) ||
			!slices.Equal(got.Protocols, []string{"2026-07-28", "2026-07-28", "2026-07-28"}) {
			t.Errorf("got %+v", got)
		}
		e := session(got.Sessions[0])
		want := slices.Concat(thoughts("analysis", 1), thoughts("finding", 15), thoughts("choice", 20))
		if !slices.Equal(texts(e), want) {
			t.Errorf("session %s: got thoughts %q, want %q", e.Session.ID, texts(e), want)
		}
	})
}

// A failed phase is retried in the same session.
func TestRetry(t *testing.T) {
	each(t, func(t *testing.T, run func(script) (result, error), session func(string) archive.Export) {
		got, err := run(script{thoughts("analysis", 1), []string{"finding 1", "fail", "finding 3"}, thoughts("choice", 1)})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{phases[0], phases[1], `"failed"`, phases[1], phases[2], complete}
		if !slices.Equal(got.States, want) || !strings.Contains(got.Error, "the model failed") || len(got.Sessions) != 1 {
			t.Errorf("got %+v, want states %q", got, want)
		}
		e := session(got.Sessions[0])
		if want := []string{"analysis 1", "finding 1", "finding 1", "fail", "finding 3", "choice 1"}; !slices.Equal(texts(e), want) || e.Session.State != "completed" {
			t.Errorf("the session is %s with %q, want %q", e.Session.State, texts(e), want)
		}
	})
}

// After a kill during a phase, another process resumes from the saved state, in the
// same session.
func TestResumeAfterKill(t *testing.T) {
	each(t, func(t *testing.T, run func(script) (result, error), session func(string) archive.Export) {
		s := script{[]string{"analysis"}, []string{"finding 1", "die", "finding 3"}, thoughts("choice", 1)}
		if got, err := run(s); err == nil {
			t.Fatalf("first process: got %+v, want it killed", got)
		}
		got, err := run(s)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{phases[1], phases[2], complete}; !slices.Equal(got.States, want) || len(got.Sessions) != 1 {
			t.Errorf("second process: got %+v, want states %q", got, want)
		}
		e := session(got.Sessions[0])
		if want := []string{"analysis", "finding 1", "finding 1", "die", "finding 3", "choice 1"}; !slices.Equal(texts(e), want) {
			t.Errorf("got thoughts %q, want %q", texts(e), want)
		}
	})
}

// ready returns the path of Node.js if the npm packages are installed.
func ready(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("node_modules/xstate"); err != nil {
		needtest.Missing(t, "the npm packages of e2e/xstate are not installed", "run make npm")
	}
	return programtest.Node(t, "../node_modules")
}

package workflow_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
	"github.com/sequent-dev/sequent/vault/workflow"
)

var start = time.Date(2025, 8, 31, 3, 28, 20, 0, time.UTC)

// open opens the workflows of a vault in a temporary folder. Their clock stands still.
func open(t testing.TB) (*workflow.Workflows, string) {
	t.Helper()
	dir := t.TempDir()
	return openIn(t, dir), dir
}

func openIn(t testing.TB, dir string) *workflow.Workflows {
	t.Helper()
	v, err := vault.Open(vault.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return workflow.New(v, func() time.Time { return start })
}

func write(t testing.TB, dir, file, text string) {
	t.Helper()
	file = filepath.Join(dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func must(t testing.TB) func(r workflow.Run, err error) workflow.Run {
	return func(r workflow.Run, err error) workflow.Run {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

const twoSteps = `{
  "id": "release", "name": "Release", "emoji": "🚀", "description": "Ship it.", "triggers": ["ship"],
  "enhancedThinkingEnabled": true,
  "steps": [
    {"id": "notes", "name": "Write the notes", "description": "What changed?", "requiresEnhancedThinking": false},
    {"id": "tag", "name": "Tag it", "description": "With a signature.", "requiresEnhancedThinking": true, "metadata": {"toolHints": {"git": 1}}}
  ]
}`

// A session is linked once, whether the run is open or closed, and the names of agents stay in
// their headings.
func TestLink(t *testing.T) {
	w, dir := open(t)
	ctx := t.Context()
	r := must(t)(w.Start(ctx, workflow.Plan{Queue: []string{"debugging"}}))
	must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[v1]] is\r\nout.", Agent: "[a]\n[b]", Status: sequent.Cancelled}))
	for _, session := range []string{"session-1-a", "session-1-a", "session-2"} {
		if err := w.Link(ctx, r.ID, session); err != nil {
			t.Fatal(err)
		}
	}
	r = must(t)(w.View(ctx, r.ID))
	if r.Status != sequent.Cancelled || !slices.Equal(r.Sessions, []string{"session-1-a", "session-2"}) {
		t.Errorf("viewed: %+v", r)
	}
	if note := read(t, dir, "thinking/workflow/"+r.ID+".md"); !strings.Contains(note, " [a] [b]\n\n[[v1]] is\nout.\n\n*2025") {
		t.Errorf("got\n%s", note)
	}
}

func TestQueue(t *testing.T) {
	w, dir := open(t)
	write(t, dir, "workflows/release.json", twoSteps)
	ctx := t.Context()
	ids, err := workflow.ParseQueue(` ["release", "decision"] `)
	if err != nil {
		t.Fatal(err)
	}
	r := must(t)(w.Start(ctx, workflow.Plan{Queue: ids}))
	for range 3 {
		r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[x]]"}))
	}
	if s := r.Next; r.Answered != 3 || s.Name != r.Plans[1].Steps[1].Name || r.Steps != 2+6 {
		t.Errorf("got %+v", r)
	}
	note := read(t, dir, "thinking/workflow/"+r.ID+".md")
	for _, want := range []string{"\n## Then ⚖️ Decision\n", "\n## Release, step 2/2: Tag it []\n", "\n## Decision, step 1/6: Say what", "\ncurrentWorkflow: 1\ncurrentStep: 1\nstepCount: 3\n"} {
		if !strings.Contains(note, want) {
			t.Errorf("%q is not in\n%s", want, note)
		}
	}
}

// Maenifold writes the number of answered steps only when all are answered.
func TestForeignRunGoesOn(t *testing.T) {
	w, dir := open(t)
	write(t, dir, "workflows/release.json", twoSteps)
	write(t, dir, "thinking/workflow/workflow-7.md",
		"---\ntype: workflow\nstatus: active\nqueue:\n- release\n- release\ncurrentWorkflow: 1\ncurrentStep: 1\n---\n\n# Workflow Session\n")
	if r := must(t)(w.View(t.Context(), "workflow-7")); r.Answered != 3 {
		t.Errorf("%d steps are answered, want 3", r.Answered)
	}
	r := must(t)(w.Advance(t.Context(), "workflow-7", workflow.Answer{Response: "[[done]]", At: 4}))
	if r.Answered != 4 {
		t.Errorf("%d steps are answered afterwards, want 4", r.Answered)
	}
}

func TestStepsOfItsOwn(t *testing.T) {
	w, _ := open(t)
	long := strings.Repeat("long ", 100)
	r := must(t)(w.Start(t.Context(), workflow.Plan{Steps: []string{"Drain it\nGently.", " ", long}}))
	if steps := r.Plans[0].Steps; len(steps) != 2 || steps[0].Name != "Drain it" || steps[0].Description != "Gently." ||
		len(steps[1].Name) > 203 || steps[1].Description != strings.TrimSpace(long) {
		t.Errorf("got %+v", steps)
	}
}

// What a person has damaged is named, and stays as it is. A run without its definition can
// still be viewed and closed.
func TestDamaged(t *testing.T) {
	w, dir := open(t)
	ctx := t.Context()
	for i, c := range []struct {
		front string
		code  sequent.Code
		words string
	}{
		{"status: active\nqueue: [debugging]\ncurrentStep: soon", workflow.CodeDamaged, `currentStep is "soon"`},
		{"status: active\nqueue: [gone]", workflow.CodeUnknownDefinition, "was deleted"},
		{"status: active", workflow.CodeDamaged, "neither"},
		{"status: [", vault.CodeFrontMatter, "damaged"},
		{"status: active\nqueue: [debugging]\ncurrentWorkflow: 3", workflow.CodeDamaged, "currentWorkflow is 3"},
	} {
		id := fmt.Sprintf("workflow-%d", i)
		note := "---\n" + c.front + "\n---\n"
		write(t, dir, "thinking/workflow/"+id+".md", note)
		_, err := w.Advance(ctx, id, workflow.Answer{Response: "[[x]]"})
		if sequent.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.words) || read(t, dir, "thinking/workflow/"+id+".md") != note {
			t.Errorf("%q: got %v (%s), want %s with %q", c.front, err, sequent.CodeOf(err), c.code, c.words)
		}
	}
	if r := must(t)(w.View(ctx, "workflow-1")); len(r.Plans) != 1 || r.Steps != 0 {
		t.Errorf("got %+v", r)
	}
	must(t)(w.Advance(ctx, "workflow-1", workflow.Answer{Status: sequent.Cancelled}))
}

func TestStatus(t *testing.T) {
	w, dir := open(t)
	write(t, dir, "thinking/workflow/workflow-1.md", "no front matter")
	write(t, dir, "thinking/workflow/workflow-2.md", "---\nstatus: Completed\n---\n")
	write(t, dir, "thinking/workflow/workflow-3.md", "---\nstatus: abandoned\n---\n")
	write(t, dir, "thinking/workflow/2025/08/31/workflow-1756610500000.md", "---\nstatus: cancelled\n---\n")
	write(t, dir, "thinking/workflow/session-1756610500000-12345.md", "---\nstatus: active\n---\n")
	write(t, dir, "thinking/sequential/2025/08/31/session-1756610500001.md", "---\nstatus: completed\n---\n")
	write(t, dir, "elsewhere.md", "---\nstatus: active\n---\n")
	for id, want := range map[string]sequent.State{
		"workflow-1": sequent.Active, "workflow-2": sequent.Completed, "workflow-3": sequent.Abandoned, "workflow-4": "",
		"workflow-1756610500000": sequent.Cancelled, "session-1756610500000-12345": sequent.Active,
		"session-1756610500001": sequent.Completed, "session-1": "",
		"": "", "../../elsewhere": "", "workflow-../../elsewhere": "", "workflow-1.md": "",
		"workflow-99999999999999999999": "", "workflow-1\x00": "", "WORKFLOW-1": "",
	} {
		if got, err := w.Status(t.Context(), id); got != want || (want == "") != (sequent.CodeOf(err) == workflow.CodeNotFound) {
			t.Errorf("%q: got %q, %v, want %q", id, got, err, want)
		}
	}
	if err := w.Link(t.Context(), "workflow-4", "session-1"); sequent.CodeOf(err) != workflow.CodeNotFound {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Status(ctx, "workflow-2"); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("got %v", err)
	}
}

// An open code fence in an answer does not affect the next answer.
func TestAnswersStayInTheirSections(t *testing.T) {
	w, _ := open(t)
	r := must(t)(w.Start(t.Context(), workflow.Plan{Queue: []string{"design"}}))
	for _, text := range []string{"[[a]]\n```\nopen", "[[b]] <!-- open", "[[c]]\n\n## Conclusion", "[[d]]"} {
		r = must(t)(w.Advance(t.Context(), r.ID, workflow.Answer{Response: text, Thoughts: "[[e]]\n~~~"}))
	}
	if got := wikilink.Concepts(wikilink.Parse([]byte(r.Note))); !slices.Equal(got, []string{"a", "e", "b", "c", "d"}) {
		t.Errorf("the note links to %q:\n%s", got, r.Note)
	}
}

// A person's edits of the note stay, byte for byte.
func TestEditsSurvive(t *testing.T) {
	w, dir := open(t)
	ctx := t.Context()
	r := must(t)(w.Start(ctx, workflow.Plan{Queue: []string{"debugging"}}))
	r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[a]]"}))
	file := "thinking/workflow/" + r.ID + ".md"
	edited := strings.Replace(read(t, dir, file), "type: workflow\n", "type: workflow\n# mine\ntags: [a, 'b']\n", 1)
	edited = strings.Replace(edited, "[[a]]", "[[a]], see [[b]]", 1) + "\n\nA remark at the end, with trailing space.  \n\n\n"
	write(t, dir, file, edited)
	must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[c]]"}))
	got := read(t, dir, file)
	_, body, _ := strings.Cut(edited, "\n---\n")
	if !strings.Contains(got, "\n---\n"+body+"## Step 2/") {
		t.Errorf("the body is now\n%q\nwant it to begin with\n%q", got, body)
	}
	if !strings.Contains(got, "# mine\ntags: [a, 'b']\n") {
		t.Errorf("got\n%q", got)
	}
	// After setting the step back, it is the next one again.
	write(t, dir, file, regexp.MustCompile(`currentStep: \d`).ReplaceAllString(got, "currentStep: 0"))
	if s := must(t)(w.View(ctx, r.ID)).Next; s.Name != r.Plans[0].Steps[0].Name {
		t.Errorf("the step is %+v", s)
	}
}

// Concurrent starts and answers through two vaults: each run gets its own id, and of
// several answers to one step, one is recorded.
func TestTogether(t *testing.T) {
	_, dir := open(t)
	all := []*workflow.Workflows{openIn(t, dir), openIn(t, dir)}
	var ids sync.Map
	var answers atomic.Int32
	first := must(t)(all[0].Start(t.Context(), workflow.Plan{Queue: []string{"design"}}))
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			r, err := all[i%2].Start(t.Context(), workflow.Plan{Queue: []string{"design"}})
			if _, twice := ids.LoadOrStore(r.ID, true); err != nil || twice {
				t.Errorf("%s, %v", r.ID, err)
			}
			_, err = all[i%2].Advance(t.Context(), first.ID, workflow.Answer{Response: "[[x]]", At: 1})
			if err == nil {
				answers.Add(1)
			} else if sequent.CodeOf(err) != workflow.CodeStepPassed {
				t.Error(err)
			}
		})
	}
	if wg.Wait(); answers.Load() != 1 {
		t.Errorf("%d answers to the first step are recorded", answers.Load())
	}
}

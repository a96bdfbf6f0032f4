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

func TestRun(t *testing.T) {
	w, dir := open(t)
	write(t, dir, "workflows/release.json", twoSteps)
	ctx := t.Context()
	r := must(t)(w.Start(ctx, workflow.Plan{Queue: []string{"release"}}))
	if r.ID != "workflow-1756610900000" || r.Status != sequent.Active || r.URI != "memory://thinking/workflow/workflow-1756610900000.md" {
		t.Fatalf("got %+v", r)
	}
	r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "The [[changelog]] is\r\nwritten.", Thoughts: "It was [[dull]].", Agent: "agent"}))
	if s := r.Next; s == nil || s.Name != "Tag it" || !s.Enhanced || string(s.Metadata) != `{"toolHints": {"git": 1}}` {
		t.Errorf("the second step is %+v", s)
	}
	for range 2 {
		if err := w.Link(ctx, r.ID, "session-1756610950000-12345"); err != nil {
			t.Fatal(err)
		}
	}
	r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[v1]] it is.", Agent: "[a]\n[b]"}))
	if r.Next != nil || r.Answered != 2 || r.Status != sequent.Active {
		t.Errorf("after the last step: %+v", r)
	}
	r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Status: sequent.Completed, Conclusion: "[[v1]] is out."}))
	want := `---
title: Release
permalink: workflow-1756610900000
type: workflow
status: completed
created: 2025-08-31T03:28:20.000Z
modified: 2025-08-31T03:28:20.000Z
queue:
  - release
currentWorkflow: 0
currentStep: 2
stepCount: 2
related:
  - "[[sequential/session-1756610950000-12345]]"
completed: 2025-08-31T03:28:20.000Z
---
# 🚀 Release

Ship it.

1. Write the notes
2. Tag it

## Step 1/2: Write the notes [agent]

The [[changelog]] is
written.

*Thoughts: It was [[dull]].*

*2025-08-31 03:28:20 UTC*

## Step 2/2: Tag it [a] [b]

[[v1]] it is.

*2025-08-31 03:28:20 UTC*

## Conclusion

[[v1]] is out.

*2025-08-31 03:28:20 UTC*
`
	if got := read(t, dir, "thinking/workflow/workflow-1756610900000.md"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	again := must(t)(w.View(ctx, r.ID))
	if again.Status != sequent.Completed || again.Note != r.Note || !slices.Equal(again.Sessions, []string{"session-1756610950000-12345"}) {
		t.Errorf("viewed: %+v", again)
	}
	if err := w.Link(ctx, r.ID, "session-2"); err != nil {
		t.Errorf("a session that was begun before the run was closed: %v", err)
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
	// The last answer and the end are recorded together, or not at all.
	for r.Answered < 7 {
		r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[x]]"}))
	}
	before := read(t, dir, "thinking/workflow/"+r.ID+".md")
	last := workflow.Answer{Response: "[[y]]", Status: sequent.Completed, Conclusion: "none"}
	if _, err := w.Advance(ctx, r.ID, last); sequent.CodeOf(err) != workflow.CodeConclusionLink {
		t.Errorf("got %v", err)
	}
	if read(t, dir, "thinking/workflow/"+r.ID+".md") != before {
		t.Error("a refused call has changed something")
	}
	last.Conclusion = "[[z]]"
	r = must(t)(w.Advance(ctx, r.ID, last))
	if r.Answered != 8 || r.Status != sequent.Completed {
		t.Errorf("got %+v", r)
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
	w, dir := open(t)
	ctx := t.Context()
	r := must(t)(w.Start(ctx, workflow.Plan{Title: "Move: the [[cache]]", Steps: []string{"Drain it\nGently.", "Move it", strings.Repeat("long ", 100)}}))
	for i, want := range []string{"Drain it", "Move it", "long"} {
		s := r.Next
		if s == nil || !strings.HasPrefix(s.Name, want) || i == 0 && s.Description != "Gently." {
			t.Errorf("step %d is %+v", i+1, s)
		}
		r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[done]]"}))
	}
	r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Status: sequent.Cancelled}))
	if r.Status != sequent.Cancelled || r.Title != "Move: the [[cache]]" {
		t.Errorf("got %+v", r)
	}
	if note := read(t, dir, "thinking/workflow/"+r.ID+".md"); !strings.Contains(note, "\nqueue: []\n") || !strings.Contains(note, "\ncancelled: ") {
		t.Errorf("got\n%s", note)
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

// Concurrent starts and answers through two vaults: each run gets its own id, and each
// step one answer.
func TestTogether(t *testing.T) {
	_, dir := open(t)
	ctx := t.Context()
	all := []*workflow.Workflows{openIn(t, dir), openIn(t, dir)}
	var mu sync.Mutex
	ids := make(map[string]bool)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			r, err := all[i%2].Start(ctx, workflow.Plan{Queue: []string{"design"}})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || ids[r.ID] {
				t.Errorf("%s, %v", r.ID, err)
			}
			ids[r.ID] = true
		})
	}
	wg.Wait()

	// Of several answers to one step, one is recorded.
	r := must(t)(all[0].Start(ctx, workflow.Plan{Queue: []string{"design"}}))
	taken, refused := 0, 0
	for i := range 10 {
		wg.Go(func() {
			_, err := all[i%2].Advance(ctx, r.ID, workflow.Answer{Response: "[[x]]", At: 1})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				taken++
			} else if sequent.CodeOf(err) == workflow.CodeStepPassed {
				refused++
			}
		})
	}
	wg.Wait()
	if taken != 1 || refused != 9 {
		t.Errorf("%d taken, %d refused", taken, refused)
	}
}

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
	return openIn(t, dir, ""), dir
}

func openIn(t testing.TB, dir, agent string) *workflow.Workflows {
	t.Helper()
	v, err := vault.Open(vault.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return workflow.New(workflow.Config{Vault: v, Agent: agent, Now: func() time.Time { return start }})
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

// tree returns all files below a folder with their contents, except locks.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(p, ".sequent") {
			return err
		}
		data, err := os.ReadFile(p)
		fmt.Fprintf(&b, "%s\n%s\n", p, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
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

// covers: 001/tool-workflow
func TestRun(t *testing.T) {
	w, dir := open(t)
	write(t, dir, "workflows/release.json", twoSteps)
	ctx := t.Context()
	r := must(t)(w.Start(ctx, workflow.Plan{Queue: []string{"release"}}))
	if r.ID != "workflow-1756610900000" || r.Status != workflow.Active || r.URI != "memory://thinking/workflow/workflow-1756610900000.md" {
		t.Fatalf("got %+v", r)
	}
	if s, ok := r.Next(); !ok || s.ID != "notes" || s.Enhanced {
		t.Errorf("the first step is %+v", s)
	}
	r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "The [[changelog]] is\r\nwritten.", Thoughts: "It was [[dull]]."}))
	if s, ok := r.Next(); !ok || s.ID != "tag" || !s.Enhanced || string(s.Metadata) != `{"toolHints": {"git": 1}}` {
		t.Errorf("the second step is %+v", s)
	}
	if err := w.Link(ctx, r.ID, "session-1756610950000-12345"); err != nil {
		t.Fatal(err)
	}
	if err := w.Link(ctx, r.ID, "session-1756610950000-12345"); err != nil {
		t.Fatal(err)
	}
	r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[v1]] it is."}))
	if _, ok := r.Next(); ok || r.Answered != 2 || r.Status != workflow.Active {
		t.Errorf("after the last step: %+v", r)
	}
	if _, err := w.Advance(ctx, r.ID, workflow.Answer{Response: "[[more]]"}); sequent.CodeOf(err) != workflow.CodeAnswered {
		t.Errorf("one more: %v", err)
	}
	r = must(t)(w.Close(ctx, r.ID, workflow.Closing{Status: workflow.Completed, Conclusion: "[[v1]] is out."}))
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

## Step 2/2: Tag it [agent]

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
	if again.Status != workflow.Completed || again.Note != r.Note || !slices.Equal(again.Sessions, []string{"session-1756610950000-12345"}) {
		t.Errorf("viewed: %+v", again)
	}
	for what, err := range map[string]error{
		"advance": second(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[x]]"})),
		"close":   second(w.Close(ctx, r.ID, workflow.Closing{Status: workflow.Cancelled})),
	} {
		if sequent.CodeOf(err) != workflow.CodeClosed || !strings.Contains(err.Error(), "is completed") {
			t.Errorf("%s a closed run: %v", what, err)
		}
	}
	if err := w.Link(ctx, r.ID, "session-2"); err != nil {
		t.Errorf("a session that was begun before the run was closed: %v", err)
	}
}

func second(_ workflow.Run, err error) error { return err }

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
	if r.Workflow != 1 || r.Step != 1 || r.Answered != 3 || r.Plan().ID != "decision" || r.Steps() != 2+6 {
		t.Errorf("got %+v", r)
	}
	note := read(t, dir, "thinking/workflow/"+r.ID+".md")
	for _, want := range []string{"\nThen ⚖️ Decision:\n", "\n## Release, step 2/2: Tag it [agent]\n", "\n## Decision, step 1/6: Say what"} {
		if !strings.Contains(note, want) {
			t.Errorf("%q is not in\n%s", want, note)
		}
	}
	// The last answer and the end are recorded together, or not at all.
	for r.Answered < 7 {
		r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[x]]"}))
	}
	before := tree(t, dir)
	if _, err := w.Close(ctx, r.ID, workflow.Closing{Status: workflow.Completed, Conclusion: "none", Answer: &workflow.Answer{Response: "[[y]]"}}); sequent.CodeOf(err) != workflow.CodeConclusionLink {
		t.Errorf("got %v", err)
	}
	if tree(t, dir) != before {
		t.Error("a refused call has changed something")
	}
	r = must(t)(w.Close(ctx, r.ID, workflow.Closing{Status: workflow.Completed, Conclusion: "[[z]]", Answer: &workflow.Answer{Response: "[[y]]"}}))
	if r.Answered != 8 || r.Status != workflow.Completed {
		t.Errorf("got %+v", r)
	}
}

// Maenifold writes the number of answered steps only when all are answered.
//
// covers: 001/example-parent-session
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
		s, ok := r.Next()
		if !ok || !strings.HasPrefix(s.Name, want) || i == 0 && s.Description != "Gently." {
			t.Errorf("step %d is %+v", i+1, s)
		}
		r = must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[done]]"}))
	}
	r = must(t)(w.Close(ctx, r.ID, workflow.Closing{Status: workflow.Cancelled}))
	if r.Status != workflow.Cancelled || r.Title != "Move: the [[cache]]" {
		t.Errorf("got %+v", r)
	}
	if note := read(t, dir, "thinking/workflow/"+r.ID+".md"); !strings.Contains(note, "\nqueue: []\n") || !strings.Contains(note, "\ncancelled: ") {
		t.Errorf("got\n%s", note)
	}
}

func TestRefusals(t *testing.T) {
	w, dir := open(t)
	write(t, dir, "workflows/bad.json", `{"id": "bad", "steps": []}`)
	write(t, dir, "thinking/workflow/workflow-1.md", "---\nstatus: active\nqueue: [debugging]\ncurrentStep: soon\n---\n")
	write(t, dir, "thinking/workflow/workflow-2.md", "---\nstatus: active\nqueue: [gone]\n---\n")
	write(t, dir, "thinking/workflow/workflow-3.md", "---\nstatus: active\n---\n")
	write(t, dir, "thinking/workflow/workflow-4.md", "---\nstatus: [\n---\n")
	write(t, dir, "thinking/workflow/workflow-5.md", "---\nstatus: active\nqueue: [debugging]\ncurrentWorkflow: 3\n---\n")
	write(t, dir, "thinking/workflow/workflow-6.md", "---\nstatus: active\nqueue: [debugging]\n---\n")
	ctx := t.Context()
	before := tree(t, dir)
	begin := func(p workflow.Plan) func() error { return func() error { return second(w.Start(ctx, p)) } }
	advance := func(id string, a workflow.Answer) func() error {
		return func() error { return second(w.Advance(ctx, id, a)) }
	}
	end := func(c workflow.Closing) func() error {
		return func() error { return second(w.Close(ctx, "workflow-6", c)) }
	}
	linked := workflow.Answer{Response: "[[x]]"}
	for name, c := range map[string]struct {
		do    func() error
		code  sequent.Code
		words string
	}{
		"nothing":              {begin(workflow.Plan{}), workflow.CodeInvalid, "neither a definition nor steps"},
		"both":                 {begin(workflow.Plan{Queue: []string{"design"}, Steps: []string{"a"}}), workflow.CodeInvalid, "both"},
		"unknown":              {begin(workflow.Plan{Queue: []string{"design", "nonsense"}}), workflow.CodeUnknownDefinition, "debugging, decision, design"},
		"hostile":              {begin(workflow.Plan{Queue: []string{"../../etc/passwd"}}), workflow.CodeUnknownDefinition, "no workflow"},
		"empty id":             {begin(workflow.Plan{Queue: []string{""}}), workflow.CodeUnknownDefinition, "no workflow"},
		"bad file":             {begin(workflow.Plan{Queue: []string{"bad"}}), workflow.CodeBadDefinition, "workflows/bad.json: name: it is missing"},
		"empty step":           {begin(workflow.Plan{Steps: []string{"a", " "}}), workflow.CodeInvalid, "step 2 is empty"},
		"many steps":           {begin(workflow.Plan{Steps: slices.Repeat([]string{"a"}, 201)}), workflow.CodeInvalid, "201"},
		"many definitions":     {begin(workflow.Plan{Queue: slices.Repeat([]string{"design"}, 21)}), workflow.CodeInvalid, "21"},
		"title":                {begin(workflow.Plan{Steps: []string{"a"}, Title: "a\nb"}), workflow.CodeInvalid, "one line"},
		"no run":               {advance("workflow-7", linked), workflow.CodeNotFound, "workflow-7"},
		"no id":                {advance("../workflow-6", linked), workflow.CodeNotFound, "there is no workflow"},
		"no link":              {advance("workflow-6", workflow.Answer{Response: "plain"}), workflow.CodeLinkRequired, "response has no"},
		"link in code":         {advance("workflow-6", workflow.Answer{Response: "`[[x]]`"}), workflow.CodeLinkRequired, "response"},
		"no link in thoughts":  {advance("workflow-6", workflow.Answer{Response: "[[x]]", Thoughts: "y"}), workflow.CodeLinkRequired, "thoughts has no"},
		"passed":               {advance("workflow-6", workflow.Answer{Response: "[[x]]", At: 2}), workflow.CodeStepPassed, "the next one is step 1"},
		"damaged number":       {advance("workflow-1", linked), workflow.CodeDamaged, `currentStep is "soon"`},
		"gone":                 {advance("workflow-2", linked), workflow.CodeUnknownDefinition, "was deleted"},
		"no queue":             {advance("workflow-3", linked), workflow.CodeDamaged, "neither"},
		"damaged front matter": {advance("workflow-4", linked), vault.CodeFrontMatter, "damaged"},
		"beyond the queue":     {advance("workflow-5", linked), workflow.CodeDamaged, "currentWorkflow is 3"},
		"status":               {end(workflow.Closing{Status: "done"}), workflow.CodeInvalid, "completed or cancelled"},
		"no conclusion":        {end(workflow.Closing{Status: workflow.Completed, Conclusion: " "}), workflow.CodeConclusionRequired, "conclusion"},
		"conclusion's link":    {end(workflow.Closing{Status: workflow.Completed, Conclusion: "x"}), workflow.CodeConclusionLink, "double brackets"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.do()
			if sequent.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v (%s), want %s with %q", err, sequent.CodeOf(err), c.code, c.words)
			}
		})
	}
	if after := tree(t, dir); after != before {
		t.Errorf("something has changed:\n%s", after)
	}
	// A run without its definition can still be viewed and closed.
	if r := must(t)(w.View(ctx, "workflow-2")); len(r.Plans) != 1 || r.Plan().ID != "" {
		t.Errorf("got %+v", r)
	}
	must(t)(w.Close(ctx, "workflow-2", workflow.Closing{Status: workflow.Cancelled}))
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
	for id, want := range map[string]workflow.Status{
		"workflow-1": workflow.Active, "workflow-2": workflow.Completed, "workflow-3": workflow.Abandoned, "workflow-4": workflow.Absent,
		"workflow-1756610500000": workflow.Cancelled, "session-1756610500000-12345": workflow.Active,
		"session-1756610500001": workflow.Completed, "session-1": workflow.Absent,
		"": workflow.Absent, "../../elsewhere": workflow.Absent, "workflow-../../elsewhere": workflow.Absent, "workflow-1.md": workflow.Absent,
		"workflow-99999999999999999999": workflow.Absent, "workflow-1\x00": workflow.Absent, "WORKFLOW-1": workflow.Absent,
	} {
		if got, err := w.Status(t.Context(), id); got != want || err != nil {
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
	edited = strings.ReplaceAll(edited, "\n", "\r\n")
	write(t, dir, file, edited)
	must(t)(w.Advance(ctx, r.ID, workflow.Answer{Response: "[[c]]"}))
	got := read(t, dir, file)
	_, body, _ := strings.Cut(edited, "\r\n---\r\n")
	if !strings.Contains(got, "\r\n---\r\n"+body+"## Step 2/") {
		t.Errorf("the body is now\n%q\nwant it to begin with\n%q", got, body)
	}
	if !strings.Contains(got, "# mine\r\ntags: [a, 'b']\r\n") || strings.Contains(strings.ReplaceAll(got, "\r\n", ""), "\n") {
		t.Errorf("got\n%q", got)
	}
	// After setting the step back, it is the next one again.
	write(t, dir, file, regexp.MustCompile(`currentStep: \d`).ReplaceAllString(got, "currentStep: 0"))
	if s, _ := must(t)(w.View(ctx, r.ID)).Next(); s.ID != "symptom" {
		t.Errorf("the step is %+v", s)
	}
}

// Concurrent starts and answers through two vaults: each run gets its own id, and no
// answer is lost.
func TestTogether(t *testing.T) {
	_, dir := open(t)
	ctx := t.Context()
	all := []*workflow.Workflows{openIn(t, dir, "ann"), openIn(t, dir, "bob")}
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

	r := must(t)(all[0].Start(ctx, workflow.Plan{Steps: slices.Repeat([]string{"step"}, 20)}))
	for i := range 20 {
		wg.Go(func() {
			if _, err := all[i%2].Advance(ctx, r.ID, workflow.Answer{Response: fmt.Sprintf("[[answer-%d]]", i)}); err != nil {
				t.Error(err)
			}
			if err := all[i%2].Link(ctx, r.ID, fmt.Sprintf("session-%d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r = must(t)(all[1].View(ctx, r.ID))
	if r.Answered != 20 || len(r.Sessions) != 20 || len(wikilink.Concepts(wikilink.Parse([]byte(r.Note)))) != 20 {
		t.Errorf("got %+v", r)
	}
	for n := 1; n <= 20; n++ {
		if strings.Count(r.Note, fmt.Sprintf("## Step %d/20: step", n)) != 1 {
			t.Errorf("step %d is not there once in\n%s", n, r.Note)
		}
	}

	// Of several answers to one step, one is recorded.
	r = must(t)(all[0].Start(ctx, workflow.Plan{Queue: []string{"design"}}))
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

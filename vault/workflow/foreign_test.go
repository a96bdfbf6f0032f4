package workflow_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// Maenifold's own definitions are read, and their steps can be answered to the end. They
// are not part of this repository, so the test runs only if SEQUENT_MAENIFOLD names a
// folder with them:
//
//	make oracles MAENIFOLD=FOLDER
func TestParityOfWorkflows(t *testing.T) {
	folder := os.Getenv("SEQUENT_MAENIFOLD")
	if folder == "" {
		t.Skip("SEQUENT_MAENIFOLD does not name a folder with Maenifold's workflows")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no definitions (%v)", folder, err)
	}
	w, dir := open(t)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "workflows/"+filepath.Base(file), string(data))
	}
	all, mistakes := w.Definitions(t.Context())
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	const shipped = 6
	if want := len(files) + shipped; len(all) != want {
		t.Errorf("%d definitions, want %d", len(all), want)
	}
	steps := 0
	for _, d := range all {
		r := must(t)(w.Start(t.Context(), workflow.Plan{Queue: []string{d.ID}}))
		for r.Next != nil {
			if r.Next.Name == "" {
				t.Errorf("%s: step %d has no name", d.ID, r.Answered+1)
			}
			r = must(t)(w.Advance(t.Context(), r.ID, workflow.Answer{Response: "Done with [[" + d.ID + "]]."}))
			steps++
		}
		if r.Answered != len(d.Steps) {
			t.Errorf("%s: %d steps answered, want %d", d.ID, r.Answered, len(d.Steps))
		}
		must(t)(w.Advance(t.Context(), r.ID, workflow.Answer{Status: sequent.Completed, Conclusion: "[[" + d.ID + "]] is done."}))
	}
	t.Logf("%d workflows, %d steps", len(all), steps)
}

package index_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault/index"
)

// Several processes update one index at once, and some are killed. The index is
// complete in the end. Searches run meanwhile, and see each change whole.
func TestProcesses(t *testing.T) {
	if dir := os.Getenv("SEQUENT_TEST_SYNC"); dir != "" {
		b := &box{t: t, dir: dir}
		b.open(index.Config{})
		b.sync()
		return
	}
	t.Parallel()
	const notes = 700
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("d%d/n%d.md", i%10, i)] = fmt.Sprintf("words of number%d in [[concept %d]] and [[concept %d]]", i, i%70, i%3)
	}
	b := newBox(t, index.Config{}, files)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := exec.CommandContext(ctx, exe, "-test.run=^TestProcesses$")
		cmd.Env = append(os.Environ(), "SEQUENT_TEST_SYNC="+b.dir)
		all.Go(func() {
			out, err := cmd.CombinedOutput()
			if err != nil && i%2 == 0 {
				t.Errorf("%v\n%s", err, out)
			}
		})
		if i%2 == 1 {
			time.AfterFunc(time.Duration(100*i)*time.Millisecond, cancel) // kills it
		}
	}
	for i := range 20 {
		all.Go(func() {
			r, err := b.Search(t.Context(), index.Query{Text: "xyzzy [[Moving]]"}, nil)
			if err != nil || r.Total > 1 {
				t.Errorf("%+v, %v", r, err)
			}
			if _, err := b.Context(t.Context(), index.ContextQuery{Concept: "moving", Depth: 2, IncludeContent: true}); err != nil {
				t.Error(err)
			}
		})
		b.write("moving.md", fmt.Sprintf("xyzzy %d [[moving]] [[part %d]]", i, i%5))
		if i%7 == 6 {
			b.remove("moving.md")
		}
	}
	all.Wait()
	b.remove("moving.md")
	r := b.sync()
	if r.Notes != notes || r.Changed != 0 || r.Concepts != 70 {
		t.Errorf("%+v", r)
	}
	for _, i := range []int{0, 17, 699} {
		if got, want := b.text(fmt.Sprintf("number%d", i)), fmt.Sprintf("d%d/n%d", i%10, i); got != want {
			t.Errorf("number%d: found %q", i, got)
		}
	}
	if got := b.search(index.Query{Text: "words", Mode: index.FullText}).Total; got != notes {
		t.Errorf("%d notes have the word, want %d", got, notes)
	}
}

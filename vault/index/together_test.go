package index_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent/vault/index"
)

// Several processes, which have indexes of their own on one file, bring it up to date at once.
// It is complete in the end. Searches run meanwhile, and see each change whole.
func TestTogether(t *testing.T) {
	t.Parallel()
	const notes = 400
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("d%d/n%d.md", i%10, i)] = fmt.Sprintf("words of number%d in [[concept %d]] and [[concept %d]]", i, i%70, i%3)
	}
	b := newBox(t, index.Config{}, files)
	var all sync.WaitGroup
	for range 3 {
		other := &box{t: t, dir: b.dir}
		other.open(index.Config{})
		all.Go(func() {
			if _, err := other.Sync(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
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
	}
	all.Wait()
	b.remove("moving.md")
	if r := b.sync(); r.Notes != notes || r.Changed != 0 || r.Concepts != 70 {
		t.Errorf("%+v", r)
	}
	if got := b.search(index.Query{Text: "words", Mode: index.FullText}).Total; got != notes {
		t.Errorf("%d notes have the word, want %d", got, notes)
	}
}

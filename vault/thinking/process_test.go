package thinking_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlite"
	"github.com/sequent-dev/sequent/vault/thinking"
)

func openEngine(t *testing.T, dir string) *sequent.Engine {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "sequent.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return sequent.New(sequent.Config{Store: store})
}

// Several writers, each with store and vault opened anew as another process has them, write
// to a shared note and to their own. Half of them die between store and note now and then. Each
// thought is in its note once and in order, at the latest after a sync.
func TestWritersTogether(t *testing.T) {
	d := newDesk(t)
	d.engine = openEngine(t, d.dir)
	var all sync.WaitGroup
	for i := range 4 {
		writer := *d
		writer.files, writer.engine = openFiles(t, d.dir), openEngine(t, d.dir)
		for _, id := range []sequent.ID{"session-1-shared", sequent.ID(fmt.Sprint("session-1-p", i))} {
			all.Go(func() {
				for n := range 15 {
					s := writer.commit(id, thought(sequent.Draft{Text: fmt.Sprintf("%d says %d on %s", i, n, id)}))
					if i%2 == 1 && n%5 > 2 {
						continue
					}
					if _, err := writer.files.Write(t.Context(), s); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	d.sync(false)
	d.wantSame()
	for i, id := range []sequent.ID{"session-1-shared", "session-1-p0", "session-1-p1", "session-1-p2", "session-1-p3"} {
		s := must(d.engine.Session(t.Context(), id))
		list := thinking.Sections(d.readFile(thinking.Folder + "/" + string(id) + ".md"))
		if want := []int{60, 15}[min(i, 1)]; s.Len() != want || len(list) != want {
			t.Errorf("%s: %d sections of %d thoughts", id, len(list), s.Len())
		}
		for i, sec := range list {
			if th, _ := s.At(i + 1); sec.Seq != i+1 || sec.Draft.Text != th.Text {
				t.Errorf("%s: section %d is %d, %q, and the thought is %q", id, i+1, sec.Seq, sec.Draft.Text, th.Text)
			}
		}
	}
}

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

// Several writers, each with store and vault opened anew as another process has them, write
// to one note, and half of them leave some thoughts unwritten, as if they were killed. Each
// thought is in the note once and in order, at the latest after a sync.
func TestWritersTogether(t *testing.T) {
	d := newDesk(t)
	var all sync.WaitGroup
	const writers, thoughts = 4, 12
	for i := range writers {
		writer := *d
		store := must(sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(d.dir, "sequent.db")}))
		t.Cleanup(func() { store.Close() })
		writer.files, writer.engine = openFiles(t, d.dir), sequent.New(sequent.Config{Store: store})
		d.engine = writer.engine
		all.Go(func() {
			for n := range thoughts {
				s := writer.commit(sessionID, thought(sequent.Draft{Text: fmt.Sprintf("%d says %d", i, n)}))
				if i%2 == 1 && n%5 > 2 {
					continue
				}
				if _, err := writer.files.Write(t.Context(), s); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	d.sync(false)
	d.wantSame()
	s := must(d.engine.Session(t.Context(), sessionID))
	list := thinking.Sections(d.read())
	if s.Len() != writers*thoughts || len(list) != s.Len() {
		t.Fatalf("%d sections of %d thoughts", len(list), s.Len())
	}
	for i, sec := range list {
		if th, _ := s.At(i + 1); sec.Seq != i+1 || sec.Draft.Text != th.Text {
			t.Errorf("section %d is %d, %q, and the thought is %q", i+1, sec.Seq, sec.Draft.Text, th.Text)
		}
	}
}

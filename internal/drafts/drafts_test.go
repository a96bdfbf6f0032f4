package drafts

import (
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
)

func TestBoard(t *testing.T) {
	t.Parallel()
	b, key := New(), sequent.Key{Owner: "alice", ID: "s"}
	read, stop := b.Follow(key)
	_, changed := read()
	piece, end := b.Begin(key, "x", 2)
	<-changed
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				piece("a")
			}
		})
	}
	all.Wait()
	if piece, end := b.Begin(sequent.Key{Owner: "bob", ID: "s"}, "", 1); piece != nil {
		t.Error("a draft that nobody follows")
	} else {
		end()
	}
	list, changed := read()
	if len(list) != 1 || len(list[0].Text) != 100 || list[0].Branch != "x" || list[0].Number != 2 {
		t.Errorf("got %+v", list)
	}
	end()
	<-changed
	if list, _ := read(); len(list) != 0 {
		t.Errorf("got %+v after the end", list)
	}
	stop()
	if len(b.by) != 0 {
		t.Errorf("%d pages are left", len(b.by))
	}
}

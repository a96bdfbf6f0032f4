package app

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
)

// A failing is a store that can fail its checks and hang.
type failing struct {
	sequent.Store
	checked error
	release chan struct{}
}

func (f *failing) Check(context.Context) error { return f.checked }

func (f *failing) Commit(ctx context.Context, batch []*sequent.Write) error {
	<-f.release
	return f.Store.Commit(ctx, batch)
}

// A server is not ready while its store cannot be reached, and while a commit hangs. mcpserver.TestReadiness has
// the replies of the probe.
func TestReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &failing{Store: sequent.NewMemoryStore(), release: make(chan struct{})}
		a := Over(store, Config{})
		check := func(want sequent.Code) {
			t.Helper()
			if err := a.ready(t.Context()); sequent.CodeOf(err) != want {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		check("")
		store.checked = sequent.Errorf(sequent.CodeUnavailable, "", "", "the database is away")
		check(sequent.CodeUnavailable)
		store.checked = nil
		go func() {
			if _, err := a.Engine.Append(t.Context(), "s", sequent.Draft{Text: "one"}); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(stalledAfter)
		check("")
		time.Sleep(time.Second)
		check(sequent.CodeBusy)
		close(store.release)
		synctest.Wait()
		check("")
	})
}

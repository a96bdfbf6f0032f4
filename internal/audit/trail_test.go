package audit_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/audit"
)

// A trail names the sessions that calls use, whether they are refused or not, and none that
// cannot be.
func TestTrail(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{Used: audit.Used}).Owned("alice")
	var trail audit.Trail
	ctx := audit.WithTrail(t.Context(), &trail)
	_, _ = e.Session(ctx, "plan")
	_, _ = e.Append(ctx, "plan", sequent.Draft{Text: "One."})
	_, _ = e.Session(ctx, "missing")
	_, _ = e.Session(ctx, "a\nb")
	_, _, _ = e.Entries(ctx, "read", sequent.Position{})
	_ = e.Delete(ctx, "gone")
	_, _ = e.Append(t.Context(), "without", sequent.Draft{Text: "One."})
	if _, err := e.Sessions(ctx, sequent.Query{}); err != nil {
		t.Fatal(err)
	}
	use := func(id string, changes bool) audit.Session {
		return audit.Session{ID: id, Owner: "alice", Changes: changes}
	}
	want := []audit.Session{use("plan", true), use("missing", false), use("read", false), use("gone", true)}
	var got audit.Entry
	if got.Follow(&trail); !slices.Equal(got.Sessions, want) || got.More != 0 {
		t.Errorf("got %v and %d more, want %v", got.Sessions, got.More, want)
	}
	for i := range 16 {
		_, _ = e.Session(ctx, sequent.ID(fmt.Sprint(i)))
	}
	got = audit.Entry{}
	if got.Follow(&trail); len(got.Sessions) != 16 || got.More != 4 {
		t.Errorf("got %d and %d more", len(got.Sessions), got.More)
	}
}

package sequent_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A trail names the sessions that calls use, whether they are refused or not, and none that
// cannot be.
func TestTrail(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{}).Owned("alice")
	think := func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "One.", More: true})
		return err
	}
	var trail sequent.Trail
	ctx := sequent.WithTrail(t.Context(), &trail)
	_, _ = e.Session(ctx, "plan")
	_, _ = e.Begin(ctx, "plan", think)
	_, _ = e.Session(ctx, "missing")
	_, _ = e.Session(ctx, "a\nb")
	_, _, _ = e.Entries(ctx, "read")
	_ = e.Delete(ctx, "gone")
	if _, err := e.Sessions(ctx, sequent.Query{}); err != nil {
		t.Fatal(err)
	}
	use := func(id sequent.ID, changes bool) sequent.Use {
		return sequent.Use{Key: sequent.Key{Owner: "alice", ID: id}, Changes: changes}
	}
	want := []sequent.Use{use("plan", true), use("missing", false), use("read", false), use("gone", true)}
	if got, more := trail.Uses(); !slices.Equal(got, want) || more != 0 {
		t.Errorf("got %v and %d more, want %v", got, more, want)
	}
	for i := range sequent.MaxTrail {
		_, _ = e.Session(ctx, sequent.ID(fmt.Sprint(i)))
	}
	if got, more := trail.Uses(); len(got) != sequent.MaxTrail || more != 4 {
		t.Errorf("got %d and %d more", len(got), more)
	}
}

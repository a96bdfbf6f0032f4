package objectkeys_test

import (
	"slices"
	"testing"

	"github.com/sequent-dev/sequent/internal/objectkeys"
)

func TestSort(t *testing.T) {
	got := objectkeys.Sort([]string{"b", "10", "a", "9", "01", "-1", "4294967295", "4294967294", "0", "", "+1", "1.5", "00"})
	want := []string{"0", "9", "10", "4294967294", "b", "a", "01", "-1", "4294967295", "", "+1", "1.5", "00"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

package jsonscan_test

import (
	"slices"
	"testing"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

func TestSortKeys(t *testing.T) {
	got := jsonscan.SortKeys([]string{"b", "10", "a", "9", "01", "-1", "4294967295", "4294967294", "0", "", "+1", "1.5", "00"})
	want := []string{"0", "9", "10", "4294967294", "b", "a", "01", "-1", "4294967295", "", "+1", "1.5", "00"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

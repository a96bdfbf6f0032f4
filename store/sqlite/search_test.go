package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A search that ranks few thoughts finds the newest ones.
func TestCandidates(t *testing.T) {
	s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "sequent.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})
	for n := range 5 {
		if _, err := e.Append(t.Context(), sequent.ID(fmt.Sprint(n)), sequent.Draft{Number: 1, Text: "needle"}); err != nil {
			t.Fatal(err)
		}
	}
	for candidates, want := range map[int]string{0: "[4 3 2 1 0]", -1: "[4 3 2 1 0]", 2: "[4 3]", 9999: "[4 3 2 1 0]"} {
		found, err := e.Search(t.Context(), sequent.SearchQuery{Text: "needle", Candidates: candidates})
		var ids []sequent.ID
		for _, h := range found.Hits {
			ids = append(ids, h.Key.ID)
		}
		if got := fmt.Sprint(ids); err != nil || got != want {
			t.Errorf("%d candidates: got %s, want %s, error %v", candidates, got, want, err)
		}
	}
}

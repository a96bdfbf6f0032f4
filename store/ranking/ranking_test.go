package ranking_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/ranking"
	"github.com/sequent-dev/sequent/words"
)

// thoughts is the content of a store. The thought with the id n is at n-1.
var thoughts = []string{
	"heron", "heron heron", "stork", "a heron far away", "heron heron heron", "heron", "heron", "stork heron",
}

// store returns a Block over thoughts, of size matches each.
func store(s *ranking.Search, size int) ranking.Block {
	return func(_ context.Context, at *words.Cursor) (found []ranking.Candidate, err error) {
		low := max(at.Low, 1)
		for id := at.Bound; id >= low; id-- {
			counts, length, ok := s.Matcher.Match(thoughts[id-1], "")
			if !ok {
				continue
			}
			if at.Low == 0 && len(found) == size {
				low = found[size-1].ID
				break
			}
			found = append(found, ranking.Candidate{ID: id, Counts: slices.Clone(counts), Length: length})
		}
		at.Low = low
		return found, nil
	}
}

// all returns the ids of all hits, read in pages of limit hits.
func all(t *testing.T, size, limit int) (ids []int64) {
	t.Helper()
	q := sequent.SearchQuery{Text: "heron", Limit: limit}
	for range 2 * len(thoughts) {
		s, err := ranking.Parse(q)
		if err != nil {
			t.Fatal(err)
		}
		s.Begin()
		if s.From == nil {
			for _, text := range thoughts {
				counts, length, _ := s.Matcher.Match(text, "")
				s.Corpus.Add(counts, length)
			}
		}
		hits, next, err := s.Rank(t.Context(), int64(len(thoughts)), store(&s, size))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range hits {
			ids = append(ids, c.ID)
		}
		if next == "" {
			return ids
		}
		q.Cursor = next
	}
	t.Fatalf("blocks of %d, pages of %d: more pages than thoughts: %v", size, limit, ids)
	return nil
}

func TestRank(t *testing.T) {
	want := map[int][]int64{
		100: {5, 2, 7, 6, 1, 8, 4},
		3:   {7, 6, 8, 5, 2, 4, 1}, // 8 7 6, 5 4 2, 1
		1:   {8, 7, 6, 5, 4, 2, 1},
	}
	for size, ids := range want {
		for limit := 1; limit <= len(ids)+1; limit++ {
			if got := all(t, size, limit); !slices.Equal(got, ids) {
				t.Errorf("blocks of %d, pages of %d: %v, want %v", size, limit, got, ids)
			}
		}
	}
}

func TestParse(t *testing.T) {
	q := sequent.SearchQuery{Text: "heron", Limit: 2}
	s, err := ranking.Parse(q)
	if err != nil {
		t.Fatal(err)
	}
	s.Begin()
	_, next, err := s.Rank(t.Context(), int64(len(thoughts)), store(&s, 3))
	if err != nil || next == "" {
		t.Fatal(next, err)
	}
	for name, tt := range map[string]struct {
		q     sequent.SearchQuery
		field string
	}{
		"the next page":    {sequent.SearchQuery{Text: "heron", Limit: 7, Cursor: next}, ""},
		"no word":          {sequent.SearchQuery{Text: "…"}, "query"},
		"no cursor":        {sequent.SearchQuery{Text: "heron", Cursor: "*"}, "cursor"},
		"of other words":   {sequent.SearchQuery{Text: "stork", Cursor: next}, "cursor"},
		"of another owner": {sequent.SearchQuery{Text: "heron", Owner: "ann", Cursor: next}, "cursor"},
		"of all owners":    {sequent.SearchQuery{Text: "heron", AllOwners: true, Cursor: next}, "cursor"},
		"of one session":   {sequent.SearchQuery{Text: "heron", Session: "s", Cursor: next}, "cursor"},
	} {
		_, err := ranking.Parse(tt.q)
		e, ok := errors.AsType[*sequent.Error](err)
		if tt.field == "" && err != nil || tt.field != "" && (!ok || e.Code != sequent.CodeInvalidQuery || e.Field != tt.field || e.Fix == "") {
			t.Errorf("%s: Parse = %v, want an error for field %q", name, err, tt.field)
		}
	}
}

func TestRankError(t *testing.T) {
	s, err := ranking.Parse(sequent.SearchQuery{Text: "heron"})
	if err != nil {
		t.Fatal(err)
	}
	s.Begin()
	failed := errors.New("no")
	hits, next, err := s.Rank(t.Context(), 1, func(context.Context, *words.Cursor) ([]ranking.Candidate, error) {
		return nil, failed
	})
	if !errors.Is(err, failed) || hits != nil || next != "" {
		t.Errorf("Rank = %v, %q, %v, want only the error of the block", hits, next, err)
	}
}

func TestEstimate(t *testing.T) {
	for _, tt := range []struct{ n, oldest, newest, want int64 }{
		{0, 0, 0, 0},
		{ranking.Sample - 1, 1, 1 << 40, ranking.Sample - 1},
		{ranking.Sample, 1, ranking.Sample, ranking.Sample},
		{ranking.Sample, 2*ranking.Sample + 1, 4 * ranking.Sample, 2 * ranking.Sample},
	} {
		if got := ranking.Estimate(tt.n, tt.oldest, tt.newest); got != tt.want {
			t.Errorf("Estimate(%d, %d, %d) = %d, want %d", tt.n, tt.oldest, tt.newest, got, tt.want)
		}
	}
}

package storetest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// pages fails the test unless all pages of q have each text of want once and no other that begins
// with unique, best first: those with more words before those with fewer. It calls meanwhile after
// each page.
func pages(t *testing.T, s sequent.Store, q sequent.SearchQuery, want map[string]int, partial bool, meanwhile func(page int)) {
	t.Helper()
	seen := map[string]bool{}
	last, most := math.Inf(1), math.MaxInt
	for page := 0; ; page++ {
		got, err := sequent.SearchStore(t.Context(), s, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Hits) > q.Limit || got.Partial != partial {
			t.Fatalf("a page of %d hits, partial: %t; want at most %d, %t", len(got.Hits), got.Partial, q.Limit, partial)
		}
		for _, hit := range got.Hits {
			text := hit.Thought.Text
			if !strings.HasPrefix(text, "unique") { // recorded meanwhile
				continue
			}
			if seen[text] || want[text] == 0 {
				t.Errorf("%q was returned twice or has no word", text)
			}
			seen[text] = true
			if hit.Score > last || want[text] > most {
				t.Errorf("%q has %d words and score %g, after a hit with %d and %g", text, want[text], hit.Score, most, last)
			}
			last, most = hit.Score, want[text]
		}
		if q.Cursor = got.Next; q.Cursor == "" {
			break
		}
		meanwhile(page)
	}
	if len(seen) != len(want) {
		t.Errorf("%d different hits, want %d", len(seen), len(want))
	}
}

func searchPages(t *testing.T, h Harness) {
	s := h.open(t)
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[string]int{}
	for i := range 60 {
		text := fmt.Sprintf("unique%d heron %s%s", i, strings.Repeat("heron ", rng.IntN(4)), strings.Repeat("filler ", rng.IntN(6)))
		want[text] = 1
		put(t, s, begin(sequent.Key{ID: sequent.ID(fmt.Sprint("s", i))}, text))
	}
	pages(t, s, sequent.SearchQuery{Text: "heron", Limit: 7}, want, false, func(page int) {
		// Add thoughts that match better, and make the words more common.
		for i := range 5 {
			put(t, s, later(begin(sequent.Key{ID: sequent.ID(fmt.Sprintf("new%d-%d", page, i))}, "heron heron heron", "other words")))
		}
	})
}

// later returns a write whose thoughts were recorded an hour later.
func later(w *sequent.Write) *sequent.Write {
	for i := range w.Entries {
		e := &w.Entries[i]
		e.At = e.At.Add(time.Hour)
		e.Thought.At = e.At
	}
	prove(w)
	return w
}

func searchCursors(t *testing.T, h Harness) {
	s := h.open(t)
	put(t, s, begin(sequent.Key{ID: "a"}, "crane one", "crane two", "crane three"))
	page, err := sequent.SearchStore(t.Context(), s, sequent.SearchQuery{Text: "crane", Limit: 2})
	if err != nil || len(page.Hits) != 2 || page.Next == "" {
		t.Fatalf("first page = %+v, %v; want two hits and a cursor", page, err)
	}
	for _, q := range []sequent.SearchQuery{
		{Text: "crane", Cursor: "nonsense"},
		{Text: "crane", Cursor: "e30"},
		{Text: "other", Cursor: page.Next},
		{Text: "crane", Owner: "ann", Cursor: page.Next},
		{Text: "crane", Session: "a", Cursor: page.Next},
		{Text: "crane", Distinct: true, Cursor: page.Next},
	} {
		if _, err := sequent.SearchStore(t.Context(), s, q); sequent.CodeOf(err) != sequent.CodeInvalidQuery {
			t.Errorf("Search(%+v): %v, want the code %s", q, err, sequent.CodeInvalidQuery)
		}
	}
	page, err = sequent.SearchStore(t.Context(), s, sequent.SearchQuery{Text: "  CRANE ", Cursor: page.Next})
	if err != nil || len(page.Hits) != 1 || page.Next != "" {
		t.Errorf("second page = %+v, %v; want one hit and no cursor", page, err)
	}
	if page, err = sequent.SearchStore(t.Context(), s, sequent.SearchQuery{Text: "crane", Limit: 3}); err != nil || page.Next != "" {
		t.Errorf("a page with all hits has the cursor %q, error %v", page.Next, err)
	}
}

// searchDistinct checks that each session is named once, by its best thought, over all pages.
func searchDistinct(t *testing.T, h Harness) {
	s := h.open(t)
	want := []string{"crane 1", "crane 2", "crane 4", "crane heron 3", "crane heron 5"}
	for i := range len(want) {
		texts := []string{"nothing", fmt.Sprint("crane ", i+1), "a crane that is far away"}
		if i == 2 || i == 4 {
			texts = append(texts, fmt.Sprint("crane heron ", i+1))
		}
		put(t, s, begin(sequent.Key{ID: sequent.ID(fmt.Sprint("s", i))}, texts...))
	}
	got := texts(hits(t, s, sequent.SearchQuery{Text: "crane heron", Limit: 2, Distinct: true}))
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func searchRanks(t *testing.T, h Harness) {
	s, model := h.open(t), sequent.NewMemoryStore()
	rng := rand.New(rand.NewPCG(3, 4))
	vocabulary := strings.Fields("alpha beta gamma delta épsilon zeta eta theta iota kappa lambda mu 思 考 链")
	for i := range 120 {
		var lines []string
		for range 1 + rng.IntN(3) {
			var b strings.Builder
			for range 1 + rng.IntN(20) {
				b.WriteString(vocabulary[min(rng.IntN(len(vocabulary)), rng.IntN(len(vocabulary)))] + " ")
			}
			lines = append(lines, fmt.Sprintf("%sn%d", b.String(), i))
		}
		k := sequent.Key{ID: sequent.ID(fmt.Sprint("s", i))}
		put(t, s, begin(k, lines...))
		put(t, model, begin(k, lines...))
	}
	queries := []string{
		"alpha", "lambda", "alpha mu", "beta gamma", `"alpha beta"`, "epsilon", "the*", "eta* alpha",
		"alpha -beta", `alpha -"alpha alpha"`, "思", "考链", "mu lambda kappa", "alp* -gamma -考",
		"alpha unknown", "alpha beta unknown lambda", "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu -思",
		`"mu alpha beta" iota "kappa"`, "链思考unknown", "alpha-unknown zet*", "lambdas betas", "unknown",
	}
	for _, text := range queries {
		sameHits(t, s, model, text, 1e-9)
	}
	for i := 5; i < 15; i++ {
		k := sequent.Key{ID: sequent.ID(fmt.Sprint("s", i))}
		if err := s.Delete(t.Context(), k, 0); err != nil {
			t.Fatal(err)
		}
		if err := model.Delete(t.Context(), k, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range queries { // scores may count deleted thoughts for a short time
		sameHits(t, s, model, text, math.Inf(1))
	}
}

// sameHits fails the test unless s and the model find the same thoughts, best
// first, with scores that differ by at most the tolerance.
func sameHits(t *testing.T, s, model sequent.Store, text string, tolerance float64) {
	t.Helper()
	q := sequent.SearchQuery{Text: text, Limit: 40}
	got, want := hits(t, s, q), hits(t, model, q)
	if !slices.IsSortedFunc(got, func(x, y sequent.Hit) int { return cmp.Compare(y.Score, x.Score) }) {
		t.Errorf("Search(%q): the hits are not sorted by score", text)
	}
	scores := make(map[string]float64)
	name := func(h sequent.Hit) string { return fmt.Sprint(h.Key.ID, "/", h.Thought.Seq) }
	for _, h := range got {
		scores[name(h)] = h.Score
	}
	if len(got) != len(want) || len(scores) != len(got) {
		t.Errorf("Search(%q): %d hits, %d of them different, want %d", text, len(got), len(scores), len(want))
	}
	for _, h := range want {
		if score, ok := scores[name(h)]; !ok || math.Abs(score-h.Score) > tolerance {
			t.Errorf("Search(%q): %s found: %t, with score %g; want %g", text, name(h), ok, score, h.Score)
		}
	}
}

func searchOdd(t *testing.T, h Harness) {
	s := h.open(t)
	put(t, s, begin(sequent.Key{ID: "a"}, "some ordinary text", "another 思考 text"))
	for _, text := range []string{
		"AND", "OR OR", "NOT", "NEAR(", "NEAR(a b, 2)", ")", "((", "a:b", "{a b}:c", "^a", "+a", "a +", "*", "a*b",
		"'", "''", "\"", "\"\"", "\"a", "a\"", "a;b", "a\x00b", "\xff\xfe", "%", "_", "--", "-", "- -", "- \"x",
		"rank:x", "fts", "x'y", "\\", "\u202e", "🙂", strings.Repeat("a", 4000), strings.Repeat("(", 1000),
		strings.Repeat("x ", 63) + "text", "some -\"", "text -*", "思* text*",
	} {
		q := sequent.SearchQuery{Text: text, Limit: -5}
		if _, err := sequent.SearchStore(t.Context(), s, q); err != nil && sequent.CodeOf(err) != sequent.CodeInvalidQuery {
			t.Errorf("Search(%.40q): %v, want hits or the code %s", text, err, sequent.CodeInvalidQuery)
		}
	}
}

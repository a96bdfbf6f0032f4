package storetest

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

func searchInflections(t *testing.T, h Harness) {
	const (
		pool  = "The pool was exhausted."
		pools = "Two pools share one retry budget."
		index = "Rebuild the indices; the index is INVALID."
		lock  = "It locked a row and retried-later."
	)
	s := h.open(t)
	put(t, s, begin(sequent.Key{ID: "a"}, pool, pools, index, lock))
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"pool", []string{pool, pools}},
		{"pools", []string{pool, pools}},
		{`"pools"`, []string{pools}},
		{"pool*", []string{pool, pools}},
		{"pool -pools", []string{pool}},
		{"pools -pool", []string{pools}},
		{"indexes", []string{index}},
		{"retries", []string{pools, lock}},
		{"locking", []string{lock}},
		{"locking rows", []string{lock}},
		{"retried-latering", []string{lock}}, // the last word of a compound has forms, the others have none
		{`"retries later"`, nil},
		{`"retry-later"`, nil},
		{"poo", nil},
		{"the pool", []string{pool, pools}},
		{`"the" pool`, []string{pool}},
	} {
		finds(t, s, test.query, test.want...)
	}
}

func searchPartly(t *testing.T, h Harness) {
	const (
		three = "The checkout pool ran out of connections"
		two   = "checkout checkout checkout pool pool"
		one   = "pool pool pool pool pool pool pool"
		other = "a heron"
	)
	s := h.open(t)
	put(t, s, begin(sequent.Key{ID: "a"}, one, two, other, three))
	put(t, s, begin(sequent.Key{Owner: "ann", ID: "a"}, "checkout pool connection timeout"))
	for _, test := range []struct {
		query   string
		want    []string // best first
		partial bool
		unknown []sequent.UnknownWord
	}{
		{"checkout pool connection", []string{three}, false, nil},
		{"checkout pool connection heron", []string{three, two, other, one}, true, nil},
		{"checkout pool connection timeout", []string{three, two, one}, true, []sequent.UnknownWord{{Word: "timeout"}}},
		{"chekout pool connection", []string{three, one, two}, true, []sequent.UnknownWord{{Word: "chekout", Nearest: "checkout"}}},
		{`"pool checkout" heron`, []string{other}, true, []sequent.UnknownWord{{Word: `"pool checkout"`}}},
		{"checkout pool -ran", []string{two}, false, nil},
		{"checkout heron -ran", []string{other, two}, true, nil},
		{"connection -ran", nil, false, nil},
		{"connection heron -ran", []string{other}, true, nil},
		{"timout", nil, false, []sequent.UnknownWord{{Word: "timout"}}},
		{"connnection", nil, false, []sequent.UnknownWord{{Word: "connnection"}}}, // the store has connections, two letters off
		{"hreon", nil, false, []sequent.UnknownWord{{Word: "hreon", Nearest: "heron"}}},
		{"zzz* heron", []string{other}, true, []sequent.UnknownWord{{Word: "zzz*"}}},
	} {
		got, err := s.Search(t.Context(), sequent.SearchQuery{Text: test.query})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, hit := range got.Hits {
			found = append(found, hit.Thought.Text)
		}
		if test.query == "connection heron -ran" || test.query == "checkout heron -ran" { // one word each
			slices.Sort(found)
			slices.Sort(test.want)
		}
		if !slices.Equal(found, test.want) || got.Partial != test.partial || !reflect.DeepEqual(got.Unknown, test.unknown) {
			t.Errorf("Search(%q)\n got %q, partial %t, unknown %q\nwant %q, partial %t, unknown %q",
				test.query, found, got.Partial, got.Unknown, test.want, test.partial, test.unknown)
		}
		if (got.Notice() != "") != (test.partial || test.unknown != nil) {
			t.Errorf("Search(%q): the notice is %q", test.query, got.Notice())
		}
	}
	got, err := s.Search(t.Context(), sequent.SearchQuery{Text: "checkout heron", Session: "none"})
	if err != nil || len(got.Hits) > 0 || got.Partial {
		t.Errorf("in a session that does not exist found %+v, %v", got, err)
	}
}

// Pages of thoughts with some of the words have each thought once, those with more
// words first, while thoughts with more words are recorded.
func searchPartlyPages(t *testing.T, h Harness) {
	s := h.open(t)
	words := []string{"heron", "stork", "crane", "egret"}
	want := map[string]int{}
	for i := range 60 {
		var has []string
		for j, w := range words {
			if (i>>j)%2 == 1 && i%16 != 15 {
				has = append(has, w)
			}
		}
		text := fmt.Sprintf("unique%d %s", i, strings.Join(has, " "))
		if len(has) > 0 {
			want[text] = len(has)
		}
		put(t, s, begin(sequent.Key{ID: sequent.ID(fmt.Sprint("s", i))}, text))
	}
	seen := map[string]bool{}
	last, most := math.Inf(1), len(words)
	q := sequent.SearchQuery{Text: strings.Join(words, " "), Limit: 7}
	for page := 0; ; page++ {
		got, err := s.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Partial || len(got.Unknown) > 0 {
			t.Fatalf("page %d: partial %t, unknown %q", page, got.Partial, got.Unknown)
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
		put(t, s, begin(sequent.Key{ID: sequent.ID(fmt.Sprint("new", page))}, "heron stork crane egret", "heron stork crane", "heron"))
	}
	if len(seen) != len(want) {
		t.Errorf("%d different hits, want %d", len(seen), len(want))
	}
}

func searchNearest(t *testing.T, h Harness) {
	s := h.open(t)
	put(t, s,
		begin(sequent.Key{Owner: "ann", ID: "x"}, "postgres is slow", "project bluebird"),
		begin(sequent.Key{Owner: "bob", ID: "x"}, "redis is slow"),
		begin(sequent.Key{Owner: "bob", ID: "y"}, "bluebirt"))
	for _, test := range []struct {
		q       sequent.SearchQuery
		word    string
		nearest string
	}{
		{sequent.SearchQuery{Owner: "ann"}, "postgers", "postgres"},
		{sequent.SearchQuery{Owner: "bob"}, "postgers", ""},
		{sequent.SearchQuery{Owner: "bob"}, "postgres", ""},
		{sequent.SearchQuery{Owner: "eve"}, "postgers", ""},
		{sequent.SearchQuery{AllOwners: true}, "postgers", "postgres"},
		{sequent.SearchQuery{Owner: "bob"}, "bluebird", "bluebirt"},
		{sequent.SearchQuery{Owner: "bob", Session: "x"}, "bluebird", ""},
	} {
		test.q.Text = test.word + " slow"
		got, err := s.Search(t.Context(), test.q)
		if err != nil {
			t.Fatal(err)
		}
		if want := []sequent.UnknownWord{{Word: test.word, Nearest: test.nearest}}; !reflect.DeepEqual(got.Unknown, want) && test.q.Owner != "eve" {
			t.Errorf("Search(%+v): unknown are %+v, want %+v", test.q, got.Unknown, want)
		}
		for _, u := range got.Unknown {
			if test.q.Owner == "eve" && u.Nearest != "" {
				t.Errorf("Search(%+v): proposes %q", test.q, u.Nearest)
			}
		}
	}
}

package storetest

import (
	"fmt"
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
		{`pool -"pools"`, []string{pool}},
		{`pools -"pool"`, []string{pools}},
		{"retry -pools", []string{lock}},
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
	}{
		{"checkout pool connection", []string{three, two, one}, false},
		{"checkout pool connection heron", []string{three, two, other, one}, true},
		{"checkout pool connection timeout", []string{three, two, one}, true},
		{"chekout pool connection", []string{three, one, two}, true},
		{`"pool checkout" heron`, nil, false}, // a phrase must be there
		{"checkout pool -ran", []string{two, one}, false},
		{"checkout heron -ran", []string{other, two}, true},
		{"connection -ran", nil, false},
		{"connection heron -ran", []string{other}, true},
		{"timout", nil, false},
		{"connnection", nil, false},
		{"hreon", nil, false},
		{"zzz* heron", []string{other}, true},
	} {
		got, err := sequent.SearchStore(t.Context(), s, sequent.SearchQuery{Text: test.query})
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
		if !slices.Equal(found, test.want) || got.Partial != test.partial {
			t.Errorf("Search(%q)\n got %q, partial %t\nwant %q, partial %t", test.query, found, got.Partial, test.want, test.partial)
		}
		if (got.Notice() != "") != test.partial {
			t.Errorf("Search(%q): the notice is %q", test.query, got.Notice())
		}
	}
	got, err := sequent.SearchStore(t.Context(), s, sequent.SearchQuery{Text: "checkout heron", Session: "none"})
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
	pages(t, s, sequent.SearchQuery{Text: strings.Join(words, " "), Limit: 7}, want, true, func(page int) {
		put(t, s, later(begin(sequent.Key{ID: sequent.ID(fmt.Sprint("new", page))}, "heron stork crane egret", "heron stork crane", "heron")))
	})
}

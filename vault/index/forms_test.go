package index

import (
	"slices"
	"testing"
)

func TestForms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ word, form string }{
		{"token", "tokens"}, {"tokens", "token"}, {"storing", "store"}, {"store", "storing"}, {"stored", "storing"},
		{"running", "run"}, {"query", "queries"}, {"queries", "query"}, {"retried", "retry"}, {"caches", "caching"},
		{"index", "indexes"}, {"indexes", "index"}, {"lock", "locked"},
	} {
		if all := forms(test.word); !slices.Contains(all, test.form) || slices.Contains(all, test.word) {
			t.Errorf("forms(%q) = %q, want %q among them", test.word, all, test.form)
		}
	}
	for _, word := range []string{"", "a", "bus", "b2bs", "größe", "令牌", "ing"} {
		if all := forms(word); len(all) > 0 {
			t.Errorf("forms(%q) = %q, want none", word, all)
		}
	}
}

func TestWeight(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tokens []string
		want   float64
	}{
		{[]string{"how"}, functionWord}, {[]string{"token"}, 1}, {[]string{"how", "to"}, 1},
		{[]string{"な", "い"}, functionWord}, {[]string{"障", "害"}, 1}, {[]string{"ト", "ー"}, 1}, {[]string{"の"}, functionWord},
	} {
		if got := weight(unit{tokens: test.tokens}); got != test.want {
			t.Errorf("weight(%q) = %v, want %v", test.tokens, got, test.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, places := range [][]int{{0}, {0, 1, 2}, {5, 300, 70_000, 1 << 40}} {
		got, err := decodePlaces(encodePlaces(places))
		if err != nil || !slices.Equal(got, places) {
			t.Errorf("%v became %v, %v", places, got, err)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	p := func(note int64, data string) posting {
		return posting{note: note, count: 1, data: []byte("\x01" + data)}
	}
	gone := func(note int64) posting { return posting{note: note} }
	old := []posting{p(513, "\x01"), p(515, "\x02"), p(517, "\x03")}
	merged := merge(old, []posting{p(512, "\x04"), gone(513), p(515, "\x05"), gone(516), p(900, "\x06")})
	row := appendRow(nil, merged)
	got, err := appendPostings(nil, 1, row)
	want := []posting{p(512, "\x04"), p(515, "\x05"), p(517, "\x03"), p(900, "\x06")}
	if err != nil || !slices.EqualFunc(got, want, func(a, b posting) bool {
		return a.note == b.note && a.count == b.count && slices.Equal(a.data, b.data)
	}) {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
}

// A damaged row is an error and nothing worse.
func FuzzPostings(f *testing.F) {
	f.Add([]byte{}, int64(0))
	f.Add(appendRow(nil, []posting{{1, 2, encodePlaces([]int{3, 900})}, {511, 1, encodePlaces([]int{0})}}), int64(7))
	f.Fuzz(func(t *testing.T, row []byte, chunk int64) {
		all, err := appendPostings(nil, chunk, row)
		if err != nil {
			return
		}
		for _, p := range all {
			if at, err := decodePlaces(p.data); err == nil && len(at) != p.count {
				t.Fatalf("%d places, count %d", len(at), p.count)
			}
		}
	})
}

package index

import "testing"

func TestStem(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"token", "tokens"},
		{"store", "stores", "stored", "storing"},
		{"run", "runs", "running"},
		{"query", "queries", "queried", "querying"},
		{"retry", "retried"},
		{"cache", "caches", "cached", "caching"},
		{"index", "indexes", "indexed"},
		{"lock", "locked"},
		{"use", "uses", "used", "using"},
		{"cookie", "cookies"},
		{"setting", "settings"},
		{"process", "processes"},
		{"status", "statuses"},
		{"id", "ids"},
		{"key", "keys"},
		{"need", "needs"},
	} {
		want, ok := stem(same[0])
		for _, word := range same {
			if got, _ := stem(word); !ok || got != want {
				t.Errorf("stem(%q) = %q, and stem(%q) = %q", word, got, same[0], want)
			}
		}
	}
	for _, different := range [][2]string{
		{"string", "str"}, {"thing", "th"}, {"bus", "bu"}, {"dns", "dn"}, {"need", "ne"}, {"note", "cat"},
	} {
		a, _ := stem(different[0])
		b, _ := stem(different[1])
		if a == b {
			t.Errorf("%q and %q both have the stem %q", different[0], different[1], a)
		}
	}
	for _, word := range []string{"", "a", "the", "not", "b2bs", "größe", "令", "v1"} {
		if s, ok := stem(word); ok {
			t.Errorf("stem(%q) = %q, want none", word, s)
		}
	}
}

func TestSaysLittle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tokens []string
		want   bool
	}{
		{[]string{"how"}, true}, {[]string{"token"}, false}, {[]string{"how", "to"}, false},
		{[]string{"な", "い"}, true}, {[]string{"障", "害"}, false}, {[]string{"ト", "ー"}, false}, {[]string{"の"}, true},
	} {
		if got := saysLittle(test.tokens); got != test.want {
			t.Errorf("saysLittle(%q) = %v, want %v", test.tokens, got, test.want)
		}
	}
}

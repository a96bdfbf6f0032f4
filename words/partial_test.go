package words_test

import (
	"slices"
	"testing"

	"github.com/sequent-dev/sequent/words"
)

func TestContentAndPartial(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, content, partial string }{
		{"pool", "pool", ""},
		{"why was the pool empty", "pool empty", "pool empty"},
		{"what is the", "what is the", "what is the"},
		{`"the" pool`, `"the" pool`, `"the" pool`},
		{"retry retries retried", "retry", ""},
		{`retries "retry" retr*`, `retries "retry" retr*`, `retries "retry" retr*`},
		{"retry-later", "retry-later", "retry later"},
		{"state-of-the-art", "state-of-the-art", "state art"},
		{`"retry later"`, `"retry later"`, ""},
		{"pkg/depl*", "pkg-depl*", "pkg depl*"},
		{"server-w* x", "server-w* x", "server x"},
		{"思考链", "思-考-链", `"思 考" "考 链"`},
		{"思", "思", ""},
		{"go写 思", "go-写 思", "go 写 思"},
		{"pool cache -redis", "pool cache -redis", "pool cache -redis"},
	} {
		q, err := words.Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		q = q.Content()
		if got := q.String(); got != test.content {
			t.Errorf("%q has the content %s, want %s", test.text, got, test.content)
		}
		p, ok := q.Partial()
		if ok != (test.partial != "") || ok && p.String() != test.partial {
			t.Errorf("%q is partially %s, %t, want %s", test.text, p, ok, test.partial)
		}
		if q.IsPartial() || !p.IsPartial() {
			t.Errorf("%q: IsPartial is %t, then %t", test.text, q.IsPartial(), p.IsPartial())
		}
	}
}

// A document with more words of a partial query has the higher score.
func TestPartialScore(t *testing.T) {
	t.Parallel()
	q, err := words.Parse("rare common often -never")
	if err != nil {
		t.Fatal(err)
	}
	q, _ = q.Partial()
	m := words.NewMatcher(q)
	c := words.NewCorpus(q)
	c.Docs, c.Tokens, c.Hits = 1000, 100_000, []int64{1, 900, 500}
	var scores []float64
	for _, text := range []string{
		"a long text in which words that are common and come often are all that there is to be found",
		"rare rare rare rare rare rare",
		"rare",
		"common common",
	} {
		counts, length, ok := m.Match(text)
		if !ok {
			t.Fatalf("%q does not match", text)
		}
		scores = append(scores, c.Score(counts, length))
	}
	if !slices.IsSortedFunc(scores, func(a, b float64) int { return int(b*1e6) - int(a*1e6) }) {
		t.Errorf("the scores are %v, want them to fall", scores)
	}
	for _, text := range []string{"", "none of them", "rare but never"} {
		if _, _, ok := m.Match(text); ok {
			t.Errorf("%q matches", text)
		}
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ word, text, want string }{
		{"postgers", "postgres is slow", "postgres"},
		{"conection", "a connection", "connection"},
		{"connnection", "a connection", "connection"},
		{"latemcy", "latency", "latency"},
		{"atency", "latency", "latency"},
		{"latency", "latency", ""},
		{"ltncy", "latency", ""}, // two letters are missing
		{"cat", "car", ""},       // too short
		{"v1234", "v1235", ""},   // not a word
		{"сервр", "сервер", "сервер"},
		{"reads", "beads beads beads rears", "rears"}, // equally common, and the first letter is right
	} {
		q, err := words.Parse(test.word)
		if err != nil {
			t.Fatal(err)
		}
		near, ok := words.Near(q.Wanted()[0])
		got := ""
		if ok {
			counts, _, _ := words.NewMatcher(near).Match(test.text)
			got = words.Nearest(q.Wanted()[0], near, [][]int{counts})
		}
		if got != test.want {
			t.Errorf("the nearest word to %q in %q is %q, want %q", test.word, test.text, got, test.want)
		}
	}
	for _, text := range []string{"postg*", `"two words"`, "two-words", "数据库损坏"} {
		q, err := words.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if near, ok := words.Near(q.Wanted()[0]); ok {
			t.Errorf("Near(%s) is a query of %d words", text, len(near.Wanted()))
		}
	}
}

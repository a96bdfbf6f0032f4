package index_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault/index"
)

// generate writes notes of about 250 words with links. As in a person's vault, some
// words and concepts are in most notes and most are in few.
func generate(b *box, notes, links int) {
	b.t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	word := rand.NewZipf(r, 1.1, 4, 39_999)
	concept := rand.NewZipf(r, 1.05, 20, 7_999)
	for i := range notes {
		var text strings.Builder
		fmt.Fprintf(&text, "---\ntitle: Note %d about %s\ntags: [t%d, all]\nparent: \"[[area/%d]]\"\n---\n# Note %d\n\n",
			i, spelled(word.Uint64()), i%50, i%200, i)
		n := links/notes - 1
		for w, words := 0, 100+r.IntN(300); w < words; w++ {
			text.WriteString(spelled(word.Uint64()))
			switch {
			case n > 0 && w%20 == 10:
				fmt.Fprintf(&text, " [[%s %s|as said]]", spelled(concept.Uint64()), "idea")
				n--
			case w%60 == 59:
				text.WriteString(".\n\n")
				continue
			}
			text.WriteByte(' ')
		}
		b.write(fmt.Sprintf("area-%d/year-%d/note-%d.md", i%20, i%7, i), text.String())
	}
}

// spelled returns the n-th word of an invented language, the most common first.
func spelled(n uint64) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n += 30; n > 0; n /= 70 {
		b.WriteByte(consonants[n%14])
		b.WriteByte(vowels[n%70/14])
	}
	return b.String()
}

func median(n int, f func(i int)) time.Duration {
	var all []time.Duration
	for i := range n {
		start := time.Now()
		f(i)
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return all[n/2]
}

// TestFigures measures a vault of 10,000 notes against the limits that
// docs/search-quality.md names.
func TestFigures(t *testing.T) {
	if os.Getenv("SEQUENT_LONG") == "" {
		t.Skip("set SEQUENT_LONG=1 to measure a vault of 10,000 notes")
	}
	const notes, links = 10_000, 50_000
	b := newBox(t, index.Config{}, nil)
	generate(b, notes, links)
	atMost := func(what string, got, most time.Duration) {
		t.Helper()
		t.Logf("%-40s %10s  (at most %s)", what, got.Round(10*time.Microsecond), most)
		if got > most {
			t.Errorf("%s takes %s, more than %s", what, got, most)
		}
	}
	start := time.Now()
	r := b.sync()
	atMost("first sync", time.Since(start), 10*time.Second)
	t.Logf("%+v", r)
	if info, err := os.Stat(b.dir + "/.sequent/index.db"); err == nil {
		t.Logf("the index has %d MB", info.Size()>>20)
	}
	time.Sleep(2 * time.Second) // until all notes are settled
	b.sync()
	atMost("sync with nothing to do, which counts all relations", median(9, func(int) { b.sync() }), 500*time.Millisecond)
	atMost("search after one changed note", median(21, func(i int) {
		b.write("area-1/year-1/note-1.md", fmt.Sprintf("changed %d to be about [[xyzzy]] %s", i, strings.Repeat("and more words ", 80)))
		if got := b.text("xyzzy"); got != "area-1/year-1/note-1" {
			t.Fatalf("found %q", got)
		}
	}), 100*time.Millisecond)
	for _, mode := range []index.Mode{index.FullText, index.Hybrid} {
		for _, q := range []struct{ name, text string }{
			{"rare word", spelled(30_000)},
			{"common word", spelled(0)},
			{"three common words", spelled(0) + " " + spelled(1) + " " + spelled(2)},
			{"six words", spelled(0) + " " + spelled(5) + " " + spelled(50) + " " + spelled(500) + " " + spelled(5_000) + " note"},
			{"common phrase", `"` + spelled(0) + " " + spelled(1) + `"`},
			{"common concept", "[[" + spelled(0) + " idea]]"},
			{"beginning", spelled(7)[:2] + "ba*"},
		} {
			total := 0
			d := median(21, func(i int) { total = b.search(index.Query{Text: q.text, Mode: mode, Page: 1 + i%3}).Total })
			atMost(fmt.Sprintf("%s search, %s (%d notes)", mode, q.name, total), d, 100*time.Millisecond)
		}
	}
	for _, name := range []string{spelled(0) + " idea", spelled(3000) + " idea", "area/7"} {
		var c index.Context
		d := median(21, func(int) { c = around(t, b, index.ContextQuery{Concept: name, Depth: 2, IncludeContent: true}) })
		atMost(fmt.Sprintf("context of depth 2 with content, %d notes", c.Notes), d, 50*time.Millisecond)
	}
}

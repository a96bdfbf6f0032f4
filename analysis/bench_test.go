package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/analysis"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// BenchmarkEarlier looks for the problems of the judged sessions among 10,000 others of one project, three thoughts
// each of 60 words that the judged ones use as often.
func BenchmarkEarlier(b *testing.B) {
	const sessions, thoughts, length = 10_000, 3, 60
	store, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "sequent.db"), Sync: sqlite.Normal})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	e := sequent.New(sequent.Config{Store: store})
	judged := judgedSessions(b)
	var vocabulary []string
	for _, s := range judged {
		vocabulary = append(vocabulary, strings.Fields(strings.Join(s.Thoughts, " "))...)
	}
	var writers sync.WaitGroup
	const parts = 50 // written at the same time, so that one commit has several
	for part := range parts {
		writers.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(part)))
			for n := part; n < sessions; n += parts {
				s := judgedSession{ID: sequent.ID(fmt.Sprint("s", n)), Project: "p", Concluded: true}
				for range thoughts {
					var words []string
					for range length {
						words = append(words, vocabulary[rnd.IntN(len(vocabulary))])
					}
					s.Thoughts = append(s.Thoughts, strings.Join(words, " "))
				}
				write(b, e, s)
			}
		})
	}
	writers.Wait()
	n := 0
	for b.Loop() {
		if _, err := analysis.Earlier(b.Context(), e, "p", judged[n%len(judged)].Thoughts[0]); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

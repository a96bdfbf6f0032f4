package diagnosis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/textsearch"
)

// Sizes of the sample of [Report.Sample].
const (
	sampleSessions = 20  // the latest
	sampleThoughts = 3   // the latest of each session
	sampleWords    = 4   // per query
	pageLimit      = 100 // results, of which the thought must be one
)

// Sample adds findings on the latest sessions of a store: whether their hashes prove their logs, whether
// searches for the longest words of their thoughts find them, and notes about thoughts that are gone.
// SearchFix is what to do if a search fails. It returns an error of the store.
func (r *Report) Sample(ctx context.Context, store sequent.Store, searchFix string) error {
	page, err := store.List(ctx, sequent.Query{AllOwners: true, Limit: sampleSessions})
	if err != nil {
		return err
	}
	e := sequent.New(sequent.Config{Store: store})
	var sessions, broken, tried, missed, lost int
	var brokenOne, missedOne, lostOne string // the last of them
	for _, h := range page.Headers {
		s, err := e.Owned(h.Owner).Session(ctx, h.ID)
		switch {
		case errors.Is(err, sequent.ErrNotFound):
			continue // deleted meanwhile
		case err != nil:
			return err
		}
		sessions++
		if f := s.Fault(); f != nil {
			broken++
			brokenOne = fmt.Sprintf("session %s: %s", h.ID, f)
		}
		for _, n := range s.Notes() {
			if n.From == sequent.FromStore {
				lost++
				lostOne = fmt.Sprintf("session %s (%s): %s", h.ID, n.At.Format(time.RFC3339), n.Text)
			}
		}
		for t := range s.Since(s.Len() - sampleThoughts) {
			found, known, err := finds(ctx, store, h.Key, t)
			if err != nil {
				return err
			}
			if now, _, err := store.Load(ctx, h.Key, s.Position()); !known || err != nil || now.Epoch != h.Epoch {
				continue // too many others have its words, or it was deleted during the search
			}
			if tried++; !found {
				missed++
				missedOne = fmt.Sprintf("thought %d of session %s", t.Seq, h.ID)
			}
		}
	}
	if lost > 0 {
		r.Warn("lost thoughts", "look for them in a later backup; the log of the server has a line for each",
			"%d notes in the latest sessions, such as %s", lost, lostOne)
	}
	switch {
	case broken > 0:
		r.Fail("history", "restore the store from a backup, or delete these sessions",
			"%d of %d sampled sessions are not what was recorded, such as %s", broken, sessions, brokenOne)
	case sessions > 0:
		r.OK("history", "%d of %d sampled sessions are as they were recorded", sessions, sessions)
	}
	switch {
	case missed > 0:
		r.Fail("search", searchFix, "%d of %d sampled thoughts are not found by their words, such as %s", missed, tried, missedOne)
	case tried > 0:
		r.OK("search", "found all of %d sampled thoughts by their words", tried)
	}
	return nil
}

// finds reports whether a search for the longest words of a thought finds it. It is
// not known if the thought has no words, or if too many others have them too.
func finds(ctx context.Context, store sequent.Store, k sequent.Key, t sequent.Thought) (found, known bool, err error) {
	words := textsearch.Tokens(t.Text)
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	words = slices.Compact(words)
	words = words[:min(len(words), sampleWords)]
	if len(words) == 0 {
		return false, false, nil
	}
	hits, err := sequent.SearchStore(ctx, store, sequent.SearchQuery{AllOwners: true, Text: strings.Join(words, " "), Limit: pageLimit})
	found = slices.ContainsFunc(hits.Hits, func(h sequent.Hit) bool { return h.Key == k && h.Thought.Seq == t.Seq })
	all := hits.Next == "" || slices.ContainsFunc(hits.Hits, func(h sequent.Hit) bool { return h.Partial }) // which come last
	return found, found || all, err
}

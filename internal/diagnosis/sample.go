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
	sampleSessions = 20  // half of them the latest
	sampleThoughts = 3   // the latest of each session
	sampleWords    = 4   // per query
	maxPages       = 10  // of results, in which the thought must be
	pageLimit      = 100 // results on a page
	listLimit      = 1000
	maxNoted       = 100 // sessions whose notes are read
)

// Sample adds findings on the latest sessions of a store and some earlier ones: whether
// their hashes prove their logs, and whether searches for the longest words of their
// thoughts find them. SearchFix is what to do if not. It returns an error of the store.
func (r *Report) Sample(ctx context.Context, store sequent.Store, searchFix string) error {
	page, err := store.List(ctx, sequent.Query{AllOwners: true, Limit: listLimit})
	if err != nil {
		return err
	}
	if err := r.losses(ctx, store, page.Headers); err != nil {
		return err
	}
	var logs logs
	var searches searches
	for _, h := range sample(page.Headers) {
		now, entries, err := store.Load(ctx, h.Key, sequent.Position{})
		switch {
		case errors.Is(err, sequent.ErrNotFound):
			continue // deleted meanwhile
		case err != nil:
			return err
		}
		logs.add(now, entries)
		if err := searches.add(ctx, store, now, entries); err != nil {
			return err
		}
	}
	logs.report(r)
	searches.report(r, searchFix)
	return nil
}

// losses adds a finding if the latest sessions with notes have one about thoughts that are gone.
func (r *Report) losses(ctx context.Context, store sequent.Store, headers []sequent.Header) error {
	e, lost, example := sequent.New(sequent.Config{Store: store}), 0, ""
	headers = slices.DeleteFunc(slices.Clone(headers), func(h sequent.Header) bool { return h.Notes == 0 })
	for _, h := range headers[:min(len(headers), maxNoted)] {
		s, err := e.Owned(h.Owner).Session(ctx, h.ID)
		switch {
		case errors.Is(err, sequent.ErrNotFound):
			continue // deleted meanwhile
		case err != nil:
			return err
		}
		for _, n := range s.Notes() {
			if n.From == sequent.FromStore {
				lost++
				example = fmt.Sprintf("session %s (%s): %s", h.ID, n.At.Format(time.RFC3339), n.Text)
			}
		}
	}
	if lost > 0 {
		r.Warn("lost thoughts", "look for them in a later backup; the log of the server has a line for each", "%d notes in the latest sessions, such as %s", lost, example)
	}
	return nil
}

// logs counts the logs that were verified.
type logs struct {
	intact, broken int
	example        string // of a broken one
}

func (l *logs) add(h sequent.Header, entries []sequent.Entry) {
	if v := sequent.Verify(h, entries); v.Fault != nil {
		l.broken++
		l.example = fmt.Sprintf("session %s: %s", h.ID, v.Fault)
	} else {
		l.intact++
	}
}

func (l *logs) report(r *Report) {
	const check = "history"
	switch n := l.intact + l.broken; {
	case l.broken > 0:
		r.Fail(check, "restore the store from a backup, or delete these sessions",
			"%d of %d sampled sessions are not what was recorded, such as %s", l.broken, n, l.example)
	case n > 0:
		r.OK(check, "%d of %d sampled sessions are as they were recorded", n, n)
	}
}

// searches counts the thoughts that were looked for.
type searches struct {
	tried, missed int
	example       string // of a missed one
}

func (s *searches) add(ctx context.Context, store sequent.Store, h sequent.Header, entries []sequent.Entry) error {
	var thoughts []sequent.Thought
	for i := range entries {
		if entries[i].Kind == sequent.KindThought {
			thoughts = append(thoughts, entries[i].Thought)
		}
	}
	for _, t := range thoughts[max(0, len(thoughts)-sampleThoughts):] {
		found, known, err := finds(ctx, store, h.Key, t)
		switch {
		case err != nil:
			return err
		case !known:
			continue
		case !found:
			if now, _, err := store.Load(ctx, h.Key, h.Position()); err != nil || now.Epoch != h.Epoch {
				continue // deleted during the search
			}
			s.missed++
			s.example = fmt.Sprintf("thought %d of session %s", t.Seq, h.ID)
		}
		s.tried++
	}
	return nil
}

func (s *searches) report(r *Report, fix string) {
	switch {
	case s.missed > 0:
		r.Fail("search", fix, "%d of %d sampled thoughts are not found by their words, such as %s", s.missed, s.tried, s.example)
	case s.tried > 0:
		r.OK("search", "found all of %d sampled thoughts by their words", s.tried)
	}
}

// sample returns the latest of the headers and some earlier ones.
func sample(headers []sequent.Header) []sequent.Header {
	const latest = sampleSessions / 2
	if len(headers) <= sampleSessions {
		return headers
	}
	chosen := slices.Clone(headers[:latest])
	rest := headers[latest:]
	for i := range sampleSessions - latest {
		chosen = append(chosen, rest[(i+1)*len(rest)/(sampleSessions-latest)-1])
	}
	return chosen
}

// finds reports whether a search for the longest words of a thought finds it. It is
// not known if the thought has no words, or if too many others have them too.
func finds(ctx context.Context, store sequent.Store, k sequent.Key, t sequent.Thought) (found, known bool, err error) {
	tokens := textsearch.Tokens(t.Text)
	slices.SortStableFunc(tokens, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var chosen []string
	for _, token := range tokens {
		if !slices.Contains(chosen, token) && len(chosen) < sampleWords {
			chosen = append(chosen, token)
		}
	}
	if len(chosen) == 0 {
		return false, false, nil
	}
	q := sequent.SearchQuery{AllOwners: true, Text: strings.Join(chosen, " "), Limit: pageLimit}
	for range maxPages {
		hits, err := sequent.SearchStore(ctx, store, q)
		if err != nil {
			return false, false, err
		}
		if slices.ContainsFunc(hits.Hits, func(h sequent.Hit) bool { return h.Key == k && h.Thought.Seq == t.Seq }) {
			return true, true, nil
		}
		if q.Cursor = hits.Next; q.Cursor == "" {
			return false, true, nil
		}
	}
	return false, false, nil
}

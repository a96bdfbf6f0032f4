package command

import (
	"context"

	"github.com/sequent-dev/sequent"
)

// isDemo reports whether sequent demo recorded a session.
func isDemo(h sequent.Header) bool { return h.Labels[sequent.LabelDemo] != "" }

// onlyDemos reports whether there are no sessions but those of sequent demo.
func onlyDemos(ctx context.Context, e *sequent.Engine, q sequent.Query) (bool, error) {
	for h, err := range e.AllSessions(ctx, q) {
		if err != nil || !isDemo(h) {
			return false, err
		}
	}
	return true, nil
}

// A demoFilter leaves the thoughts of sequent demo out of what a search finds, once there are
// other sessions.
type demoFilter struct {
	off     bool
	leftOut int // thoughts

	known map[sequent.Key]bool // whether a session is of the demo
}

// search returns the best hits, at most as many as the page of a query has, and whether
// there are more.
func (f *demoFilter) search(ctx context.Context, e *sequent.Engine, q sequent.SearchQuery) (found sequent.Hits, more bool, err error) {
	if found, err = e.Search(ctx, q); err != nil {
		return found, false, err
	}
	if !f.off {
		f.off, err = onlyDemos(ctx, e, sequent.Query{AllOwners: q.AllOwners, Limit: 1000})
	}
	if f.off || err != nil {
		return found, found.Next != "", err
	}
	f.known = make(map[sequent.Key]bool)
	page := found
	for found.Hits = nil; ; {
		for _, h := range page.Hits {
			demo, err := f.isDemo(ctx, e, h.Key)
			if err != nil {
				return found, false, err
			}
			if demo {
				f.leftOut++
			} else {
				found.Hits = append(found.Hits, h)
			}
		}
		if page.Next == "" || len(found.Hits) >= q.PageSize() {
			break
		}
		q.Cursor = page.Next
		if page, err = e.Search(ctx, q); err != nil {
			return found, false, err
		}
	}
	n := min(len(found.Hits), q.PageSize())
	more = page.Next != "" || n < len(found.Hits)
	found.Hits = found.Hits[:n]
	return found, more, nil
}

func (f *demoFilter) isDemo(ctx context.Context, e *sequent.Engine, key sequent.Key) (bool, error) {
	demo, ok := f.known[key]
	if !ok {
		if key.Owner != "" {
			e = e.Owned(key.Owner)
		}
		s, err := e.Session(ctx, key.ID)
		if err != nil && sequent.CodeOf(err) != sequent.CodeSessionNotFound {
			return false, err
		}
		demo = err == nil && isDemo(s.Header())
		f.known[key] = demo
	}
	return demo, nil
}

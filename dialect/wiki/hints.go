package wiki

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/vault/assumption"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// An openOne is an assumption that concerns a session.
type openOne struct {
	assumption.Entry
	made bool // its context names the session
}

func (a openOne) line() string {
	return fmt.Sprintf("%s (%s): %s", a.URI, a.Status, short(a.Statement, maxStatement))
}

const (
	maxStatement = 120 // bytes of an assumption in a line
	maxTitle     = 60  // bytes of a note's title in a hint
)

// short returns the beginning of a text on one line.
func short(text string, bytes int) string {
	text = oneLine(text)
	if len(text) <= bytes {
		return text
	}
	cut := strings.ToValidUTF8(text[:bytes], "")
	if i := strings.LastIndexByte(cut, ' '); i > bytes/2 {
		cut = cut[:i]
	}
	return cut + "…"
}

// A surrounding is what the vault has around a session.
type surrounding struct {
	index.Near
	notes       []index.Neighbour // without assumptions
	assumptions []openOne         // those made in the session, then those about its concepts
}

// around returns what the vault has around the concepts of the thoughts of a session after
// the first n.
func (t *turn) around(ctx context.Context, s *sequent.Session, n int) (surrounding, error) {
	const maxAssumptions = 30 // notes of assumptions that are read for a reply
	v := t.vault
	uri, _, err := v.Sessions.Find(ctx, s.ID())
	if err == nil { // the session's own note grows with each thought
		err = v.refresh(ctx, uri, nil)
	}
	var out surrounding
	if err == nil {
		out.Near, err = v.index.Near(ctx, index.NearQuery{Concepts: conceptsSince(s, n), Quoted: string(s.ID()), Except: uri})
	}
	if err != nil {
		return out, err
	}
	parent := s.Label(thinking.LabelParent)
	for _, n := range out.Found {
		switch {
		case !strings.HasPrefix(n.URI.Path(), assumption.Folder+"/"):
			if parent == "" || n.URI.Name() != parent {
				out.notes = append(out.notes, n)
			}
		case len(out.assumptions) < maxAssumptions:
			a, err := v.Ledger.Read(ctx, n.URI)
			made := strings.Contains(a.Context, string(s.ID()))
			if err == nil && (made || len(n.Shared) > 0) { // else it was deleted, or a person has damaged it
				out.assumptions = append(out.assumptions, openOne{a, made})
			}
		}
	}
	rank := func(a openOne) string { return fmt.Sprint(!a.made, a.URI.Path()) }
	slices.SortStableFunc(out.assumptions, func(a, b openOne) int { return cmp.Compare(rank(a), rank(b)) })
	return out, nil
}

// conceptsSince returns the concepts of the thoughts after the first n, the latest first.
func conceptsSince(s *sequent.Session, n int) []string {
	const maxThoughts, maxConcepts = 200, 1000
	var texts []string
	for t := range s.Since(max(n, s.Len()-maxThoughts)) {
		texts = append(texts, t.Text+"\n\n"+t.Note)
	}
	texts = append(texts, s.Conclusion())
	slices.Reverse(texts)
	var all []string
	for _, text := range texts {
		all = append(all, wikilink.Concepts(wikilink.Parse([]byte(text)))...)
	}
	all = distinct(all)
	return all[:min(maxConcepts, len(all))]
}

// distinct returns a list without repetitions, in its order.
func distinct(list []string) []string {
	seen := make(map[string]bool)
	return slices.DeleteFunc(list, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

// remind adds to the reply to the last thought what the vault has around it: at a
// checkpoint what there is to find, at the end what is still open. A vault that cannot be
// searched in time costs the reply nothing but this.
func (t *turn) remind(ctx context.Context, s *sequent.Session, a *answer) {
	ends := a.Status == completed
	if a.Status == cancelled || !ends && a.Number%checkpointEvery != 0 {
		return
	}
	if uri, exists, err := t.vault.Sessions.Find(ctx, s.ID()); err == nil && exists && (a.begun || ends) {
		a.URI = uri
	}
	ctx, cancel := context.WithTimeout(ctx, t.HintWait)
	defer cancel()
	since := 0
	if !ends {
		since = s.Len() - checkpointEvery
	}
	near, err := t.around(ctx, s, since)
	if err != nil {
		t.Logger.DebugContext(ctx, "a reply says nothing about the vault", "session", string(s.ID()), "error", err)
		return
	}
	open := slices.DeleteFunc(near.assumptions, func(a openOne) bool { return a.Status != assumption.Active })
	if !ends {
		a.hints = near.hints(open)
		return
	}
	for _, one := range open {
		a.Open = append(a.Open, one.URI)
		a.ending = append(a.ending, "⚠️ Still open: "+one.line())
	}
	if b := s.Branches(); len(b) > 0 {
		a.ending = append(a.ending, "🌿 "+branches(s))
	}
}

// hints says what there is to find, a sentence each, with the assumptions that are open.
func (sur *surrounding) hints(open []openOne) []string {
	const most = 3 // notes or concepts
	if sur.Notes == 0 {
		return []string{"the vault has no other note yet: what you find is its beginning"}
	}
	var hints []string
	if n := len(sur.notes); n > 0 {
		var names, shared []string
		for _, note := range sur.notes {
			names = append(names, fmt.Sprintf("%s (%s)", note.URI, short(note.Title, maxTitle)))
			shared = append(shared, note.Shared...)
		}
		hints = append(hints, fmt.Sprintf("%s on %s: %s", wording.Count(n, "other note is", "other notes are"),
			linked(distinct(shared), most), list(names, most)))
	}
	if n := len(open); n > 0 {
		text := fmt.Sprintf("%s still open: %s", wording.Count(n, "assumption is", "assumptions are"), open[0].line())
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
		hints = append(hints, text)
	}
	var unknown []string
	for _, u := range sur.Unlinked {
		if len(u.Similar) > 0 {
			hints = append(hints, proposal(u))
		} else {
			unknown = append(unknown, u.Concept)
		}
	}
	if len(hints) == 0 && len(unknown) > 0 {
		hints = append(hints, fmt.Sprintf("no other note links to %s; search_memories finds notes by their words", linked(unknown, most)))
	}
	return hints
}

// proposal says which concepts a link to a concept of no note may mean.
func proposal(u index.Unlinked) string {
	if u.Notes > 0 {
		return fmt.Sprintf("only one note links to [[%s]]; there is also %s", u.Concept, linked(u.Similar, len(u.Similar)))
	}
	return fmt.Sprintf("no other note links to [[%s]]; did you mean %s?", u.Concept, linked(u.Similar, len(u.Similar)))
}

// linked lists concepts as links.
func linked(concepts []string, most int) string {
	if len(concepts) == 0 {
		return "this session"
	}
	links := make([]string, len(concepts))
	for i, c := range concepts {
		links[i] = "[[" + c + "]]"
	}
	return list(links, most)
}

// list lists the first names, and how many more there are.
func list(names []string, most int) string {
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

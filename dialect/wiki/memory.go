package wiki

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	assumptions []openOne
}

// maxAssumptions limits the notes of assumptions that are read for a reply.
const maxAssumptions = 30

// around returns what the vault has around a session, for some of its concepts.
func (d *server) around(ctx context.Context, v *Vault, s *sequent.Session, concepts []string) (surrounding, error) {
	uri, _, err := v.Sessions.Find(ctx, s.ID())
	if err != nil {
		return surrounding{}, err
	}
	near, err := v.Graph.Near(ctx, index.NearQuery{Concepts: concepts, Quoted: string(s.ID()), Except: uri})
	if err != nil {
		return surrounding{}, err
	}
	out := surrounding{Near: near}
	parent := s.Label(thinking.LabelParent)
	for _, n := range near.Found {
		switch {
		case !strings.HasPrefix(n.URI.Path(), assumption.Folder+"/"):
			if parent == "" || n.URI.Name() != parent {
				out.notes = append(out.notes, n)
			}
		case len(out.assumptions) < maxAssumptions:
			a, err := v.Ledger.Read(ctx, n.URI)
			if err != nil {
				continue // it was deleted, or a person has damaged it
			}
			made := slices.Contains(thinking.IDs(a.Context), s.ID())
			if made || len(n.Shared) > 0 {
				out.assumptions = append(out.assumptions, openOne{a, made})
			}
		}
	}
	slices.SortStableFunc(out.assumptions, func(a, b openOne) int {
		if a.made != b.made {
			if a.made {
				return -1
			}
			return 1
		}
		return strings.Compare(a.URI.Path(), b.URI.Path())
	})
	return out, nil
}

// assumptions returns the assumptions that concern a session: those made in it, then
// those about its concepts.
func (d *server) assumptions(ctx context.Context, v *Vault, s *sequent.Session) []openOne {
	near, err := d.around(ctx, v, s, conceptsSince(s, 0))
	if err != nil {
		return nil // the index is not available
	}
	return near.assumptions
}

// maxThoughts limits the thoughts whose links are parsed for a reply.
const maxThoughts = 200

// conceptsSince returns the concepts of the thoughts after the first n, the latest first.
func conceptsSince(s *sequent.Session, n int) []string {
	var texts []string
	for t := range s.Since(max(n, s.Len()-maxThoughts)) {
		texts = append(texts, t.Text+"\n\n"+t.Note)
	}
	texts = append(texts, s.Conclusion())
	slices.Reverse(texts)
	var all []string
	for _, text := range texts {
		for _, c := range wikilink.Concepts(wikilink.Parse([]byte(text))) {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// open returns the assumptions that are still open.
func (sur *surrounding) open() []openOne {
	return slices.DeleteFunc(slices.Clone(sur.assumptions), func(a openOne) bool { return a.Status != assumption.Active })
}

// remind adds to the reply to the last thought what the vault has around it: at a
// checkpoint what there is to find, at the end what is still open. A vault that cannot be
// searched in time costs the reply nothing but this.
func (d *server) remind(ctx context.Context, v *Vault, s *sequent.Session, a *answer) {
	ends := a.Status == completed
	if a.Status == cancelled || !ends && a.Number%checkpointEvery != 0 {
		return
	}
	if uri, there, err := v.Sessions.Find(ctx, s.ID()); err == nil && there && (a.begun || ends) {
		a.URI = uri
	}
	ctx, cancel := context.WithTimeout(ctx, d.hintWait)
	defer cancel()
	since := 0
	if !ends {
		since = s.Len() - checkpointEvery
	}
	near, err := d.around(ctx, v, s, conceptsSince(s, since))
	if err != nil {
		d.logger.DebugContext(ctx, "a reply says nothing about the vault", "session", string(s.ID()), "error", err)
		return
	}
	if ends {
		for _, one := range near.open() {
			a.Open = append(a.Open, one.URI)
			a.ending = append(a.ending, "⚠️ Still open: "+one.line())
		}
		if b := s.Branches(); len(b) > 0 {
			a.ending = append(a.ending, "🌿 "+branches(s))
		}
		return
	}
	a.hints = near.hints()
}

// hints says what there is to find, a sentence each.
func (sur *surrounding) hints() []string {
	const mostNotes, mostConcepts = 3, 3
	if sur.Notes == 0 {
		return []string{"the vault has no other note yet: what you find is its beginning"}
	}
	var hints []string
	if n := len(sur.notes); n > 0 {
		var names []string
		for _, note := range sur.notes[:min(n, mostNotes)] {
			names = append(names, fmt.Sprintf("%s (%s)", note.URI, short(note.Title, maxTitle)))
		}
		if n > mostNotes {
			names = append(names, fmt.Sprintf("%d more", n-mostNotes))
		}
		hints = append(hints, fmt.Sprintf("%s on %s: %s", wording.Count(n, "other note is", "other notes are"), linked(sharedBy(sur.notes), mostConcepts), strings.Join(names, ", ")))
	}
	open := sur.open()
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
		hints = append(hints, fmt.Sprintf("no other note links to %s; search_memories finds notes by their words", linked(unknown, mostConcepts)))
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

// sharedBy returns the concepts that notes share with a text, in order.
func sharedBy(notes []index.Neighbour) []string {
	var all []string
	for _, n := range notes {
		for _, c := range n.Shared {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// linked lists concepts as links.
func linked(concepts []string, most int) string {
	if len(concepts) == 0 {
		return "this session"
	}
	text := "[[" + strings.Join(concepts[:min(most, len(concepts))], "]], [[") + "]]"
	if n := len(concepts) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// defaultHintWait limits how long a reply waits for what the vault has around it.
const defaultHintWait = 2 * time.Second

package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/findings"
	"github.com/sequent-dev/sequent/reference"
	"github.com/sequent-dev/sequent/textsearch"
)

// maxText is the maximum length of a text that a finding quotes, in bytes.
const maxText = 300

// maxBegin is with how many words a problem begins.
const maxBegin = 16

// maxKept limits the judgements, and the assumptions, that are kept of a session.
const maxKept = 50

// A corpus is what is known of the sessions.
type corpus struct {
	engine   *sequent.Engine
	query    Query
	stems    stems
	sessions []*session
	byID     map[sequent.ID][]int // indexes in sessions, of all owners
	asked    map[sequent.Key]bool // sessions that Query.Text finds; nil means all
	notice   string
	compared int // pairs of sessions or assumptions that share a word
}

// A session is what is kept of a session.
type session struct {
	header  sequent.Header // without labels, origin and conclusion
	skipped bool           // it was deleted meanwhile, or is damaged

	end       Cite      // the conclusion, or the last thought that holds
	concluded time.Time // zero if there is no conclusion
	left      []Finding
	changed   []Finding // conclusions that the session itself revises or rejects
	unclear   []Finding
	mentions  []mention
	assumed   []assumption
	problem   Cite
	asked     []uint32 // stems of how the problem begins
}

func newCorpus(e *sequent.Engine, q Query) *corpus {
	return &corpus{engine: e, query: q, stems: make(stems), byID: make(map[sequent.ID][]int)}
}

// say adds a sentence to the notice.
func (c *corpus) say(format string, args ...any) {
	c.notice = strings.TrimSpace(c.notice + " " + fmt.Sprintf(format, args...))
}

// headers calls do with the sessions that the query is among, until it returns false. Sessions of the demo count only if
// there are no others.
func (c *corpus) headers(ctx context.Context, do func(sequent.Header) bool) error {
	var demos []sequent.Header
	others := false
	for h, err := range c.engine.AllSessions(ctx, sequent.Query{AllOwners: c.query.AllOwners, Project: c.query.Project}) {
		switch {
		case err != nil:
			return err
		case h.Labels[sequent.LabelDemo] != "":
			demos = append(demos, h)
			continue
		}
		if others = true; !do(h) {
			return nil
		}
	}
	if others {
		return nil
	}
	for _, h := range demos {
		if !do(h) {
			return nil
		}
	}
	return nil
}

// focus finds the sessions that the query's text is about.
func (c *corpus) focus(ctx context.Context) error {
	if c.query.Text == "" {
		return nil
	}
	const most = 1000
	c.asked = make(map[sequent.Key]bool)
	found, err := c.engine.Search(ctx, sequent.SearchQuery{AllOwners: c.query.AllOwners, Project: c.query.Project, Text: c.query.Text, Limit: most})
	for _, h := range found.Hits {
		if !h.Partial { // a session with some of the words may be about anything
			c.asked[h.Key] = true
		}
	}
	switch {
	case found.Partial:
		c.say("%s", found.Notice())
	case found.Next != "":
		c.say("The query finds more than %d thoughts; the best of them were used.", most)
	}
	return err
}

// read lists the sessions, and reads one after the other.
func (c *corpus) read(ctx context.Context) error {
	room := c.query.MaxBytes
	err := c.headers(ctx, func(h sequent.Header) bool {
		if room -= h.Bytes; c.query.MaxBytes > 0 && room < 0 {
			c.say("Sessions before %s are left out: the later ones have %d MiB, which is as much as is read.", h.Updated.Format(time.DateOnly), c.query.MaxBytes>>20)
			return false
		}
		known := func(i int) bool { return c.sessions[i].header.Key == h.Key } // it changed while it was listed
		if !slices.ContainsFunc(c.byID[h.ID], known) {
			c.byID[h.ID] = append(c.byID[h.ID], len(c.sessions))
			c.sessions = append(c.sessions, &session{header: slim(h)})
		}
		return true
	})
	damaged := 0
	for _, s := range c.sessions {
		if err != nil || ctx.Err() != nil {
			return cmp.Or(err, ctx.Err())
		}
		engine := c.engine
		if c.query.AllOwners {
			engine = engine.Owned(s.header.Owner)
		}
		var full *sequent.Session
		full, err = engine.Session(ctx, s.header.ID)
		switch {
		case errors.Is(err, sequent.ErrNotFound): // deleted just now
			s.skipped, err = true, nil
		case sequent.CodeOf(err) == sequent.CodeCorrupt, err == nil && full.Fault() != nil:
			s.skipped, err = true, nil
			damaged++
		case err == nil && full.Len() > 0:
			c.take(ctx, s, full)
		}
	}
	if damaged > 0 {
		c.say("%d sessions are damaged and were left out; sequent store verify --all names them.", damaged)
	}
	return cmp.Or(err, ctx.Err())
}

// slim returns a header without what is not compared.
func slim(h sequent.Header) sequent.Header {
	h.Labels, h.Conclusion, h.Origin = nil, "", sequent.Origin{}
	return h
}

// A reading is a session that is read, and its log.
type reading struct {
	*findings.Reading
	log []sequent.Thought
}

// take takes from a session what is compared.
func (c *corpus) take(ctx context.Context, s *session, full *sequent.Session) {
	r := reading{findings.Read(full), full.Thoughts()}
	s.header = slim(full.Header())
	s.problem = r.cite(1, oneLine(full.Title()))
	asked, _ := full.Asked()
	tokens := textsearch.Tokens(asked)
	s.asked = c.stems.set(content(tokens[:min(len(tokens), maxBegin)]))
	last, came := Ending(full)
	s.end = r.cite(last.Seq, came)
	if full.State() == sequent.Completed {
		s.concluded = r.log[len(r.log)-1].At
	}
	s.left = c.leftOf(r)
	s.changed = changedIn(r)
	for _, t := range r.log {
		for _, text := range r.Found[t.Seq] {
			s.unclear = append(s.unclear, Finding{text, []Part{{"said", r.cite(t.Seq, t.Text)}}})
		}
	}
	c.scan(ctx, s, r)
}

// Ending returns the thought with which a session ended, or the last one that holds, and what it
// came to: the conclusion, or the text of that thought. The session must have thoughts.
func Ending(s *sequent.Session) (t sequent.Thought, text string) {
	t, _ = s.Last()
	if text = s.Conclusion(); text != "" || s.State() == sequent.Completed {
		return t, cmp.Or(text, t.Text)
	}
	for i, st := range slices.Backward(s.Standings()) {
		if st.State != sequent.Superseded {
			t, _ = s.At(i + 1)
			break
		}
	}
	return t, t.Text
}

// cite returns a citation of a thought.
func (r *reading) cite(seq int, text string) Cite {
	return Cite{
		Owner: r.Owner(), Session: r.ID(), Seq: seq, Ref: reference.To(r.Session, seq).String(), Text: brief.Lead(text, maxText), At: r.log[seq-1].At,
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

const (
	revised  = "revised"  // something else holds now
	rejected = "rejected" // it does not hold
	byNote   = " by a person"
)

// scan takes what the texts of a session say about other sessions, and what they assume.
func (c *corpus) scan(ctx context.Context, s *session, r reading) {
	look := func(seq int, text, by string, at time.Time) {
		st := r.Standings[seq-1].State
		all := append(brief.Sentences(text), "")
		for i, sentence := range all[:len(all)-1] {
			named := c.mentionsIn(s, sentence, all[i+1])
			for _, target := range slices.Sorted(maps.Keys(named)) {
				if how := named[target]; how != "" && (by == byNote || st != sequent.Superseded) && len(s.mentions) < maxKept {
					m := mention{target, Part{how + by, r.cite(seq, sentence)}}
					m.by.At = at
					s.mentions = append(s.mentions, m)
				}
			}
			if a, ok := c.stems.assumption(sentence); ok && by != byNote && len(s.assumed) < maxKept {
				a.use = Part{"assumed", r.cite(seq, sentence)}
				if st != sequent.Current && st != sequent.Concluded {
					a.use.Says += ", now " + string(st)
				}
				s.assumed = append(s.assumed, a)
			}
		}
	}
	const bySession = " by a later session"
	for _, t := range r.log {
		if ctx.Err() != nil {
			return
		}
		look(t.Seq, t.Text, bySession, t.At)
	}
	last := r.log[len(r.log)-1]
	if text := r.Conclusion(); text != last.Text {
		look(last.Seq, text, bySession, last.At)
	}
	for _, n := range r.Session.Notes() {
		look(n.Seq, n.Text, byNote, n.At)
	}
}

// about reports whether the query selects a session.
func (c *corpus) about(h *sequent.Header) bool {
	return !h.Updated.Before(c.query.Since) && (c.asked == nil || c.asked[h.Key])
}

func (ci *Cite) key() sequent.Key { return sequent.Key{Owner: ci.Owner, ID: ci.Session} }

package analysis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
)

// maxText is the maximum length of a text that a finding quotes, in bytes.
const maxText = 300

// maxKept limits the judgements, and the assumptions, that are kept of a session.
const maxKept = 50

// A corpus is what is known of the sessions.
type corpus struct {
	query    Query
	now      time.Time
	stems    *stems
	sessions []*session
	known    map[sequent.Key]int  // index in sessions
	byID     map[sequent.ID][]int // the same, of all owners
	asked    map[sequent.Key]bool // sessions that Query.Text finds; nil means all
	notice   string
	failed   int // sessions that could not be read
}

// A session is what is kept of a session.
type session struct {
	header sequent.Header // without labels and conclusion
	read   bool
	counts sessionCounts

	end         Cite      // the conclusion, or the last thought that holds
	concluded   time.Time // zero if there is no conclusion
	left        []Left
	changed     []Revised // conclusions that the session itself revises or rejects
	mentions    []mention
	assumed     []assumption
	problem     Cite
	head, whole []uint32 // stems of the problem; head is a part of whole
}

// list collects the headers.
func (c *corpus) list(ctx context.Context, e *sequent.Engine) error {
	for h, err := range e.AllSessions(ctx, sequent.Query{AllOwners: c.query.AllOwners, Project: c.query.Project}) {
		if err != nil {
			return err
		}
		if h.Labels[sequent.LabelDemo] != "" {
			continue
		}
		if _, ok := c.known[h.Key]; ok { // it changed while it was listed
			continue
		}
		h.Labels, h.Conclusion, h.Context = nil, "", sequent.Context{}
		c.known[h.Key] = len(c.sessions)
		c.byID[h.ID] = append(c.byID[h.ID], len(c.sessions))
		c.sessions = append(c.sessions, &session{header: h})
	}
	return nil
}

// focus finds the sessions that the query's text is about.
func (c *corpus) focus(ctx context.Context, e *sequent.Engine) error {
	if c.query.Text == "" {
		return nil
	}
	c.asked = make(map[sequent.Key]bool)
	q := sequent.SearchQuery{AllOwners: c.query.AllOwners, Project: c.query.Project, Text: c.query.Text, Limit: 1000}
	const maxPages = 20
	for range maxPages {
		found, err := e.Search(ctx, q)
		if err != nil {
			return err
		}
		if found.Partial { // a session with some of the words may be about anything
			c.notice = found.Notice()
			return nil
		}
		for _, h := range found.Hits {
			c.asked[h.Key] = true
		}
		if q.Cursor = found.Next; q.Cursor == "" {
			return nil
		}
	}
	c.notice = "The query finds more than 20,000 thoughts; the best of them were used."
	return nil
}

// read reads the sessions, one after the other.
func (c *corpus) read(ctx context.Context, e *sequent.Engine) error {
	for _, s := range c.sessions {
		if err := ctx.Err(); err != nil {
			return err
		}
		engine := e
		if s.header.Owner != "" && c.query.AllOwners {
			engine = e.Owned(s.header.Owner)
		}
		full, err := engine.Session(ctx, s.header.ID)
		switch {
		case errors.Is(err, sequent.ErrNotFound): // deleted just now
			continue
		case sequent.CodeOf(err) == sequent.CodeCorrupt:
			c.failed++
			continue
		case err != nil:
			return err
		}
		if full.Len() > 0 {
			c.take(s, full)
		}
	}
	if c.failed > 0 {
		c.notice = strings.TrimSpace(c.notice + fmt.Sprintf(" %d sessions are damaged and were left out; sequent verify --all names them.", c.failed))
	}
	return nil
}

// take takes from a session what is compared.
func (c *corpus) take(s *session, full *sequent.Session) {
	s.read = true
	standings := full.Standings()
	log := slices.Collect(full.All())
	s.header.State = full.State()
	s.counts = countSession(full, log)
	s.problem = cite(full, log[0], oneLine(full.Title()))
	s.head, s.whole = c.stems.problem(full.Title(), log[0].Text)
	s.end = c.ending(full, log, standings)
	if full.State() == sequent.Completed {
		s.concluded = log[len(log)-1].At
	}
	s.left = c.leftOf(full, log, standings)
	s.changed = changedIn(full, log, standings)
	c.scan(s, full, log, standings)
}

// ending returns how a session ended, or the last thought that holds.
func (c *corpus) ending(full *sequent.Session, log []sequent.Thought, standings []sequent.Standing) Cite {
	last := log[len(log)-1]
	if text := full.Conclusion(); text != "" {
		return cite(full, last, text)
	}
	if full.State() != sequent.Completed {
		last = lastHolding(log, standings)
	}
	return cite(full, last, last.Text)
}

// lastHolding returns the last thought that was not replaced.
func lastHolding(log []sequent.Thought, standings []sequent.Standing) sequent.Thought {
	for i := len(log) - 1; i >= 0; i-- {
		if standings[i].State != sequent.Superseded {
			return log[i]
		}
	}
	return log[len(log)-1]
}

// cite returns a citation of a thought.
func cite(s *sequent.Session, t sequent.Thought, text string) Cite {
	return Cite{
		Owner: s.Owner(), Session: s.ID(), Seq: t.Seq, Ref: s.Reference(t.Seq).String(),
		Text: brief.Lead(text, maxText), At: t.At,
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// scan takes what the texts of a session say about other sessions, and what they assume.
func (c *corpus) scan(s *session, full *sequent.Session, log []sequent.Thought, standings []sequent.Standing) {
	named := make(map[int]bool)
	look := func(t sequent.Thought, text, kind string, at time.Time) {
		all := brief.Sentences(text)
		for i, sentence := range all {
			next := ""
			if i+1 < len(all) {
				next = all[i+1]
			}
			for _, m := range c.mentionsIn(s, sentence, next) {
				m.kind, m.by = kind, cite(full, t, m.text)
				m.by.At = at
				if kind == BySession && standings[t.Seq-1].State == sequent.Superseded {
					m.how = "" // it was withdrawn itself
				}
				if kind == BySession && !named[t.Seq] {
					named[t.Seq] = true
					s.counts.recalls++
				}
				if m.how != "" && len(s.mentions) < maxKept {
					s.mentions = append(s.mentions, m)
				}
			}
			if kind != BySession {
				continue
			}
			if stems, ok := c.stems.assumption(sentence); ok && len(s.assumed) < maxKept {
				a := assumption{stems: stems, use: Use{cite(full, t, sentence), standings[t.Seq-1].State}}
				s.assumed = append(s.assumed, a)
			}
		}
	}
	for _, t := range log {
		look(t, t.Text, BySession, t.At)
	}
	last := log[len(log)-1]
	if text := full.Conclusion(); text != "" && text != last.Text {
		look(last, text, BySession, last.At)
	}
	for _, n := range full.Notes() {
		look(log[n.Seq-1], n.Text, ByNote, n.At)
	}
}

// about reports whether a finding about some sessions, whose latest part is of a time, is
// to be reported.
func (c *corpus) about(at time.Time, keys ...sequent.Key) bool {
	if at.Before(c.query.Since) {
		return false
	}
	return c.asked == nil || slices.ContainsFunc(keys, func(k sequent.Key) bool { return c.asked[k] })
}

func (ci *Cite) key() sequent.Key { return sequent.Key{Owner: ci.Owner, ID: ci.Session} }

package analysis

import (
	"context"
	"errors"
	"fmt"
	"iter"
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
	compared int // pairs of sessions or assumptions that share a word
}

// A session is what is kept of a session.
type session struct {
	header  sequent.Header // without labels and conclusion
	skipped bool           // it was deleted meanwhile, or is damaged

	end       Cite      // the conclusion, or the last thought that holds
	concluded time.Time // zero if there is no conclusion
	left      []Finding
	changed   []Finding // conclusions that the session itself revises or rejects
	unclear   []Finding
	mentions  []mention
	assumed   []assumption
	problem   Cite
	subject
}

func newCorpus(e *sequent.Engine, q Query) *corpus {
	return &corpus{query: q, now: e.Now(), stems: newStems(), known: make(map[sequent.Key]int), byID: make(map[sequent.ID][]int)}
}

// say adds a sentence to the notice.
func (c *corpus) say(format string, args ...any) {
	c.notice = strings.TrimSpace(c.notice + " " + fmt.Sprintf(format, args...))
}

// headers yields the sessions that the query is among. Sessions of the demo count only if there
// are no others.
func (c *corpus) headers(ctx context.Context, e *sequent.Engine) iter.Seq2[sequent.Header, error] {
	return func(yield func(sequent.Header, error) bool) {
		var demos []sequent.Header
		others := false
		for h, err := range e.AllSessions(ctx, sequent.Query{AllOwners: c.query.AllOwners, Project: c.query.Project}) {
			if err == nil && h.Labels[sequent.LabelDemo] != "" {
				demos = append(demos, h)
				continue
			}
			others = true
			if !yield(h, err) {
				return
			}
		}
		if others {
			return
		}
		for _, h := range demos {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// list collects the headers.
func (c *corpus) list(ctx context.Context, e *sequent.Engine) error {
	room := c.query.MaxBytes
	for h, err := range c.headers(ctx, e) {
		if err != nil {
			return err
		}
		if room -= h.Bytes; c.query.MaxBytes > 0 && room < 0 {
			c.say("Sessions before %s are left out: the later ones have %d MiB, which is as much as is read.", h.Updated.Format(time.DateOnly), c.query.MaxBytes>>20)
			break
		}
		c.add(h)
	}
	return nil
}

func (c *corpus) add(h sequent.Header) {
	if _, ok := c.known[h.Key]; ok { // it changed while it was listed
		return
	}
	c.known[h.Key] = len(c.sessions)
	c.byID[h.ID] = append(c.byID[h.ID], len(c.sessions))
	c.sessions = append(c.sessions, &session{header: slim(h)})
}

// slim returns a header without what is not compared.
func slim(h sequent.Header) sequent.Header {
	h.Labels, h.Conclusion, h.Origin = nil, "", sequent.Origin{}
	return h
}

// focus finds the sessions that the query's text is about.
func (c *corpus) focus(ctx context.Context, e *sequent.Engine) error {
	if c.query.Text == "" {
		return nil
	}
	const most = 1000
	c.asked = make(map[sequent.Key]bool)
	found, err := e.Search(ctx, sequent.SearchQuery{AllOwners: c.query.AllOwners, Project: c.query.Project, Text: c.query.Text, Limit: most})
	if err != nil {
		return err
	}
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
			s.skipped = true
			continue
		case sequent.CodeOf(err) == sequent.CodeCorrupt, err == nil && full.Fault() != nil:
			s.skipped = true
			c.failed++
			continue
		case err != nil:
			return err
		}
		if full.Len() > 0 {
			c.take(ctx, s, full)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	if c.failed > 0 {
		c.say("%d sessions are damaged and were left out; sequent store verify --all names them.", c.failed)
	}
	return nil
}

// take takes from a session what is compared.
func (c *corpus) take(ctx context.Context, s *session, full *sequent.Session) {
	standings := full.Standings()
	log := full.Thoughts()
	s.header = slim(full.Header())
	s.problem = cite(full, log[0], oneLine(full.Title()))
	s.subject = c.stems.subject(full.Title(), log[0].Text)
	last, came := ending(full, log, standings)
	s.end = cite(full, last, came)
	if full.State() == sequent.Completed {
		s.concluded = log[len(log)-1].At
	}
	s.left = c.leftOf(full, log, standings)
	s.changed = changedIn(full, log, standings)
	s.unclear = unclearIn(full, log)
	c.scan(ctx, s, full, log, standings)
}

// Ending returns the thought with which a session ended, or the last one that holds, and what it
// came to: the conclusion, or the text of that thought. The session must have thoughts.
func Ending(s *sequent.Session) (t sequent.Thought, text string) {
	return ending(s, s.Thoughts(), s.Standings())
}

func ending(s *sequent.Session, log []sequent.Thought, standings []sequent.Standing) (t sequent.Thought, text string) {
	t = log[len(log)-1]
	if text = s.Conclusion(); text != "" {
		return t, text
	}
	if s.State() != sequent.Completed {
		t = lastHolding(log, standings)
	}
	return t, t.Text
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

const (
	revised  = "revised"  // something else holds now
	rejected = "rejected" // it does not hold
	byNote   = " by a person"
)

// scan takes what the texts of a session say about other sessions, and what they assume.
func (c *corpus) scan(ctx context.Context, s *session, full *sequent.Session, log []sequent.Thought, standings []sequent.Standing) {
	look := func(t sequent.Thought, text, by string, at time.Time) {
		withdrawn := by != byNote && standings[t.Seq-1].State == sequent.Superseded
		all := append(brief.Sentences(text), "")
		for i, sentence := range all[:len(all)-1] {
			for target, how := range c.mentionsIn(s, sentence, all[i+1]) {
				if how != "" && !withdrawn && len(s.mentions) < maxKept {
					m := mention{target, Part{how + by, cite(full, t, sentence)}}
					m.by.At = at
					s.mentions = append(s.mentions, m)
				}
			}
			if a, ok := c.stems.assumption(sentence); ok && by != byNote && len(s.assumed) < maxKept {
				a.use = Part{"assumed", cite(full, t, sentence)}
				if st := standings[t.Seq-1].State; st != sequent.Current && st != sequent.Concluded {
					a.use.Says += ", now " + string(st)
				}
				s.assumed = append(s.assumed, a)
			}
		}
	}
	const bySession = " by a later session"
	for _, t := range log {
		if ctx.Err() != nil {
			return
		}
		look(t, t.Text, bySession, t.At)
	}
	last := log[len(log)-1]
	if text := full.Conclusion(); text != "" && text != last.Text {
		look(last, text, bySession, last.At)
	}
	for _, n := range full.Notes() {
		look(log[n.Seq-1], n.Text, byNote, n.At)
	}
}

// about reports whether the query selects a session that changed at a time.
func (c *corpus) about(at time.Time, k sequent.Key) bool {
	return !at.Before(c.query.Since) && (c.asked == nil || c.asked[k])
}

func (ci *Cite) key() sequent.Key { return sequent.Key{Owner: ci.Owner, ID: ci.Session} }

package analysis

import (
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
)

// TestJudgements checks sentences that were written before they were tried.
func TestJudgements(t *testing.T) {
	c := &corpus{byID: map[sequent.ID][]int{"7k3q9m2n4p5r": {0}, "pool": {1}}, sessions: []*session{
		{header: sequent.Header{Key: sequent.Key{ID: "7k3q9m2n4p5r"}}}, {header: sequent.Header{Key: sequent.Key{ID: "pool"}}},
	}}
	from := &session{header: sequent.Header{Key: sequent.Key{ID: "mine"}}}
	for text, want := range map[string]string{
		"7k3q9m2n4p5r was wrong.":                                                 rejected,
		"The conclusion of 7k3q9m2n4p5r does not hold any more.":                  rejected,
		"This supersedes 7k3q9m2n4p5r.":                                           revised,
		"We reject the decision in 7k3q9m2n4p5r: it costs too much.":              rejected,
		"Revising the plan of session pool, because the budget is smaller.":       revised,
		"sequent://sessions/7k3q9m2n4p5r is outdated.":                            revised,
		"`7k3q9m2n4p5r#4` has since been refuted by the profile.":                 rejected,
		"What 7k3q9m2n4p5r concluded was incorrect.":                              rejected,
		"See 7k3q9m2n4p5r. That was wrong.":                                       rejected,
		"Session 7k3q9m2n4p5r blamed the cache. It proved false in production.":   rejected,
		"The finding in 7k3q9m2n4p5r no longer applies since the move.":           rejected,
		"I hereby overturn 7k3q9m2n4p5r.":                                         rejected,
		"The new measurements contradict 7k3q9m2n4p5r.":                           rejected,
		"The decision of 7k3q9m2n4p5r was reversed in June.":                      revised,
		"7k3q9m2n4p5r looked at the wrong table first and found the cause later.": "",
		"As 7k3q9m2n4p5r says, the index was replaced in June.":                   "",
		"7k3q9m2n4p5r is right: the old plan was wrong.":                          "",
		"7k3q9m2n4p5r was never rejected.":                                        "",
		"Nothing in 7k3q9m2n4p5r was wrong.":                                      "",
		"Did we reject 7k3q9m2n4p5r?":                                             "",
		"We could revise 7k3q9m2n4p5r later.":                                     "",
		"Unless 7k3q9m2n4p5r is wrong, the pool is full.":                         "",
		"The pool is wrong.":                                                      "",
		"The reader of 7k3q9m2n4p5r was replaced by a faster one.":                "",
		"I replaced the pump, as 7k3q9m2n4p5r recommends.":                        "",
		"Before it was corrected, the clock was wrong; 7k3q9m2n4p5r explains it.": "",
		"7k3q9m2n4p5r found the cause. It was a wrong index.":                     "",
		"7k3q9m2n4p5r still stands.":                                              "",
		"In 7k3q9m2n4p5r a customer rejected the offer.":                          "",
		"Like 7k3q9m2n4p5r, this session corrects the totals of March.":           "",
		"The sum in 7k3q9m2n4p5r was wrong by one cent, which changes nothing.":   "",
		"To correct the totals, 7k3q9m2n4p5r replaced the script.":                "",
	} {
		how := ""
		all := append(brief.Sentences(text), "")
		for i, sentence := range all[:len(all)-1] {
			for _, says := range c.mentionsIn(from, sentence, all[i+1]) {
				how = says
			}
		}
		if how != want {
			t.Errorf("%q: %q, want %q", text, how, want)
		}
	}
}

// TestAssumptions checks what sentences assume.
func TestAssumptions(t *testing.T) {
	s := make(stems)
	same := func(a, b string) bool {
		x, ok := s.assumption(a)
		y, also := s.assumption(b)
		c := &corpus{sessions: []*session{{assumed: []assumption{x}}, {assumed: []assumption{y}}}}
		c.sessions[0].assumed[0].use.Session, c.sessions[1].assumed[0].use.Session = "a", "b"
		return ok && also && len(c.recurring(t.Context())) == 1
	}
	for _, pair := range [][2]string{
		{"I assume that the clocks of all hosts agree.", "Assuming clocks of all hosts agree, we can sort by time."},
		{"Assumption: every customer has one address.", "My assumption is that every customer has only one address."},
		{"Suppose the queue keeps the order of messages.", "We presume that the queue keeps messages in order."},
	} {
		if !same(pair[0], pair[1]) {
			t.Errorf("%q and %q are not the same", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{
		{"I assume that the clocks of all hosts agree.", "I assume that the clocks of all hosts do not agree."},
		{"Assume the queue keeps the order of messages.", "Assume the queue keeps 7 days of messages."},
		{"Assume a limit of 10 connections for each host.", "Assume a limit of 50 connections for each host."},
		{"I assume that the clocks of all hosts agree.", "Never assume that the clocks of all hosts agree."},
		{"I assume that the clocks of all hosts agree.", "The assumption that the clocks of all hosts agree was wrong."},
		{"I assume that the clocks of all hosts agree.", "Did we assume that the clocks of all hosts agree?"},
	} {
		if same(pair[0], pair[1]) {
			t.Errorf("%q and %q are the same", pair[0], pair[1])
		}
	}
}

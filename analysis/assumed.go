package analysis

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent/words"
)

// An assumption is a sentence that assumes something.
type assumption struct {
	stems assumed
	use   Use
}

// An assumed is what is assumed, for comparison.
type assumed struct {
	set     []uint32
	numbers string // those in it, in order
	negated bool
}

var (
	assuming  = set(`assume assumes assumed assuming assumption assumptions presume presumes presumed presuming presumably suppose supposes supposing`)
	leading   = set(`that here is was for now again still one two the a an i we it being as my our working key main`)
	failedTo  = set(`wrong false incorrect wrongly falsely mistaken mistakenly disproved refuted invalid invalidated failed broken nobody unfounded validated confirmed checked verified`)
	further   = set(`and but so then which because since hence therefore thus`)
	dontPrior = set(`not never don't cannot can't shouldn't mustn't without no longer stop avoid unlike former earlier old`)
)

// mayAssume reports whether a sentence can have a word of assuming.
func mayAssume(sentence string) bool {
	return strings.Contains(sentence, "ssum") || strings.Contains(sentence, "resum") || strings.Contains(sentence, "uppos")
}

// assumption returns what a sentence assumes, if it does.
func (s *stems) assumption(sentence string) (assumed, bool) {
	if strings.HasSuffix(sentence, "?") || !mayAssume(sentence) {
		return assumed{}, false
	}
	fields := strings.Fields(sentence)
	at := -1
	for i, f := range fields {
		word := bare(f)
		if failedTo[word] {
			return assumed{}, false // it says what became of one
		}
		if at < 0 && assuming[word] {
			for _, before := range fields[max(0, i-3):i] {
				if dontPrior[bare(before)] {
					return assumed{}, false
				}
			}
			at = i
		}
	}
	if at < 0 {
		return assumed{}, false
	}
	clause := fields[at+1:]
	for len(clause) > 0 && leading[bare(clause[0])] && bare(clause[0]) != "the" {
		clause = clause[1:]
	}
	// "Assuming the disk is full, the writer blocks": the rest is a consequence.
	if strings.HasSuffix(bare(fields[at]), "ing") || strings.HasPrefix(bare(fields[at]), "suppose") {
		if i := slices.IndexFunc(clause, func(f string) bool { return strings.HasSuffix(f, ",") }); i >= 2 {
			clause = clause[:i+1]
		}
	}
	// What follows is not assumed: "assume the disk is full: then the writer blocks".
	for i, f := range clause {
		ends := strings.HasSuffix(f, ":") || strings.HasSuffix(f, ";") ||
			strings.HasSuffix(f, ",") && i+1 < len(clause) && further[bare(clause[i+1])]
		if ends && i >= 2 {
			clause = clause[:i+1]
			break
		}
	}
	text := strings.Join(clause, " ")
	a := assumed{set: s.set(text, nil)}
	for _, f := range clause {
		if w := bare(f); negations[w] && w != "nothing" {
			a.negated = !a.negated
		}
	}
	for _, t := range words.Tokens(text) {
		if strings.IndexFunc(t, unicode.IsDigit) >= 0 {
			a.numbers += " " + t
		}
	}
	const least = 3 // content words: fewer match by chance
	return a, len(a.set) >= least
}

func bare(field string) string {
	return strings.ToLower(strings.Trim(field, ".,;:()[]{}\"'`*_!?“”—–"))
}

// same reports whether two assumptions say the same.
func (a *assumed) same(b *assumed) bool {
	if a.negated != b.negated || a.numbers != b.numbers {
		return false
	}
	n := common(a.set, b.set)
	const least, share = 3, 0.6
	return n >= least && float64(n) >= share*float64(len(a.set)+len(b.set)-n)
}

// maxPostings limits how many assumptions a word leads to: a more frequent one says
// little.
const maxPostings = 2000

// recurring returns the assumptions of more than one session.
func (c *corpus) recurring() []Recurring {
	type made struct {
		*assumption
		session int
	}
	var all []made
	postings := make(map[uint32][]int)
	for i, s := range c.sessions {
		for j := range s.assumed {
			for _, w := range s.assumed[j].stems.set {
				postings[w] = append(postings[w], len(all))
			}
			all = append(all, made{&s.assumed[j], i})
		}
	}
	groups := newGroups(len(all))
	for i, a := range all {
		seen := make(map[int]bool)
		for _, w := range a.stems.set {
			if len(postings[w]) > maxPostings {
				continue
			}
			for _, j := range postings[w] {
				if j < i && !seen[j] {
					seen[j] = true
					if a.stems.same(&all[j].stems) {
						groups.join(i, j)
					}
				}
			}
		}
	}
	var found []Recurring
	for _, members := range groups.all() {
		slices.SortFunc(members, func(i, j int) int { return all[i].use.At.Compare(all[j].use.At) })
		var r Recurring
		sessions := make(map[int]bool)
		for _, i := range members {
			if !sessions[all[i].session] {
				sessions[all[i].session] = true
				r.Uses = append(r.Uses, all[i].use)
			}
		}
		if len(r.Uses) > 1 && c.aboutUses(r.Uses) {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b Recurring) int {
		if d := len(b.Uses) - len(a.Uses); d != 0 {
			return d
		}
		return b.Uses[len(b.Uses)-1].At.Compare(a.Uses[len(a.Uses)-1].At)
	})
	return found
}

func (c *corpus) aboutUses(uses []Use) bool {
	return slices.ContainsFunc(uses, func(u Use) bool { return c.about(uses[len(uses)-1].At, u.key()) })
}

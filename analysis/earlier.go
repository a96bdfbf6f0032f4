package analysis

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/textsearch"
)

// quiet is how long a session that is not concluded must have been without a change before
// [Earlier] returns it: until then, another agent may be at work on it.
const quiet = 10 * time.Minute

// Limits of what [Earlier] looks at.
const (
	maxAsked      = 80  // words of a problem: it comes first, then what was found already
	maxSaid       = 150 // words of a session
	maxCandidates = 16  // sessions
	maxTerms      = 16  // words that are searched: each one makes it slower
	maxRanked     = 600 // thoughts that have one of them, the newest
)

// alikeEnough is the least likeness of two sessions on the same problem. It is fixed on two thirds of the
// problems in internal/judged/testdata/earlier.
const alikeEnough = 0.85

// usual are words that more than half of the sessions in internal/findings/testdata/recorded have.
var usual = words(`add adds added all back because both call calls called change changes changed check checks checked each end ends error
	errors every fix fixes fixed give gives given go goes inside instead keep keeps kept later line lines makes made must never next nothing
	once one only order over own path paths read reads return returns returned run runs running same second seconds set sets since stay stays
	take takes test tests tested time times today two without`)

// Earlier returns the session of e's owner on the same problem as text, the first thought of a
// session that is about to begin, or nil if no session is alike enough. It looks among the sessions of a project
// and those without one, or only among the latter if project is empty. It leaves out sessions that
// are cancelled, damaged, of the demo, or have a thought that a person disputes, and those that are
// not concluded and have changed within the last ten minutes.
//
// It costs one search and a short list, whatever the number of sessions. It compares words, and
// prefers to miss a session to returning one on another problem. What it compares does not count as
// used; see [sequent.Config].
func Earlier(ctx context.Context, e *sequent.Engine, project, text string) (*sequent.Session, error) {
	asked := problemOf(text)
	if len(asked) == 0 {
		return nil, nil
	}
	query := strings.Join(longest(asked, maxTerms), " ")
	found, err := e.Search(ctx, sequent.SearchQuery{
		Project: project, Text: query, Distinct: true, Limit: maxCandidates, Candidates: maxRanked,
	})
	if err != nil {
		return nil, err
	}
	if len(found.Hits) == 0 {
		return nil, nil
	}
	// Sessions that have none of the words show how rare these are, too. Many need not be counted.
	known := len(found.Hits)
	if known < maxCandidates {
		some, err := e.Sessions(ctx, sequent.Query{Project: project, Limit: maxCandidates})
		if err != nil {
			return nil, err
		}
		known = len(some.Headers)
	}
	stems := make(stems)
	var candidates []candidate
	for _, h := range found.Hits {
		s, err := e.Peek(ctx, h.Key.ID)
		if errors.Is(err, sequent.ErrNotFound) { // deleted just now
			continue
		}
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, candidate{s.ID(), stems.set(said(s)), offerable(s, project, e.Now())})
	}
	id := mostAlike(stems.set(asked), candidates, known)
	if id == "" {
		return nil, nil
	}
	return e.Peek(ctx, id)
}

// A candidate is a session that shares words with a problem. The session itself can be large.
type candidate struct {
	id    sequent.ID
	stems []uint32
	may   bool // be returned
}

// longest returns the longest n of some words. Long words are rare, so few thoughts have one of them.
func longest(words []string, n int) []string {
	words = slices.Compact(slices.SortedFunc(slices.Values(words), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	}))
	return words[:min(len(words), n)]
}

// problemOf returns the words with which a text says what the problem is, in order.
func problemOf(text string) []string {
	tokens := textsearch.Tokens(text)
	return content(tokens[:min(len(tokens), maxAsked)])
}

// said returns the words that a session is compared by: those of its problem, of its end and of what is between.
func said(s *sequent.Session) []string {
	log := s.Thoughts()
	_, end := Ending(s)
	tokens := textsearch.Tokens(log[0].Text)
	tokens = append(tokens[:min(len(tokens), maxAsked)], textsearch.Tokens(end)...)
	for i := 1; i < len(log)-1 && len(tokens) < maxSaid; i++ {
		tokens = append(tokens, textsearch.Tokens(log[i].Text)...)
	}
	return content(tokens[:min(len(tokens), maxSaid)])
}

// content returns those of the tokens that can tell a problem from others. Characters of scripts without
// spaces are joined in pairs, as in a search.
func content(tokens []string) (all []string) {
	for i, t := range tokens {
		if textsearch.Unspaced(t) {
			if i+1 < len(tokens) && textsearch.Unspaced(tokens[i+1]) && !(hiragana(t) && hiragana(tokens[i+1])) {
				all = append(all, t+tokens[i+1])
			}
			continue
		}
		short := len(t) < 2 || len(t) < 3 && strings.Trim(t, "0123456789") == ""
		if !short && !textsearch.IsFunctionWord(t) && !generic[t] && !usual[t] {
			all = append(all, t)
		}
	}
	return all
}

// hiragana reports whether a token is of the script of Japanese particles and word endings.
func hiragana(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return unicode.Is(unicode.Hiragana, r)
}

// mostAlike returns the session that is most like a problem, among those that may be returned; "" if none is
// enough like it. The others show which words are rare, also the known ones that have none of the words. What a
// session shares with the problem is compared with all that the problem says, but not in proportion: a longer text
// on the same problem shares hardly more words.
func mostAlike(problem []uint32, all []candidate, known int) (best sequent.ID) {
	rare := newRarity()
	rare.add(problem)
	for _, c := range all {
		rare.add(c.stems)
	}
	rare.texts = max(rare.texts, 1+known)
	_, whole := rare.shared(problem, problem)
	most := alikeEnough * math.Cbrt(whole)
	for _, c := range all {
		if n, alike := rare.shared(problem, c.stems); n >= minShared && alike >= most && c.may {
			best, most = c.id, alike
		}
	}
	return best
}

// offerable reports whether Earlier may return a session.
func offerable(s *sequent.Session, project string, now time.Time) bool {
	from := s.Origin().Project
	return (from == "" || from == project) && s.Fault() == nil && s.Label(sequent.LabelDemo) == "" && s.State() != sequent.Cancelled &&
		(s.State() == sequent.Completed || now.Sub(s.Updated()) >= quiet) &&
		!slices.ContainsFunc(s.Standings(), func(st sequent.Standing) bool { return st.State == sequent.Disputed })
}

package standard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/tool"
)

// A thinkReply is the reply of sequentialthinking, in the contract's order.
type thinkReply struct {
	Session  sequent.ID `json:"sessionId"`
	Number   int        `json:"thoughtNumber"`
	Total    int        `json:"totalThoughts"`
	Next     bool       `json:"nextThoughtNeeded"`
	Branches []string   `json:"branches"`
	Length   int        `json:"thoughtHistoryLength"`
	Branch   string     `json:"branchId,omitempty"`
	Line     string     `json:"line,omitempty"` // the main line's name, in a session with branches
	Replaces int        `json:"replaces,omitempty"`
	Later    []int      `json:"later,omitempty"`
	// Undecided and Unchecked are in the reply to the final thought.
	Undecided []string `json:"undecided,omitempty"`
	Unchecked []string `json:"unchecked,omitempty"`
	Notes     []string `json:"notes,omitempty"` // of people, since the previous thought
	Warnings  []string `json:"warnings,omitempty"`
}

// reply returns the reply for the step, which is the last thought of s. It depends only
// on s and the call, so that a repeated call gets the same reply.
func (st *step) reply(s *sequent.Session) tool.Reply {
	t, _ := s.Last()
	r := thinkReply{
		Session: s.ID(), Number: t.Number, Total: t.Total, Next: t.More,
		Branches: s.Branches(), Length: s.Len(), Branch: t.Branch,
		Warnings: st.warnings(s, t),
	}
	if len(r.Branches) > 0 && r.Branch == "" {
		r.Line = mainLine
	}
	if old, ok := s.At(t.Supersedes); ok {
		r.Replaces, r.Later = old.Number, resting(s, t, old)
	}
	if !t.More {
		r.Undecided, r.Unchecked = undecided(s, t.Branch), unchecked(s, t.Branch)
	}
	r.Notes = brief.Notes(s)
	return r.reply()
}

// reply is [tool.JSONReply] of r, which most replies need not: they are numbers
// and an id that we have made.
func (r *thinkReply) reply() tool.Reply {
	ours := func(c rune) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
	if len(r.Branches) > 0 || r.Replaces > 0 || len(r.Unchecked) > 0 || len(r.Notes) > 0 || len(r.Warnings) > 0 ||
		strings.ContainsFunc(string(r.Session), func(c rune) bool { return !ours(c) }) {
		return tool.JSONReply(r)
	}
	b := make([]byte, 0, 192)
	b = append(append(b, `{"sessionId":"`...), r.Session...)
	b = strconv.AppendInt(append(b, `","thoughtNumber":`...), int64(r.Number), 10)
	b = strconv.AppendInt(append(b, `,"totalThoughts":`...), int64(r.Total), 10)
	b = strconv.AppendBool(append(b, `,"nextThoughtNeeded":`...), r.Next)
	b = strconv.AppendInt(append(b, `,"branches":[],"thoughtHistoryLength":`...), int64(r.Length), 10)
	b = append(b, '}')
	return tool.Reply{Text: string(b), JSON: b}
}

// maxRises is the number of calls in a row that raise totalThoughts before a warning.
const maxRises = 10

// maxLook is how many thoughts are searched for the one that set totalThoughts, so that
// a call takes the same time in a long session.
const maxLook = 100

// warnings returns the warnings about a step that was accepted.
func (st *step) warnings(s *sequent.Session, t sequent.Thought) []string {
	var w []string
	warn := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	for r := range sequent.References(t.Labels[labelLeft]) {
		if r.Seq > 0 {
			warn("%s, %s, unfinished: pass its id to go on", r.Session, thoughts(r.Seq))
			break
		}
	}
	if len(st.unknown) > 0 {
		warn("unknown fields ignored: %s", strings.Join(st.unknown, ", "))
	}
	if t.Text == "" {
		warn("the thought is empty")
	}
	if p, ok := s.At(t.Seq - 1); ok && nearlySame(p.Text, t.Text) {
		warn("nearly the same as the previous thought (%d)", p.Number)
	}
	if was := st.outgrown(s, t); was > 0 {
		warn("totalThoughts raised from %d to %d, and follows the number from here: pass a new estimate if you have one", was, t.Total)
	}
	if st.Total != nil && onlyGrows(s, t.Seq) && !onlyGrows(s, t.Seq-1) {
		warn("totalThoughts grew in each of the last %d calls: come to a conclusion, or make an estimate that holds", maxRises)
	}
	if t.Branch == "" {
		return w
	}
	origin, ok := s.Origin(t.Branch)
	first := !begunBefore(s, t)
	switch {
	case first && st.From == nil && ok:
		warn("branch opened at thought %d, the latest", origin.Number)
	case first && st.From == nil:
		warn("branch opened without an origin")
	case !first && st.From != nil:
		if from, _ := s.Find(t.Branch, *st.From); from.Seq < origin.Seq {
			warn("branchFromThought ignored: the branch left at thought %d", origin.Number)
		}
	}
	return w
}

// begunBefore reports whether t is not the first thought of its branch.
func begunBefore(s *sequent.Session, t sequent.Thought) bool {
	before, ok := s.At(t.After)
	return ok && before.Branch == t.Branch
}

// outgrown returns the author's estimate that t, the last thought of s, is the first to
// exceed, or 0. A total that has been raised to the number is no estimate, so that a
// warning is given once.
func (st *step) outgrown(s *sequent.Session, t sequent.Thought) int {
	before, _ := s.At(t.Seq - 1)
	was := before.Total
	if st.Total != nil {
		was = *st.Total
	}
	if !t.More || t.Total != t.Number || was >= t.Number {
		return 0
	}
	first := before // with that total, if it is among the latest
	for range maxLook {
		earlier, ok := s.At(first.Seq - 1)
		if !ok || earlier.Total != before.Total {
			break
		}
		first = earlier
	}
	if first.Seq > 0 && first.Total == first.Number && was <= before.Total {
		return 0
	}
	return was
}

// onlyGrows reports whether each of the last thoughts up to seq raised the estimate.
func onlyGrows(s *sequent.Session, seq int) bool {
	if seq <= maxRises {
		return false
	}
	for i := range maxRises {
		t, _ := s.At(seq - i)
		if p, _ := s.At(seq - i - 1); t.Total <= p.Total {
			return false
		}
	}
	return true
}

// nearlySame reports whether two texts have 90 % of their words in common, or all words
// if they are short. It ignores case and white space.
func nearlySame(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == b {
		return strings.TrimSpace(a) != ""
	}
	if a == "" || len(b)-len(a) > 16+len(b)/4 {
		return false
	}
	var left, right [64]uint64
	x, y := appendWords(left[:0], a), appendWords(right[:0], b)
	most := max(len(x), len(y))
	if !mayShare(x, y, most) { // the usual case
		return false
	}
	slices.Sort(x)
	slices.Sort(y)
	shared := 0
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			shared++
			x, y = x[1:], y[1:]
		}
	}
	return most > 0 && shared*10 >= most*9
}

// mayShare reports whether both lists can have 90 % of most in common. It is a fast
// filter with false positives.
func mayShare(x, y []uint64, most int) bool {
	var seen [16]uint64 // a bit for each of 1,024 hash values
	for _, h := range y {
		seen[h>>6&15] |= 1 << (h & 63)
	}
	shared := 0
	for _, h := range x {
		shared += int(seen[h>>6&15] >> (h & 63) & 1)
	}
	return shared*10 >= most*9
}

// appendWords appends a hash of each word of a text in lower case. Comparing hashes
// avoids allocations in each call.
func appendWords(words []uint64, text string) []uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a, by runes
	var hash uint64
	inside := false
	for _, r := range text {
		space := r <= ' ' && (r == ' ' || '\t' <= r && r <= '\r')
		switch {
		case r >= utf8.RuneSelf:
			space, r = unicode.IsSpace(r), unicode.ToLower(r)
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		}
		switch {
		case space:
			if inside {
				words = append(words, hash)
			}
			inside = false
			continue
		case !inside:
			hash, inside = offset, true
		}
		hash = (hash ^ uint64(r)) * prime
	}
	if inside {
		words = append(words, hash)
	}
	return words
}

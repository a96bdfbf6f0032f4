package wiki

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A part is one of the five parts that a conclusion should have besides its links.
type part struct {
	name  string   // in labels, front matter and replies
	signs []string // words that name it, or the beginnings of such words
}

var parts = [...]part{
	{"synthesis", []string{
		"determine", "found", "finding", "conclu", "result", "summary", "synthes", "recommend", "decision", "decided",
		"outcome", "answer", "verdict", "cause", "in short", "turns out",
	}},
	{"compliance", []string{
		"instruct", "compli", "comply", "require", "constraint", "guideline", "brief", "followed the", "followed all", "as asked",
		"as requested", "was asked", "were asked", "adhered", "kept to", "stuck to", "✅", "✔", "✓", "❌", "✘", "✗",
	}},
	{"shortcuts", []string{
		"shortcut", "short cut", "hack", "corner", "workaround", "skip", "simplif", "omitted", "guess", "estimated", "assumed",
		"i took", "i did not", "not tested", "to save time", "quick and dirty", "only looked",
	}},
	{"risks", []string{
		"risk", "uncertain", "unclear", "unsure", "not sure", "unknown", "caveat", "limitation", "concern", "worry", "open question",
		"might", "may", "could", "untested", "unproven", "would", "if",
	}},
	{"sources", []string{
		"source", "reference", "evidence", "cited", "literature", "based on", "according to", "drew on", "relied on", "taken from", "see",
		"memory", "http",
	}},
}

// missing returns the names of the parts that a conclusion does not mention. It looks for a few
// English words: the result is advice and never a refusal. A sentence that mentions
// no part is taken for a finding.
func missing(conclusion string) (lacks []string) {
	text := []byte(conclusion)
	for _, l := range wikilink.Parse(text) { // the words of links are not the author's
		copy(text[l.Start:l.Stop], strings.Repeat("_", l.Stop-l.Start))
	}
	var has [len(parts)]bool
	for sentence := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
		words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool {
			return r != '_' && !unicode.In(r, unicode.L, unicode.N, unicode.So)
		})
		line, mentions := " "+strings.Join(words, " "), false
		for i, p := range parts {
			if slices.ContainsFunc(p.signs, func(sign string) bool { return strings.Contains(line, " "+sign) }) {
				has[i], mentions = true, true
			}
		}
		const finding = 5 // words
		has[0] = has[0] || !mentions && len(words) >= finding
	}
	for i, p := range parts {
		if !has[i] {
			lacks = append(lacks, p.name)
		}
	}
	return lacks
}

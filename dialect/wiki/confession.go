package wiki

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A part is one of the five parts that a conclusion should have besides its links.
type part int

const (
	synthesis  part = iota // what was found
	compliance             // which instructions were followed, and which were not
	shortcuts              // what was simplified or left out
	risks                  // what may be wrong
	sources                // what the conclusion rests on
	parts                  // the number of parts
)

// names names parts: for a label by their keys, for a model in a sentence.
func names(lacks []part, name func(part) string) string {
	var list []string
	for _, p := range lacks {
		list = append(list, name(p))
	}
	return strings.Join(list, ", ")
}

// String returns the part's name for a model.
func (p part) String() string {
	return [parts]string{
		"what was found", "compliance with the instructions", "shortcuts or hacks",
		"risks or uncertainties", "sources",
	}[p]
}

// key returns the part's name for labels and front matter.
func (p part) key() string {
	return [parts]string{"synthesis", "compliance", "shortcuts", "risks", "sources"}[p]
}

// signs are words that name a part, or the beginnings of such words.
var signs = [parts][]string{
	synthesis: {"determine", "found", "finding", "conclu", "result", "summary", "synthes", "recommend", "decision", "decided",
		"outcome", "answer", "verdict", "cause", "in short", "turns out"},
	compliance: {"instruct", "compli", "comply", "require", "constraint", "guideline", "brief", "followed the", "followed all", "as asked",
		"as requested", "was asked", "were asked", "adhered", "kept to", "stuck to", "✅", "✔", "✓", "❌", "✘", "✗"},
	shortcuts: {"shortcut", "short cut", "hack", "corner", "workaround", "skip", "simplif", "omitted", "guess", "estimated", "assumed",
		"i took", "i did not", "not tested", "to save time", "quick and dirty", "only looked"},
	risks: {"risk", "uncertain", "unclear", "unsure", "not sure", "unknown", "caveat", "limitation", "concern", "worry", "open question",
		"might", "may", "could", "untested", "unproven", "would", "if"},
	sources: {"source", "reference", "evidence", "cited", "literature", "based on", "according to", "drew on", "relied on", "taken from", "see",
		"memory", "http"},
}

// missing returns the parts that a conclusion does not mention. It looks for a few
// English words: the result is advice and never a refusal. A sentence that mentions
// no part is taken for a finding.
func missing(conclusion string) []part {
	text := []byte(conclusion)
	for _, l := range wikilink.Parse(text) { // the words of links are not the author's
		copy(text[l.Start:l.Stop], strings.Repeat("_", l.Stop-l.Start))
	}
	var has [parts]bool
	for sentence := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
		words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool {
			return r != '_' && !unicode.In(r, unicode.L, unicode.N, unicode.So)
		})
		line, mentions := " "+strings.Join(words, " "), false
		for p := range parts {
			if slices.ContainsFunc(signs[p], func(sign string) bool { return strings.Contains(line, " "+sign) }) {
				has[p], mentions = true, true
			}
		}
		const finding = 5 // words
		has[synthesis] = has[synthesis] || !mentions && len(words) >= finding
	}
	var lacks []part
	for p := range parts {
		if !has[p] {
			lacks = append(lacks, p)
		}
	}
	return lacks
}

package wiki

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// A part is one of what a conclusion should hold beside its links.
type part int

const (
	synthesis  part = iota // what was found
	compliance             // which instructions were followed, and which were not
	shortcuts              // what was made easy
	risks                  // what may be wrong
	sources                // where it comes from
	parts                  // how many there are
)

// String names the part as a model is told of it.
func (p part) String() string {
	return [parts]string{
		"what was found", "compliance with the instructions", "shortcuts or hacks",
		"risks or uncertainties", "sources",
	}[p]
}

// key names the part in labels and front matter.
func (p part) key() string {
	return [parts]string{"synthesis", "compliance", "shortcuts", "risks", "sources"}[p]
}

// missing returns the parts that a conclusion does not speak of. It looks for
// what people write, in whatever order: words, marks, headings and labels. It
// is a reader's guess and refuses nothing.
func (b *book) missing(conclusion string) []part {
	var has [parts]bool
	r := reader{book: b, has: &has, left: mostSentences, section: parts}
	for line := range strings.Lines(conclusion) {
		if r.left <= 0 {
			break
		}
		r.line(strings.TrimSpace(line))
	}
	var lacks []part
	for p := range parts {
		if !has[p] {
			lacks = append(lacks, p)
		}
	}
	return lacks
}

// mostSentences bounds what is read of a conclusion that is none.
const mostSentences = 1000

// A reader goes through a conclusion line by line.
type reader struct {
	book    *book
	has     *[parts]bool
	left    int  // sentences that it still looks at
	section part // that the last heading began; parts for none
}

var (
	bullet      = lazyregexp.New(`^(?:>\s*)*(?:[-*+•–]\s+|\(?\d{1,2}[.)]\s+)+`)
	checkbox    = lazyregexp.New(`^\[[ xX]\]\s`)
	heading     = lazyregexp.New(`^#{1,6}\s+(.+?)\s*#*$`)
	boldLine    = lazyregexp.New(`^(?:\*\*|__)([^*_]+)(?:\*\*|__):?$`)
	emphasis    = lazyregexp.New("\\*\\*|__|\\*|`")
	wikiLink    = lazyregexp.New(`!?\[\[[^\[\]]*\]\]`)
	noteURI     = lazyregexp.New(`(?i)\bmemory://\S+`)
	webURI      = lazyregexp.New(`(?i)\bhttps?://\S+`)
	sentenceEnd = lazyregexp.New(`(?:[.!?…]+["')\]]*|;)(?:\s+|$)`)
	labelled    = lazyregexp.New(`^[^\pL\d:]*([\pL\d][^:.!?;]{0,60}?)\s*[:：](?:\s|$)`)
	checkMark   = lazyregexp.New(`[✅✔☑❌✗✘✖☒✓]`)
)

// Stand-ins for what is no prose: a link's text must not be taken for words of
// the author's.
const (
	aLink = " \uE000 "
	aNote = " \uE001 "
	aPage = " \uE002 "
)

func (r *reader) line(line string) {
	if line == "" {
		return
	}
	checked := false
	line = bullet().ReplaceAllString(line, "")
	if checkbox().MatchString(line) {
		checked, line = true, line[len("[x]"):]
	}
	title := ""
	if m := heading().FindStringSubmatch(line); m != nil {
		title = m[1]
	} else if m := boldLine().FindStringSubmatch(line); m != nil {
		title = m[1]
	}
	line = wikiLink().ReplaceAllString(line, aLink)
	line = noteURI().ReplaceAllString(line, aNote)
	line = webURI().ReplaceAllString(line, aPage)
	if strings.ContainsAny(line, "\uE001\uE002") {
		r.has[sources] = true
	}
	line = strings.Join(strings.Fields(emphasis().ReplaceAllString(line, "")), " ")
	if title == "" && r.book.bareTitle(line) {
		title = line
	}
	if title != "" {
		r.left--
		r.section = r.book.titleOf(title)
		if r.section < parts {
			r.has[r.section] = true
		}
		return
	}
	if checked {
		r.has[compliance] = true
	}
	section := r.section // until a label begins another
	for len(line) > 0 && r.left > 0 {
		s := line
		if end := sentenceEnd().FindStringIndex(line); end != nil {
			s = line[:end[1]]
		}
		line = line[len(s):]
		if m := labelled().FindStringSubmatch(s); m != nil {
			if p := r.book.titleOf(m[1]); p < parts {
				section, s = p, s[len(m[0]):]
				r.has[p] = r.has[p] || p != synthesis || wordy(s, 1)
			}
		}
		r.sentence(s, section)
	}
}

// bareTitle reports whether a line is a heading without marks: a few words that
// name a part, and nothing after them.
func (b *book) bareTitle(line string) bool {
	if strings.ContainsAny(line, ".!;\uE000\uE001\uE002✅✔☑❌✗✘✖☒✓") {
		return false
	}
	if before, after, ok := strings.Cut(line, ":"); ok {
		if strings.TrimSpace(after) != "" {
			return false
		}
		line = before
	}
	return len(strings.Fields(line)) <= 6 && b.titleOf(line) < parts
}

// sentence notes what a sentence speaks of.
func (r *reader) sentence(s string, section part) {
	r.left--
	spoken := false
	for p := compliance; p < parts; p++ {
		if !(r.has[p] && r.has[synthesis]) && r.book.speaks(p, s) {
			spoken, r.has[p] = true, true
		}
	}
	lower := strings.ToLower(s)
	switch {
	case r.has[synthesis], synthesis < section && section < parts, r.book.ends.in(s, lower):
	case r.book.concludes.in(s, lower), !spoken && wordy(s, 5):
		r.has[synthesis] = true
	}
}

// wordy reports whether a text has at least n words, links among them.
func wordy(s string, n int) bool {
	words := 0
	for f := range strings.FieldsSeq(s) {
		if strings.ContainsFunc(f, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '\uE000' }) {
			words++
		}
		// Where words are not parted by spaces, letters are counted.
		if han := strings.Count(f, "") - 1; han >= 2*n && strings.ContainsFunc(f, spaceless) {
			return true
		}
	}
	return words >= n
}

func spaceless(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// speaks reports whether a sentence speaks of a part.
func (b *book) speaks(p part, s string) bool {
	if p == compliance && checkMark().MatchString(s) {
		return true
	}
	lower := strings.ToLower(s)
	return slices.ContainsFunc(b.phrases[p], func(w phrase) bool { return w.in(s, lower) })
}

// titleOf returns the part that a heading or label names; parts if none.
func (b *book) titleOf(title string) part {
	lower := strings.ToLower(title)
	for _, p := range []part{sources, compliance, shortcuts, risks, synthesis} {
		if b.titles[p].in(title, lower) {
			return p
		}
	}
	return parts
}

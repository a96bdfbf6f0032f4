package wiki

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
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
func missing(conclusion string) []part {
	var has [parts]bool
	r := reader{has: &has}
	for line := range strings.Lines(conclusion) {
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

// A reader goes through a conclusion line by line.
type reader struct {
	has     *[parts]bool
	section part // that the last heading began; parts if none, or none that is known
	inside  bool // some heading began one
}

var (
	bullet    = regexp.MustCompile(`^(?:>\s*)*(?:[-*+•–]\s+|\(?\d{1,2}[.)]\s+)+`)
	checkbox  = regexp.MustCompile(`^\[[ xX]\]\s`)
	heading   = regexp.MustCompile(`^#{1,6}\s+(.+?)\s*#*$`)
	boldLine  = regexp.MustCompile(`^(?:\*\*|__)([^*_]+)(?:\*\*|__):?$`)
	emphasis  = regexp.MustCompile("\\*\\*|__|\\*|`")
	wikiLink  = regexp.MustCompile(`!?\[\[[^\[\]]*\]\]`)
	noteURI   = regexp.MustCompile(`(?i)\bmemory://\S+`)
	webURI    = regexp.MustCompile(`(?i)\bhttps?://\S+`)
	sentences = regexp.MustCompile(`(?:[.!?…]+["')\]]*|;)(?:\s+|$)`)
	labelled  = regexp.MustCompile(`^[^\pL\d:]*([\pL\d][^:.!?;]{0,60}?)\s*[:：](?:\s|$)`)
	checkMark = regexp.MustCompile(`[✅✔☑❌✗✘✖☒✓]`)
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
	line = bullet.ReplaceAllString(line, "")
	if checkbox.MatchString(line) {
		checked, line = true, line[len("[x]"):]
	}
	title := ""
	if m := heading.FindStringSubmatch(line); m != nil {
		title = m[1]
	} else if m := boldLine.FindStringSubmatch(line); m != nil {
		title = m[1]
	}
	line = wikiLink.ReplaceAllString(line, aLink)
	line = noteURI.ReplaceAllString(line, aNote)
	line = webURI.ReplaceAllString(line, aPage)
	if strings.ContainsAny(line, "\uE001\uE002") {
		r.has[sources] = true
	}
	line = strings.Join(strings.Fields(emphasis.ReplaceAllString(line, "")), " ")
	if title == "" && bareTitle(line) {
		title = line
	}
	if title != "" {
		r.section, r.inside = titleOf(title), true
		r.found(r.section)
		return
	}
	if checked {
		r.has[compliance] = true
	}
	section, inside := r.section, r.inside
	for _, s := range split(line) {
		if m := labelled.FindStringSubmatch(s); m != nil {
			if p := titleOf(m[1]); p < parts {
				section, inside = p, true
				r.found(p)
				if p == synthesis && !wordy(s[len(m[0]):], 1) {
					r.has[p] = r.section == p && r.inside
				}
				r.sentence(s[len(m[0]):], section, inside)
				continue
			}
		}
		r.sentence(s, section, inside)
	}
}

func (r *reader) found(p part) {
	if p < parts {
		r.has[p] = true
	}
}

// bareTitle reports whether a line is a heading without marks: a few words that
// name a part, and nothing after them.
func bareTitle(line string) bool {
	if strings.ContainsAny(line, ".!;\uE000\uE001\uE002✅✔☑❌✗✘✖☒✓") {
		return false
	}
	if before, after, ok := strings.Cut(line, ":"); ok {
		if strings.TrimSpace(after) != "" {
			return false
		}
		line = before
	}
	return len(strings.Fields(line)) <= 6 && titleOf(line) < parts
}

// split cuts a line into sentences.
func split(line string) []string {
	var list []string
	for _, at := range sentences.FindAllStringIndex(line, -1) {
		list = append(list, line[:at[1]])
	}
	for i := len(list) - 1; i > 0; i-- {
		list[i] = list[i][len(list[i-1]):]
	}
	whole := 0
	for _, s := range list {
		whole += len(s)
	}
	if rest := line[whole:]; strings.TrimSpace(rest) != "" {
		list = append(list, rest)
	}
	return list
}

// sentence notes what a sentence speaks of.
func (r *reader) sentence(s string, section part, inside bool) {
	spoken := false
	for p := compliance; p < parts; p++ {
		if !speaks(p, s) {
			continue
		}
		spoken = true
		r.has[p] = true
	}
	switch {
	case inside && section != synthesis && section < parts:
	case says(concludes, s) && !says(ends, s):
		r.has[synthesis] = true
	case !spoken && wordy(s, 5) && !says(ends, s):
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

// A phrase is what people write, but for the same words in another sense.
type phrase struct {
	is, not *regexp.Regexp
}

func words(is, not string) phrase {
	w := phrase{is: regexp.MustCompile(`(?i)` + is)}
	if not != "" {
		w.not = regexp.MustCompile(`(?i)` + not)
	}
	return w
}

// says reports whether a text holds the phrase in its sense.
func says(w phrase, s string) bool {
	if w.not != nil {
		s = w.not.ReplaceAllString(s, " ")
	}
	return w.is.MatchString(s)
}

// speaks reports whether a sentence speaks of a part.
func speaks(p part, s string) bool {
	if p == compliance && checkMark.MatchString(s) {
		return true
	}
	return slices.ContainsFunc(phrases[p], func(w phrase) bool { return says(w, s) })
}

// titleOf returns the part that a heading or label names; parts if none.
func titleOf(title string) part {
	for _, p := range []part{sources, compliance, shortcuts, risks, synthesis} {
		if says(titles[p], title) {
			return p
		}
	}
	return parts
}

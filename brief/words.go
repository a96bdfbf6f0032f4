package brief

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/findings"
)

// Name returns how a brief names a thought: #9, or name#9 on a branch. Numbers repeat
// across lines, so a number alone could mean several thoughts.
func Name(t sequent.Thought) string {
	return fmt.Sprintf("%s#%d", short(t.Branch), t.Number)
}

// Label returns how a brief names a line of a session.
func Label(label string) string {
	if label == "" {
		return "main"
	}
	return short(label)
}

// short truncates the label of a branch, which is repeated for every thought.
func short(label string) string {
	const most = 40 // characters
	if utf8.RuneCountInString(label) <= most {
		return label
	}
	return string([]rune(label)[:most-1]) + "…"
}

// Note returns what a person said about a thought, in one line.
func Note(t sequent.Thought, n sequent.Note) string {
	return Name(t) + " " + strings.Join(strings.Fields(findings.Noted(n)), " ")
}

// Notes returns what people said between the last two thoughts of a session, a line each.
// It depends on the log alone.
func Notes(s *sequent.Session) (notes []string) {
	for _, n := range s.Notes() {
		if t, ok := s.At(n.Seq); ok && n.After == s.Len()-1 {
			notes = append(notes, Note(t, n))
		}
	}
	return notes
}

// Beside returns the lines of [Notes] as a text for a model, which is beside the reply to
// the last thought; nil if there are none.
func Beside(s *sequent.Session) []string {
	notes := Notes(s)
	if notes == nil {
		return nil
	}
	return []string{"Notes on your thoughts:\n" + strings.Join(notes, "\n")}
}

// mark says what a thought does to another, and whether it holds: " (replaces #4)".
func (w *writer) mark(t sequent.Thought) string {
	var marks []string
	if t.Supersedes > 0 {
		marks = append(marks, "replaces "+Name(w.log[t.Supersedes-1]))
	} else if t.Revision {
		marks = append(marks, "revision")
	}
	switch st := w.Standings[t.Seq-1]; st.State {
	case sequent.Superseded:
		marks = append(marks, "replaced by "+Name(w.log[st.By-1]))
	case sequent.Disputed, sequent.OnRejected, sequent.OnUndecided:
		marks = append(marks, string(st.State))
	}
	if t.Final && t.Seq < len(w.log) {
		marks = append(marks, "final")
	}
	if len(marks) == 0 {
		return ""
	}
	return " (" + strings.Join(marks, ", ") + ")"
}

// list returns the names of the thoughts of a log for which has is true; three or more in a row are a range.
func list(log []sequent.Thought, has func(*sequent.Thought) bool) string {
	var thoughts []*sequent.Thought
	for i := range log {
		if t := &log[i]; has(t) {
			thoughts = append(thoughts, t)
		}
	}
	var names []string
	for i := 0; i < len(thoughts); {
		n := i + 1
		for n < len(thoughts) && thoughts[n].Branch == thoughts[i].Branch && thoughts[n].Number == thoughts[n-1].Number+1 {
			n++
		}
		if n-i > 2 {
			names = append(names, Name(*thoughts[i])+"–"+Name(*thoughts[n-1]))
		} else {
			for _, t := range thoughts[i:n] {
				names = append(names, Name(*t))
			}
		}
		i = n
	}
	return strings.Join(names, ", ")
}

// names reports whether a text has a label as a word of its own.
func names(text, label string) bool {
	const least = 3 // characters: shorter labels are words of another meaning too often
	if utf8.RuneCountInString(label) < least {
		return false
	}
	for rest := text; ; {
		i := strings.Index(rest, label)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(rest[:i])
		after, _ := utf8.DecodeRuneInString(rest[i+len(label):])
		if !wordRune(before) && !wordRune(after) {
			return true
		}
		rest = rest[i+len(label):]
	}
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// Sentences splits a text after the periods, question and exclamation marks that end a
// sentence, and at line breaks. White space becomes single spaces.
func Sentences(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		for line != "" {
			n := clauseEnd(line[:sentenceEnd(line[:min(len(line), longestSentence+utf8.UTFMax+1)])])
			all = append(all, line[:n])
			line = strings.TrimLeft(line[n:], " ")
		}
	}
	return all
}

// sentenceEnd returns the length of the first sentence of a line.
func sentenceEnd(line string) int {
	for i, r := range line {
		switch r {
		case '。', '！', '？':
			return i + utf8.RuneLen(r)
		case '.', '!', '?':
		default:
			continue
		}
		end := i + 1
		for end < len(line) && strings.ContainsRune(`)"'`, rune(line[end])) {
			end++
		}
		if end == len(line) {
			return end
		}
		if line[end] != ' ' {
			continue
		}
		next, _ := utf8.DecodeRuneInString(line[end+1:])
		if !unicode.IsLower(next) { // not after e.g. or in the middle of a command
			return end
		}
	}
	return len(line)
}

// longestSentence is the number of bytes beyond which a sentence is divided.
const longestSentence = 300

// clauseEnd returns the length of the first part of a sentence: all of it unless it is
// long, otherwise up to the last semicolon, comma or colon, or word, that fits.
func clauseEnd(sentence string) int {
	const most = longestSentence
	if len(sentence) <= most {
		return len(sentence)
	}
	for _, end := range []string{"; ", ": ", ", ", " "} {
		if i := strings.LastIndex(sentence[:most], end); i > most/3 {
			return i + len(end) - 1
		}
	}
	n := most
	for !utf8.RuneStart(sentence[n]) {
		n--
	}
	return n
}

// Lead returns the beginning of a text in at most the given number of bytes, on one
// line: its first sentences, and words of the next one if they alone say too little.
func Lead(text string, bytes int) string {
	said := ""
	for i, s := range Sentences(text) {
		if i > 0 {
			s = said + " " + s
		}
		switch {
		case len(s)+len(gap) <= bytes:
			said = s
		case len(said) > bytes/2:
			return said + gap
		default:
			return cutWords(s, bytes)
		}
	}
	return said
}

// cutWords truncates a text to a number of bytes behind a word.
func cutWords(s string, bytes int) string {
	n := max(bytes-len(gap), 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if i := strings.LastIndexByte(s[:n], ' '); i > n/2 {
		n = i
	}
	return s[:n] + gap
}

// parts returns the sentences of a text and its blocks of code. A block is one part, in lines of
// its own, as it was written.
func parts(text string) (all []string) {
	var code, prose strings.Builder
	fence := "" // that the block began with; empty in prose and in indented code
	flush := func() {
		all = append(all, Sentences(prose.String())...)
		prose.Reset()
		if code.Len() > 0 {
			all = append(all, "\n"+strings.TrimRight(code.String(), "\n")+"\n")
			code.Reset()
		}
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		mark := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`~"))]
		switch {
		case fence != "":
			code.WriteString(line)
			if strings.HasPrefix(mark, fence) && mark == trimmed {
				flush()
				fence = ""
			}
		case len(mark) >= 3 && !strings.Contains(trimmed[len(mark):], "`"):
			flush()
			fence = mark
			code.WriteString(line)
		case trimmed != "" && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")):
			if code.Len() == 0 {
				flush()
			}
			code.WriteString(line)
		default:
			if code.Len() > 0 {
				flush()
			}
			prose.WriteString(line)
		}
	}
	flush()
	return all
}

// isCode reports whether a part of a text is a block of code.
func isCode(part string) bool { return strings.HasPrefix(part, "\n") }

// leastSaid is the number of bytes of a text that says something.
const leastSaid = 40

// lead joins the first sentences until they say something: "Fix A." alone does not.
func lead(all []string) []string {
	n, length := 0, 0
	for n < len(all) && !isCode(all[n]) && length < leastSaid {
		length += len(all[n]) + 1
		n++
	}
	if n < 2 {
		return all
	}
	return append([]string{strings.Join(all[:n], " ")}, all[n:]...)
}

// Asks reports whether a sentence is a question.
func Asks(sentence string) bool {
	end := strings.TrimRight(sentence, `)"'*_ `)
	return strings.HasSuffix(end, "?") || strings.HasSuffix(end, "？")
}

// answered joins each question with the sentence that follows it. Many questions in a row are
// divided like a long sentence.
func answered(all []string) (joined []string) {
	for _, s := range all {
		last := len(joined) - 1
		if last >= 0 && Asks(joined[last]) && len(joined[last]) <= longestSentence && !isCode(s) {
			joined[last] += " " + s
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

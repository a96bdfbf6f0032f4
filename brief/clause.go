package brief

import (
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// labels match what authors put before a conclusion: "**Conclusion:**", "Answer, in order of gain.", "1) ".
var labels = lazyregexp.New(`(?i)^(?:[\s#*_>-]*(?:(?:(?:final|review|overall|rating and) +)?` +
	`(?:answer|conclusions?|decision|design|findings?|outcome|plan|proposal|recommendations?|report|results?|summary|tl;dr|verdict)` +
	`(?:(?:,| by| for| in| of)[^.:(\n]{0,60})?[*_]*(?:[.:]+[*_]*\s|\s*\n)|\(?\d{1,2}[.)]\s)\s*)+`)

// Clause returns what a conclusion says first, in at most the given number of bytes, on one line: without the
// labels before it, and up to the end of a clause if the sentence does not fit.
func Clause(text string, bytes int) string {
	said := labels().ReplaceAllString(text, "")
	if strings.TrimSpace(said) == "" {
		said = text
	}
	all := Sentences(said)
	if len(all) == 0 || len(all[0]) <= bytes {
		return Lead(said, bytes)
	}
	room := all[0][:max(bytes-len(gap), 0)]
	for _, end := range []string{"; ", ": ", ", ", " ("} {
		if i := strings.LastIndex(room, end); i > len(room)*2/3 {
			return room[:i] + gap
		}
	}
	return cutWords(all[0], bytes)
}

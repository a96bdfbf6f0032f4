package words

import (
	"strings"
	"unicode/utf8"
)

// FTS5 returns q in the language of SQLite's FTS5, as a filter on the named
// columns that lets every match of q pass and little more; a [Matcher] decides.
// The tokens in it are quoted: nothing that was typed is taken for syntax.
func (q Query) FTS5(columns string) string {
	var b strings.Builder
	b.WriteString("{" + columns + "} : ((")
	for i, t := range q.wanted {
		if i > 0 {
			b.WriteString(" AND ")
		}
		s, _ := t.fts5()
		b.WriteString(s)
	}
	b.WriteByte(')')
	for _, t := range q.unwanted {
		if s, exact := t.fts5(); exact {
			b.WriteString(" NOT " + s)
		}
	}
	b.WriteByte(')')
	return b.String()
}

// FTS5 returns t like [Query.FTS5] does.
func (t Term) FTS5(columns string) string {
	s, _ := t.fts5()
	return "{" + columns + "} : " + s
}

// fts5 returns the phrase, and whether it lets no more than t pass. A very
// short beginning after other tokens is left out, because the index would
// have to go through all the words that begin so.
func (t Term) fts5() (phrase string, exact bool) {
	tokens, star := t.Tokens, ""
	if t.Prefix {
		last := len(tokens) - 1
		if utf8.RuneCountInString(tokens[last]) < minPrefix {
			return `"` + strings.Join(tokens[:last], " ") + `"`, false
		}
		star = " *"
	}
	return `"` + strings.Join(tokens, " ") + `"` + star, true
}

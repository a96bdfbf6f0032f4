package words

import (
	"strings"
	"unicode/utf8"
)

// FTS5 returns q as a query of SQLite's FTS5 on the named columns, separated by
// spaces, which must contain the result of [AppendTokens]. Every match of q passes
// it, and few other documents do; a [Matcher] decides. Its tokens are quoted, so that
// no text of a user is parsed as syntax.
func (q Query) FTS5(columns string) string {
	var b strings.Builder
	b.WriteString("{" + columns + "} : ((")
	and := " AND "
	if q.partial {
		and = " OR "
	}
	for i, t := range q.wanted {
		if i > 0 {
			b.WriteString(and)
		}
		s, _ := t.fts5()
		b.WriteString(s)
	}
	b.WriteByte(')')
	for _, t := range q.unwanted {
		t.Quoted = true
		if s, exact := t.fts5(); exact {
			b.WriteString(" NOT " + s)
		}
	}
	b.WriteByte(')')
	return b.String()
}

// FTS5 returns t alone, as [Query.FTS5] does.
func (t Term) FTS5(columns string) string {
	s, _ := t.fts5()
	return "{" + columns + "} : " + s
}

// fts5 returns the phrases, and whether only matches of t pass it. It omits a short
// prefix after other tokens, because the index would read all words with it.
func (t Term) fts5() (phrases string, exact bool) {
	tokens, star := t.Tokens, ""
	if t.Prefix {
		last := len(tokens) - 1
		if utf8.RuneCountInString(tokens[last]) < minPrefix {
			return `"` + strings.Join(tokens[:last], " ") + `"`, false
		}
		star = " *"
	}
	var b strings.Builder
	before := strings.Join(tokens[:len(tokens)-1], " ")
	for i, last := range t.forms() {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteString(`"` + strings.TrimPrefix(before+" "+last, " ") + `"` + star)
	}
	return "(" + b.String() + ")", true
}

package words

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a tsvector, below those of PostgreSQL.
const (
	maxLexeme    = 2000    // bytes of a word
	maxPlaces    = 250     // positions of one word
	maxPosition  = 16_000  // words in a text
	maxTSVector  = 600_000 // bytes
	betweenParts = 2       // positions between parts, so that phrases do not extend over them
)

// TSVector returns the words of a document's parts in the text form of PostgreSQL's
// tsvector, and their number. It returns false if the document has more than 16,000
// words, 250 occurrences of a word or about 600 kB: a tsvector of it would miss
// phrases.
func TSVector(parts ...string) (vector string, length int, ok bool) {
	places := make(map[string][]int)
	size, place := 0, 0
	ok = true
	for _, part := range parts {
		for _, token := range Tokens(part) {
			length++
			place++
			size += 6
			if len(places[token]) == 0 {
				size += len(token) + 8
			}
			ok = ok && len(token) <= maxLexeme && len(places[token]) < maxPlaces && place < maxPosition && size < maxTSVector
			if ok {
				places[token] = append(places[token], place)
			}
		}
		place += betweenParts
	}
	if !ok {
		return "", length, false
	}
	var b strings.Builder
	for token, at := range places {
		b.WriteString(lexeme(token))
		for i, n := range at {
			if i == 0 {
				b.WriteByte(':')
			} else {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(n))
		}
		b.WriteByte(' ')
	}
	return b.String(), length, true
}

// TSQuery returns q as a PostgreSQL tsquery on the result of [TSVector]. Every match
// of q passes it, and few other documents do; a [Matcher] decides. It returns false
// if no TSVector can match.
func (q Query) TSQuery() (query string, ok bool) {
	var wanted []string
	for _, t := range q.wanted {
		s, ok := t.TSQuery()
		if ok {
			wanted = append(wanted, s)
		} else if !q.partial {
			return "", false
		}
	}
	if len(wanted) == 0 {
		return "", false
	}
	and := " & "
	if q.partial {
		and = " | "
	}
	var b strings.Builder
	b.WriteString("(" + strings.Join(wanted, and) + ")")
	for _, t := range q.unwanted {
		t.Quoted = true
		if s, exact, ok := t.tsquery(); ok && exact {
			b.WriteString(" & !" + s)
		}
	}
	return b.String(), true
}

// TSQuery returns t alone, as [Query.TSQuery] does.
func (t Term) TSQuery() (query string, ok bool) {
	query, _, ok = t.tsquery()
	return query, ok
}

// tsquery also returns whether only matches of t pass the phrase.
func (t Term) tsquery() (phrase string, exact, ok bool) {
	tokens, star := t.Tokens, ""
	if t.Prefix {
		star = ":*"
		last := len(tokens) - 1
		if utf8.RuneCountInString(tokens[last]) < minPrefix && last > 0 {
			tokens, star = tokens[:last], ""
		}
	}
	quoted := make([]string, len(tokens))
	for i, token := range tokens {
		if len(token) > maxLexeme {
			return "", false, false
		}
		quoted[i] = lexeme(token)
	}
	if len(tokens) == len(t.Tokens) {
		var forms []string
		for _, form := range t.forms() {
			forms = append(forms, lexeme(form)+star)
		}
		quoted[len(tokens)-1] = "(" + strings.Join(forms, " | ") + ")"
	}
	return "(" + strings.Join(quoted, " <-> ") + ")", len(tokens) == len(t.Tokens), true
}

var quoting = strings.NewReplacer(`'`, `''`, `\`, `\\`)

// lexeme returns a word in the syntax of tsvector and tsquery.
func lexeme(token string) string { return "'" + quoting.Replace(token) + "'" }

package words

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a query.
const (
	maxQuery  = 4096 // bytes
	maxTerms  = 64
	minPrefix = 3 // letters before a *; fewer match too many words to rank
)

// A Query is a parsed query. A document matches if every wanted term occurs in it,
// or any of them if the query is partial, and no unwanted term does. The zero Query
// matches nothing.
type Query struct {
	wanted, unwanted []Term
	partial          bool
}

// A Term is a word or a phrase: one or more consecutive tokens. A wanted term also
// matches the [Forms] of its last token, unless it is quoted or a prefix.
type Term struct {
	Tokens []string
	Prefix bool // the last token is the beginning of a word
	Quoted bool // it was in quotation marks
}

// An Error is the error for text that is not a valid query, or for a cursor of
// another query.
type Error struct {
	Msg string // what is wrong
	Fix string // what to do instead
}

// Error returns the message and the fix.
func (e *Error) Error() string { return e.Msg + ": " + e.Fix }

// Wanted returns the terms that must occur. The caller must not modify them.
func (q Query) Wanted() []Term { return q.wanted }

// Unwanted returns the terms that must not occur. The caller must not modify them.
func (q Query) Unwanted() []Term { return q.unwanted }

// String returns q in the query language. Queries that differ only in spelling have
// the same form.
func (q Query) String() string {
	var b strings.Builder
	write := func(sign string, terms []Term) {
		for _, t := range terms {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(sign + t.String())
		}
	}
	write("", q.wanted)
	write("-", q.unwanted)
	return b.String()
}

// String returns t in the query language.
func (t Term) String() string {
	switch {
	case t.Quoted:
		return `"` + strings.Join(t.Tokens, " ") + `"`
	case t.Prefix:
		return strings.Join(t.Tokens, "-") + "*"
	}
	return strings.Join(t.Tokens, "-") // the hyphens join the tokens of one word
}

// forms returns the last token of t, and its inflections if t matches them.
func (t Term) forms() []string {
	last := t.Tokens[len(t.Tokens)-1]
	if t.Quoted || t.Prefix {
		return []string{last}
	}
	return Forms(last)
}

// Parse parses a query: words that must all occur, "quoted phrases", prefix* with
// at least 3 letters, and -excluded words or -"phrases". Everything else is ordinary
// text. A word of several tokens, such as well-known, is a phrase.
//
// Text must have at most 4096 bytes and 64 terms, at least one of them wanted. The
// error is an *[Error].
func Parse(text string) (Query, error) {
	if len(text) > maxQuery {
		return Query{}, &Error{
			Msg: fmt.Sprintf("the query has %d bytes, the limit is %d", len(text), maxQuery),
			Fix: "search for fewer words",
		}
	}
	var q Query
	for rest := text; ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			break
		}
		var t Term
		var minus bool
		var err error
		if t, minus, rest, err = parseTerm(rest); err != nil {
			return Query{}, err
		}
		into := &q.wanted
		if minus {
			into = &q.unwanted
		}
		if len(t.Tokens) == 0 {
			continue
		}
		if i := slices.IndexFunc(*into, t.equal); i >= 0 {
			(*into)[i].Quoted = (*into)[i].Quoted || t.Quoted
		} else {
			*into = append(*into, t)
		}
	}
	return q, q.check()
}

func (q Query) check() error {
	switch {
	case len(q.wanted) == 0 && len(q.unwanted) > 0:
		return &Error{
			Msg: "the query only says what to leave out",
			Fix: "write at least one word to look for",
		}
	case len(q.wanted) == 0:
		return &Error{
			Msg: "the query holds no word",
			Fix: "write at least one word of letters or digits",
		}
	case len(q.wanted)+len(q.unwanted) > maxTerms:
		return &Error{
			Msg: fmt.Sprintf("the query has %d terms, the limit is %d", len(q.wanted)+len(q.unwanted), maxTerms),
			Fix: "search for fewer words",
		}
	}
	for _, no := range q.unwanted {
		for _, yes := range q.wanted {
			if no.within(yes) {
				return &Error{
					Msg: fmt.Sprintf("nothing can match: %s is asked for and %s left out", yes, no),
					Fix: "drop one of the two",
				}
			}
		}
	}
	return nil
}

// parseTerm parses the term at the beginning of s, which is not empty.
func parseTerm(s string) (t Term, minus bool, rest string, err error) {
	if after, ok := strings.CutPrefix(s, "-"); ok {
		if r, _ := utf8.DecodeRuneInString(after); after != "" && r != '-' && !unicode.IsSpace(r) {
			s, minus = after, true
		}
	}
	if r, size := utf8.DecodeRuneInString(s); isQuote(r) {
		inside := s[size:]
		end := strings.IndexFunc(inside, isQuote)
		if end < 0 { // an unclosed quotation reaches to the end
			return Term{Tokens: Tokens(inside), Quoted: true}, minus, "", nil
		}
		_, size := utf8.DecodeRuneInString(inside[end:])
		return Term{Tokens: Tokens(inside[:end]), Quoted: true}, minus, inside[end+size:], nil
	}
	word := s
	if end := strings.IndexFunc(s, func(r rune) bool { return isQuote(r) || unicode.IsSpace(r) }); end >= 0 {
		word = s[:end]
	}
	rest = s[len(word):]
	t.Tokens = Tokens(word)
	if !strings.HasSuffix(strings.TrimRight(word, ".,;:!?)"), "*") || len(t.Tokens) == 0 {
		return t, minus, rest, nil
	}
	last := t.Tokens[len(t.Tokens)-1]
	if first, _ := utf8.DecodeRuneInString(last); kindOf(first) == single {
		return t, minus, rest, nil // such a character is a whole word
	}
	if utf8.RuneCountInString(strings.Join(t.Tokens, "")) < minPrefix {
		return t, minus, rest, &Error{
			Msg: fmt.Sprintf("%s* is too short", last),
			Fix: fmt.Sprintf("write at least %d letters or digits before the *", minPrefix),
		}
	}
	t.Prefix = true
	return t, minus, rest, nil
}

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

func (t Term) equal(o Term) bool { return t.Prefix == o.Prefix && slices.Equal(t.Tokens, o.Tokens) }

// within reports whether every text that matches o matches t.
func (t Term) within(o Term) bool {
	n := len(t.Tokens)
	for i := 0; i+n <= len(o.Tokens); i++ {
		part, atEnd := o.Tokens[i:i+n], i+n == len(o.Tokens)
		if !slices.Equal(part[:n-1], t.Tokens[:n-1]) {
			continue
		}
		switch have, ask := part[n-1], t.Tokens[n-1]; {
		case t.Prefix && strings.HasPrefix(have, ask):
			return true
		case !t.Prefix && have == ask && !(atEnd && o.Prefix):
			return true
		}
	}
	return false
}

package textsearch

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

// A Query is a parsed query. A document matches if it has at least one wanted term, all
// quoted ones among them, and no unwanted term. The zero Query matches nothing.
type Query struct {
	wanted, unwanted []Term
}

// A Term is what a query asks for: a word in singular or plural, a pair of neighbouring
// characters in a script without spaces, the beginning of a word, or a quoted phrase.
type Term struct {
	Tokens []string // consecutive
	Prefix bool     // the token is the beginning of a word
	Quoted bool     // the words as they are written; a match must have them
}

// An Error is the error for text that is not a valid query, or for a cursor of
// another query.
type Error struct {
	Msg string // what is wrong
	Fix string // what to do instead
}

// Error returns the message and the fix.
func (e *Error) Error() string { return e.Msg + ": " + e.Fix }

// Wanted returns the terms of which a match has one. The caller must not modify them.
func (q Query) Wanted() []Term { return q.wanted }

// Unwanted returns the terms that a match does not have. The caller must not modify them.
func (q Query) Unwanted() []Term { return q.unwanted }

// Query returns the query for t alone.
func (t Term) Query() Query { return Query{wanted: []Term{t}} }

// String returns q in the query language. Queries that ask for the same in another
// spelling have the same form.
func (q Query) String() string {
	var all []string
	for _, t := range q.wanted {
		all = append(all, t.String())
	}
	for _, t := range q.unwanted {
		all = append(all, "-"+t.String())
	}
	return strings.Join(all, " ")
}

// String returns t in the query language.
func (t Term) String() string {
	switch {
	case t.Quoted:
		return `"` + strings.Join(t.Tokens, " ") + `"`
	case t.Prefix:
		return t.Tokens[0] + "*"
	}
	return strings.Join(t.Tokens, "-") // the hyphen keeps marks apart that would compose
}

// IsWord reports whether t matches the singular and the plural of a word.
func (t Term) IsWord() bool { return !t.Quoted && !t.Prefix && len(t.Tokens) == 1 }

func (t Term) equal(o Term) bool {
	return t.Prefix == o.Prefix && t.Quoted == o.Quoted && (slices.Equal(t.Tokens, o.Tokens) ||
		t.IsWord() && o.IsWord() && Stem(t.Tokens[0]) == Stem(o.Tokens[0]))
}

// Parse parses a query: words, of which a match needs one, "quoted phrases", which it
// needs, prefix* with at least 3 letters, and -excluded words and -"phrases", which it
// must not have. Everything else is ordinary text. English function words and Japanese
// particles and endings in Hiragana count only in a query of nothing else. A word of
// several tokens, such as well-known, is that many words; the * of one is part of its
// last word, and ignored if that is short or the word is excluded.
//
// Text must have at most 4096 bytes, and a term that is wanted; only the first 64 terms of
// each kind count. The error is an *[Error].
func Parse(text string) (Query, error) {
	if len(text) > maxQuery {
		return Query{}, &Error{fmt.Sprintf("the query has %d bytes, the limit is %d", len(text), maxQuery), "search for fewer words"}
	}
	var q Query
	var little []Term // words that say little
	for rest := strings.TrimLeftFunc(text, unicode.IsSpace); rest != ""; rest = strings.TrimLeftFunc(rest, unicode.IsSpace) {
		var t Term
		var minus bool
		t, minus, rest = parseTerm(rest)
		switch {
		case len(t.Tokens) == 0:
		case minus:
			if len(t.Tokens) > 1 {
				t.Quoted, t.Prefix = true, false
			}
			q.unwanted = appendNew(q.unwanted, t)
		case t.Quoted:
			q.wanted = appendNew(q.wanted, t)
		default:
			for _, part := range t.parts() {
				if part.saysLittle() {
					little = appendNew(little, part)
				} else {
					q.wanted = appendNew(q.wanted, part)
				}
			}
		}
	}
	if len(q.wanted) == 0 {
		q.wanted = little
	}
	if len(q.wanted) == 0 {
		return Query{}, &Error{"the query asks for no word", "write at least one word of letters or digits to look for"}
	}
	return q, nil
}

func appendNew(list []Term, t Term) []Term {
	if len(list) < maxTerms && !slices.ContainsFunc(list, t.equal) {
		list = append(list, t)
	}
	return list
}

// parseTerm parses the term at the beginning of s, which is not empty.
func parseTerm(s string) (t Term, minus bool, rest string) {
	if after, ok := strings.CutPrefix(s, "-"); ok {
		if r, _ := utf8.DecodeRuneInString(after); after != "" && r != '-' && !unicode.IsSpace(r) {
			s, minus = after, true
		}
	}
	if r, size := utf8.DecodeRuneInString(s); isQuote(r) {
		inside := s[size:]
		end := strings.IndexFunc(inside, isQuote)
		if end < 0 { // an unclosed quotation reaches to the end
			return Term{Tokens: Tokens(inside), Quoted: true}, minus, ""
		}
		_, size := utf8.DecodeRuneInString(inside[end:])
		return Term{Tokens: Tokens(inside[:end]), Quoted: true}, minus, inside[end+size:]
	}
	word := s
	if end := strings.IndexFunc(s, func(r rune) bool { return isQuote(r) || unicode.IsSpace(r) }); end >= 0 {
		word = s[:end]
	}
	t.Tokens = Tokens(word)
	n := len(t.Tokens)
	t.Prefix = n > 0 && strings.HasSuffix(strings.TrimRight(word, ".,;:!?)"), "*") && isPrefix(t.Tokens[n-1])
	return t, minus, s[len(word):]
}

// isPrefix reports whether a token with a * stands for the words that begin with it.
func isPrefix(token string) bool {
	return !Unspaced(token) && utf8.RuneCountInString(token) >= minPrefix
}

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

// parts divides the tokens of t into words. In scripts without spaces these are all
// pairs of neighbouring characters: most words of Chinese and Japanese have two
// characters, and a longer word has more pairs in common with a match.
func (t Term) parts() []Term {
	var out []Term
	last := len(t.Tokens) - 1
	for i, token := range t.Tokens {
		part := Term{Tokens: t.Tokens[i : i+1]}
		switch {
		case !Unspaced(token):
			part.Prefix = t.Prefix && i == last
		case i < last && Unspaced(t.Tokens[i+1]):
			part.Tokens = t.Tokens[i : i+2]
		case i > 0 && Unspaced(t.Tokens[i-1]): // in the pair before
			continue
		}
		out = append(out, part)
	}
	return out
}

// saysLittle reports whether t is a function word, or Hiragana alone: the script of
// Japanese particles and word endings.
func (t Term) saysLittle() bool {
	if t.IsWord() && IsFunctionWord(t.Tokens[0]) {
		return true
	}
	return !slices.ContainsFunc(t.Tokens, func(token string) bool {
		r, _ := utf8.DecodeRuneInString(token)
		return r < 'ぁ' || r > 'ゟ'
	})
}

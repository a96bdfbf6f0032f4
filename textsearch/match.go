package textsearch

import (
	"bytes"
	"slices"
	"strings"
)

// A matcher counts the terms of a query in texts. It reads each text once and reuses its
// memory. A word occurs where an index has its stem: at a token that is the stem, or
// that has it.
type matcher struct {
	words    map[string][]int // stem → terms
	prefixes map[string]int   // → term
	known    map[string][]int // token of a text → words and prefixes; a cache
	phrases  []phrase
	first    [256]bool // first bytes of words and prefixes; stems do not differ in it
	counts   []int     // of each term, wanted ones first

	// Of the current text, if there are phrases:
	line   []byte  // the tokens, with a space before each and after the last
	places []Range // of the tokens
}

// A phrase is a term of several tokens, or a quoted one.
type phrase struct {
	term   int
	tokens int
	line   []byte // as in a matcher
}

func newMatcher(q Query) *matcher {
	m := &matcher{words: make(map[string][]int), prefixes: make(map[string]int), known: make(map[string][]int)}
	for i, t := range slices.Concat(q.wanted, q.unwanted) {
		switch {
		case t.IsWord():
			m.words[Stem(t.Tokens[0])] = append(m.words[Stem(t.Tokens[0])], i)
		case t.Prefix:
			m.prefixes[t.Tokens[0]] = i
		default:
			m.phrases = append(m.phrases, phrase{i, len(t.Tokens), []byte(" " + strings.Join(t.Tokens, " ") + " ")})
			continue
		}
		m.first[t.Tokens[0][0]] = true
	}
	m.counts = make([]int, len(q.wanted)+len(q.unwanted))
	return m
}

// scan adds the occurrences of terms in text to m.counts and returns the number of tokens
// in text. It calls found with the term and the place of each.
func (m *matcher) scan(text string, found func(term int, at Range)) (length int) {
	m.line, m.places = append(m.line[:0], ' '), m.places[:0]
	sc := newScanner(text)
	for ; sc.next(); length++ {
		at := Range{sc.start, sc.end}
		if len(m.phrases) > 0 {
			m.line = append(append(m.line, sc.token...), ' ')
			m.places = append(m.places, at)
		}
		if !m.first[sc.token[0]] {
			continue
		}
		terms, ok := m.known[string(sc.token)]
		if !ok {
			terms = m.terms(string(sc.token))
		}
		for _, i := range terms {
			m.counts[i]++
			found(i, at)
		}
	}
	for _, p := range m.phrases {
		token, rest := 0, m.line // rest begins with the space before a token
		for i := bytes.Index(rest, p.line); i >= 0; i = bytes.Index(rest, p.line) {
			token += bytes.Count(rest[:i], []byte(" "))
			m.counts[p.term]++
			found(p.term, Range{m.places[token].Start, m.places[token+p.tokens-1].End})
			token, rest = token+p.tokens, rest[i+len(p.line)-1:]
		}
	}
	return length
}

// maxKnown limits the cache of tokens.
const maxKnown = 10_000

// terms returns the words and prefixes that occur where token does.
func (m *matcher) terms(token string) []int {
	terms := m.words[token]
	stem := Stem(token)
	if stem != token {
		terms = slices.Concat(terms, m.words[stem])
	}
	for p, i := range m.prefixes {
		if strings.HasPrefix(token, p) || strings.HasPrefix(stem, p) {
			terms = append(slices.Clip(terms), i)
		}
	}
	if len(m.known) < maxKnown {
		m.known[token] = terms
	}
	return terms
}

// A Range is a part of a text: text[Start:End], in bytes.
type Range struct{ Start, End int }

// ranges returns the occurrences of wanted terms of q in text, in order and without
// overlaps, even if the whole query does not match. The text must be in composed form.
func (q Query) ranges(text string) []Range {
	var all []Range
	newMatcher(q).scan(text, func(term int, at Range) {
		if term < len(q.wanted) {
			all = append(all, at)
		}
	})
	slices.SortFunc(all, func(a, b Range) int { return a.Start - b.Start })
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && r.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, r.End)
		} else {
			out = append(out, r)
		}
	}
	return out
}

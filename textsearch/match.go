package textsearch

import (
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
	first    [256]bool // first bytes of the query's tokens; stems do not differ in it
	counts   []int     // of each term, wanted ones first
	begins   []int     // positions of the current text's tokens
}

// A phrase is a term of several tokens, or a quoted one. Its occurrences are found with
// the algorithm of Knuth, Morris and Pratt, so that no text takes quadratic time.
type phrase struct {
	term   int
	tokens []string
	border []int // of the first i tokens: the length of the longest proper prefix that is a suffix
	have   int   // tokens at the current position
}

func newMatcher(q Query) *matcher {
	m := &matcher{words: make(map[string][]int), prefixes: make(map[string]int), known: make(map[string][]int)}
	for i, t := range slices.Concat(q.wanted, q.unwanted) {
		m.first[t.Tokens[0][0]] = true
		switch {
		case t.IsWord():
			m.words[Stem(t.Tokens[0])] = append(m.words[Stem(t.Tokens[0])], i)
		case t.Prefix:
			m.prefixes[t.Tokens[0]] = i
		default:
			p := phrase{term: i, tokens: t.Tokens, border: make([]int, 2, len(t.Tokens)+1)}
			for j := 1; j < len(t.Tokens); j++ {
				m.first[t.Tokens[j][0]] = true
				k := p.border[j]
				for k > 0 && t.Tokens[j] != t.Tokens[k] {
					k = p.border[k]
				}
				if t.Tokens[j] == t.Tokens[k] {
					k++
				}
				p.border = append(p.border, k)
			}
			m.phrases = append(m.phrases, p)
		}
	}
	m.counts = make([]int, len(q.wanted)+len(q.unwanted))
	return m
}

// scan adds the occurrences of terms in text to m.counts and returns the number of tokens
// in text. It calls found, if that is not nil, with the term and the place of each.
func (m *matcher) scan(text string, found func(term int, at Range)) (length int) {
	for i := range m.phrases {
		m.phrases[i].have = 0
	}
	m.begins = m.begins[:0]
	hit := func(term, begin, end int) {
		m.counts[term]++
		if found != nil {
			found(term, Range{begin, end})
		}
	}
	sc := newScanner(text)
	for ; sc.next(); length++ {
		if found != nil {
			m.begins = append(m.begins, sc.start)
		}
		if !m.first[sc.token[0]] {
			for i := range m.phrases {
				m.phrases[i].have = 0
			}
			continue
		}
		terms, ok := m.known[string(sc.token)]
		if !ok {
			terms = m.terms(string(sc.token))
		}
		for _, i := range terms {
			hit(i, sc.start, sc.end)
		}
		for i := range m.phrases {
			if p := &m.phrases[i]; p.next(sc.token) {
				begin := sc.start
				if found != nil {
					begin = m.begins[length+1-len(p.tokens)]
				}
				hit(p.term, begin, sc.end)
			}
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

// next moves on by a token, and reports whether the phrase ends with it.
func (p *phrase) next(token []byte) bool {
	if p.have == len(p.tokens) {
		p.have = p.border[p.have]
	}
	for p.have > 0 && p.tokens[p.have] != string(token) {
		p.have = p.border[p.have]
	}
	if p.tokens[p.have] == string(token) {
		p.have++
	}
	return p.have == len(p.tokens)
}

// A Range is a part of a text: text[Start:End], in bytes.
type Range struct{ Start, End int }

// ranges returns the occurrences of wanted terms of q in text, in order and without
// overlaps, even if the whole query does not match. The text must be in composed form.
func (q Query) ranges(text string) []Range {
	if len(q.wanted) == 0 {
		return nil
	}
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

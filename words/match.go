package words

import (
	"slices"
	"strings"
)

// A Matcher matches documents against a query. It reuses its memory and is not safe
// for concurrent use.
type Matcher struct {
	terms    []matchTerm
	wanted   int              // number of wanted terms; they come first
	partial  bool             // one wanted term is enough
	exact    map[string][]int // token → indexes into found
	prefixes []prefix
	first    [256]bool // first bytes of the query's tokens
	found    [][]place // positions of each token of the query in the text
	counts   []int
	sc       scanner
}

type matchTerm struct{ tokens []int } // indexes into Matcher.found

type prefix struct {
	text  string
	index int
}

// A place is the position of a token, in tokens and in bytes.
type place struct{ pos, start, end int }

// A Range is a part of a text: text[Start:End], in bytes.
type Range struct{ Start, End int }

// NewMatcher returns a Matcher for q.
func NewMatcher(q Query) *Matcher {
	m := &Matcher{exact: make(map[string][]int), wanted: len(q.wanted), partial: q.partial}
	places := make(map[string]int) // forms, with spaces between them → index into found
	for i, t := range slices.Concat(q.wanted, q.unwanted) {
		t.Quoted = t.Quoted || i >= len(q.wanted)
		var mt matchTerm
		last := len(t.Tokens) - 1
		for _, tok := range t.Tokens[:last] {
			mt.tokens = append(mt.tokens, m.index(places, false, tok))
		}
		mt.tokens = append(mt.tokens, m.index(places, t.Prefix, t.forms()...))
		m.terms = append(m.terms, mt)
	}
	m.counts = make([]int, len(q.wanted))
	return m
}

// index returns the index into found for the positions of any of the forms.
func (m *Matcher) index(places map[string]int, isPrefix bool, forms ...string) int {
	key := strings.Join(forms, " ")
	if i, ok := places[key]; ok && !isPrefix {
		return i
	}
	n := len(m.found)
	m.found = append(m.found, nil)
	for _, tok := range forms {
		m.first[tok[0]] = true
		if isPrefix {
			m.prefixes = append(m.prefixes, prefix{tok, n})
		} else {
			m.exact[tok] = append(m.exact[tok], n)
			places[key] = n
		}
	}
	return n
}

// Match reports whether a document matches the query. Counts are the occurrences of
// each wanted term, valid until the next call; length is the number of tokens. The
// parts of a document, such as text and note of a thought, count together, but a
// phrase does not extend over two parts.
func (m *Matcher) Match(parts ...string) (counts []int, length int, ok bool) {
	for i := range m.found {
		m.found[i] = m.found[i][:0]
	}
	for _, part := range parts {
		length += m.scan(part, length)
		length++ // a gap, so that no phrase crosses it
	}
	length -= len(parts)
	have, excluded := 0, false
	for i, t := range m.terms {
		n := 0
		m.each(t, func(place, place) { n++ })
		if i < m.wanted {
			m.counts[i] = n
		}
		switch {
		case n == 0:
		case i < m.wanted:
			have++
		default:
			excluded = true
		}
	}
	return m.counts, length, !excluded && have > 0 && (have == m.wanted || m.partial)
}

// scan records the positions of the query's tokens in text, counted from base, and
// returns the number of tokens in the text.
func (m *Matcher) scan(text string, base int) int {
	n := 0
	for m.sc.reset(text); m.sc.next(); n++ {
		if !m.first[m.sc.token[0]] {
			continue
		}
		for _, i := range m.exact[string(m.sc.token)] {
			m.found[i] = append(m.found[i], place{base + n, m.sc.start, m.sc.end})
		}
		for _, p := range m.prefixes {
			if len(m.sc.token) >= len(p.text) && string(m.sc.token[:len(p.text)]) == p.text {
				m.found[p.index] = append(m.found[p.index], place{base + n, m.sc.start, m.sc.end})
			}
		}
	}
	return n
}

// each calls f with the first and the last token of each occurrence of t.
func (m *Matcher) each(t matchTerm, f func(first, last place)) {
occurrences:
	for _, first := range m.found[t.tokens[0]] {
		last := first
		for i, tok := range t.tokens[1:] {
			at, ok := slices.BinarySearchFunc(m.found[tok], first.pos+i+1, func(p place, pos int) int { return p.pos - pos })
			if !ok {
				continue occurrences
			}
			last = m.found[tok][at]
		}
		f(first, last)
	}
}

// Ranges returns the occurrences of wanted terms in text, in order and without
// overlaps, even if the whole query does not match.
func (m *Matcher) Ranges(text string) []Range {
	for i := range m.found {
		m.found[i] = m.found[i][:0]
	}
	m.scan(text, 0)
	var all []Range
	for _, t := range m.terms[:m.wanted] {
		m.each(t, func(first, last place) { all = append(all, Range{first.start, last.end}) })
	}
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

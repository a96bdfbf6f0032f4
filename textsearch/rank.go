package textsearch

import (
	"cmp"
	"math"
	"slices"
)

// MaxCandidates is the maximum number of documents that a search ranks.
const MaxCandidates = 2000

// The usual constants of BM25, which SQLite's FTS5 uses too.
const (
	saturation = 1.2  // k1: how soon further occurrences of a word stop to count
	lengthBias = 0.75 // b: how much the length of a document counts against it
)

// A Ranking orders the documents that match a query: those with more different words of
// the query first, then by BM25, then as they were added, which is the newest first. It
// ranks the first [MaxCandidates] of them, those with all words before others. What is
// rare, for BM25, is rare among these. It holds no texts, and is not safe for concurrent
// use.
type Ranking struct {
	query   Query
	matcher *matcher
	all     []candidate // with all words
	some    []candidate
	known   map[int64]bool
}

type candidate struct {
	Match
	group  int64
	length int
	counts []int // of each wanted term
}

// A Match is a document that matches a query.
type Match struct {
	ID int64
	// Score orders matches; higher is better. It is at least Words and less than Words+1.
	Score float64
	Words int  // number of different words of the query in the document
	All   bool // the document has all words of the query
}

// Rank returns an empty Ranking for q.
func (q Query) Rank() *Ranking {
	return &Ranking{query: q, matcher: newMatcher(q), known: make(map[int64]bool)}
}

// Add adds a document, of which a part, such as the text and the note of a thought, is
// one of texts: no phrase extends over two of them. It reports whether the document
// matches. Documents are added newest first, in one pass, or in two for those with all
// words and for all; a document that is there already is ignored. Of a group of documents
// only the best match counts; those of group 0 are in none.
func (r *Ranking) Add(group, id int64, texts ...string) bool {
	if r.known[id] {
		return true
	}
	m := r.matcher
	clear(m.counts)
	length := 0
	for _, text := range texts {
		length += m.scan(text, func(int, Range) {})
	}
	wanted := len(r.query.wanted)
	n := 0
	for i, count := range m.counts[:wanted] {
		if count > 0 {
			n++
		} else if r.query.wanted[i].Quoted {
			return false
		}
	}
	if n == 0 || slices.ContainsFunc(m.counts[wanted:], func(n int) bool { return n > 0 }) {
		return false
	}
	list := &r.some
	if n == wanted {
		list = &r.all
	}
	if len(*list) < MaxCandidates {
		r.known[id] = true
		*list = append(*list, candidate{Match{id, 0, n, n == wanted}, group, length, slices.Clone(m.counts[:wanted])})
	}
	return true
}

// Len returns the number of documents that r ranks, at most [MaxCandidates].
func (r *Ranking) Len() int { return min(len(r.all)+len(r.some), MaxCandidates) }

// Partial reports whether there are matches, but none that has all words.
func (r *Ranking) Partial() bool { return len(r.all) == 0 && len(r.some) > 0 }

// Best returns at most limit matches from the position offset on, best first, and whether there are
// more.
func (r *Ranking) Best(offset, limit int) (page []Match, more bool) {
	found := slices.Concat(r.all, r.some)[:r.Len()]
	docs, tokens := float64(len(found)), 0.0
	with := make([]float64, len(r.query.wanted)) // documents with each term
	for _, c := range found {
		tokens += float64(c.length)
		for i, n := range c.counts {
			if n > 0 {
				with[i]++
			}
		}
	}
	for j := range found {
		c := &found[j]
		damping := saturation * (1 - lengthBias + lengthBias*float64(c.length)*docs/tokens)
		bm25 := 0.0
		for i, n := range c.counts {
			rarity := math.Log(1 + (docs-with[i]+0.5)/(with[i]+0.5))
			bm25 += rarity * float64(n) * (saturation + 1) / (float64(n) + damping)
		}
		c.Score = float64(c.Words) + bm25/(1+bm25)
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.Score, a.Score) })
	seen := make(map[int64]bool)
	found = slices.DeleteFunc(found, func(c candidate) bool {
		again := seen[c.group]
		seen[c.group] = c.group != 0
		return again
	})
	found = found[min(max(offset, 0), len(found)):]
	limit = min(max(limit, 0), len(found))
	for _, c := range found[:limit] {
		page = append(page, c.Match)
	}
	return page, limit < len(found)
}

package words

import "math"

// The usual constants of BM25, which SQLite's FTS5 uses too.
const (
	saturation = 1.2  // k1: how soon further occurrences of a word stop to count
	lengthBias = 0.75 // b: how much the length of a document counts against it
)

// A Corpus has the statistics of all documents, from which scores are computed. The
// cursor of a page contains it, so that scores are comparable between pages.
type Corpus struct {
	Docs    int64   `json:"d"`          // number of documents
	Tokens  int64   `json:"t"`          // number of tokens in all documents
	Hits    []int64 `json:"h"`          // number of documents with each wanted term
	Partial bool    `json:"p,omitzero"` // the query is partial
}

// NewCorpus returns an empty Corpus for q.
func NewCorpus(q Query) Corpus {
	return Corpus{Hits: make([]int64, len(q.wanted)), Partial: q.partial}
}

// Add counts a document. Counts and length are results of [Matcher.Match].
func (c *Corpus) Add(counts []int, length int) {
	c.Docs++
	c.Tokens += int64(length)
	for i, n := range counts {
		if n > 0 {
			c.Hits[i]++
		}
	}
}

// Score returns the BM25 score of a matching document; higher is better. Counts and
// length are results of [Matcher.Match]. A word that most documents contain adds next
// to nothing, but never a negative value. Scores are finite.
//
// If the query is partial, a document with more of the terms has the higher score,
// however rare and frequent they are: each term adds more than the highest possible
// BM25 score.
func (c *Corpus) Score(counts []int, length int) float64 {
	mean := 1.0
	if c.Docs > 0 && c.Tokens > 0 {
		mean = float64(c.Tokens) / float64(c.Docs)
	}
	damping := saturation * (1 - lengthBias + lengthBias*float64(length)/mean)
	score, best, have := 0.0, 1.0, 0.0
	for i, n := range counts {
		docs, hits := float64(c.Docs), float64(c.Hits[i])
		rarity := max(math.Log((docs-hits+0.5)/(hits+0.5)), 1e-6)
		score += rarity * float64(n) * (saturation + 1) / (float64(n) + damping)
		best += rarity * (saturation + 1)
		if n > 0 {
			have++
		}
	}
	if c.Partial {
		score += (have - 1) * best
	}
	return score
}

// ok reports whether c can be a corpus of q. Clients send cursors.
func (c *Corpus) ok(q Query) bool {
	good := len(c.Hits) == len(q.wanted) && c.Docs >= 0 && c.Tokens >= 0
	for _, n := range c.Hits {
		good = good && 0 <= n && n <= c.Docs
	}
	return good
}

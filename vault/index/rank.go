package index

import "math"

// headWeight is how many times in the body a word in a note's title, names or
// tags counts.
const headWeight = 3

// The usual constants of BM25, as in package words.
const (
	saturation = 1.2  // k1: how soon more occurrences of a word stop to matter
	lengthBias = 0.75 // b: how much long notes are held back
)

// A ranking scores notes by BM25 as a part of the score that a note would have
// that could not fit the words better.
//
// It differs from package words in the weight of common words: there every
// word has to occur, here any, and a vault begins with a handful of notes, in
// which most words are in more than half of them. They must not count for
// nothing.
type ranking struct {
	notes    float64
	mean     float64   // length of a note
	rarities []float64 // of the units
	best     float64
}

func newRanking(notes int, words int64) *ranking {
	return &ranking{notes: float64(notes), mean: max(float64(words)/max(float64(notes), 1), 1)}
}

// add adds a unit that so many notes have.
func (r *ranking) add(notes int, weight float64) {
	n := float64(notes)
	rarity := weight * math.Log(1+(r.notes-n+0.5)/(n+0.5))
	r.rarities = append(r.rarities, rarity)
	r.best += rarity * (saturation + 1)
}

// score returns the score, between 0 and 1, of a note of that length with so
// many of each unit.
func (r *ranking) score(counts []float64, length int) float64 {
	damping := saturation * (1 - lengthBias + lengthBias*float64(length)/r.mean)
	sum := 0.0
	for i, n := range counts {
		if n > 0 {
			sum += r.rarities[i] * n * (saturation + 1) / (n + damping)
		}
	}
	return sum / r.best
}

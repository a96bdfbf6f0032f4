package analysis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/words"
)

// A stems numbers the stems of words, so that sets of them are small.
type stems struct {
	ids   map[string]uint32 // of stems
	known map[string]uint32 // of tokens, as a cache
}

// maxKnown limits the cache of tokens.
const maxKnown = 200_000

func newStems() *stems {
	return &stems{ids: make(map[string]uint32), known: make(map[string]uint32)}
}

// id returns the number of a token's stem.
func (s *stems) id(token string) uint32 {
	if id, ok := s.known[token]; ok {
		return id
	}
	// The shortest form stands for all.
	stem := slices.MinFunc(words.Forms(token), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	id, ok := s.ids[stem]
	if !ok {
		id = uint32(len(s.ids))
		s.ids[stem] = id
	}
	if len(s.known) < maxKnown {
		s.known[token] = id
	}
	return id
}

// set returns the stems of the content words of a text, sorted.
func (s *stems) set(text string, without map[string]bool) []uint32 {
	var ids []uint32
	for _, t := range words.Tokens(text) {
		if !words.IsFunctionWord(t) && !without[t] && (len(t) > 1 || t[0] >= '0' && t[0] <= '9') {
			ids = append(ids, s.id(t))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// generic are words that problems of every kind begin with.
var generic = set(`let us start begin first think thinking analyze analyse understand problem question issue task user users want wants need needs look
	figure out step steps plan approach goal work working try please want going now here get make find help ll re ve don t s also just new use using
	used still when while after before during again way thing things show shows see`)

// problem returns the stems of what a session is about: whole has those of the beginning
// of its first thought, and head those of its first sentence. A title that is not the
// beginning of the thought is part of both.
func (s *stems) problem(title, text string) (head, whole []uint32) {
	const enough, most = 40, 300 // bytes: a shorter sentence says too little
	said := ""
	if title = strings.TrimSuffix(title, "…"); !strings.HasPrefix(oneLine(text), title) {
		said = title + ". "
	}
	for _, sentence := range brief.Sentences(text) {
		if said += sentence + " "; len(said) >= enough {
			break
		}
	}
	return s.set(said, generic), s.set(title+" "+said+brief.Lead(text, most), generic)
}

// common returns how many elements two sorted sets have in common.
func common(a, b []uint32) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}

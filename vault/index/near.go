package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/words"
)

// A NearQuery asks for the notes around a text: those that link to its concepts, and
// those that quote it.
type NearQuery struct {
	Concepts []string  // in any spelling
	Quoted   string    // words in a row, such as an id; empty for none
	Except   vault.URI // the note with the text, which is not one of its own neighbours
}

// Near is the notes around a text.
type Near struct {
	Notes    int         // in the vault, without Except
	Found    []Neighbour // nearest first
	Unlinked []Unlinked  // concepts of the query that no other note links to, in the query's order
}

// A Neighbour is a note that shares a concept with a text, or quotes it.
type Neighbour struct {
	URI    vault.URI
	Title  string
	Shared []string // concepts of the query that the note links to or has as its name
	Quotes bool     // the note has the quoted words
}

// An Unlinked is a concept that no note links to, or hardly any.
type Unlinked struct {
	Concept string
	Notes   int      // that link to it or have its name: 0, or 1 if there are similar concepts
	Similar []string // concepts of notes with a similar name, the best first; at most 3
}

// Near returns the notes around a text. It reads no note, so that it is fast enough for
// every reply.
func (x *Index) Near(ctx context.Context, q NearQuery) (Near, error) {
	var out Near
	err := x.read(ctx, func(v *view) error {
		out = Near{} // of an attempt that found damage
		return v.near(ctx, q, &out)
	})
	return out, err
}

func (v *view) near(ctx context.Context, q NearQuery, out *Near) error {
	out.Notes = len(v.notes)
	except := v.uris[q.Except]
	if except != nil {
		out.Notes--
	}
	type weighed struct {
		Neighbour
		note   *noteInfo
		weight float64
	}
	found := make(map[int64]*weighed)
	get := func(id int64) *weighed {
		if n := v.notes[id]; n == nil || n == except {
			return nil
		} else if found[id] == nil {
			found[id] = &weighed{Neighbour: Neighbour{URI: n.uri, Title: n.title}, note: n}
		}
		return found[id]
	}
	for _, name := range normalized(q.Concepts) {
		var with []int64
		if c, ok := v.concepts.find(name); ok {
			with = distinctIDs(v.mentioning(c), v.named(c))
		}
		shared := false
		for _, id := range with {
			if w := get(id); w != nil {
				shared = true
				w.Shared = append(w.Shared, name)
				w.weight += math.Log(1 + float64(len(v.notes))/float64(len(with)))
			}
		}
		if !shared {
			out.Unlinked = append(out.Unlinked, Unlinked{Concept: name, Similar: v.similar(name, except)})
		}
	}
	if tokens := words.Tokens(q.Quoted); len(tokens) > 0 {
		list, err := v.having(ctx, unit{tokens: tokens})
		if err != nil {
			return err
		}
		for _, id := range list {
			if w := get(id); w != nil {
				w.Quotes = true
				w.weight += 1
			}
		}
	}
	all := make([]*weighed, 0, len(found))
	for _, w := range found {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), latestFirst(a.note, b.note))
	})
	for _, w := range all {
		out.Found = append(out.Found, w.Neighbour)
	}
	return nil
}

// distinctIDs joins two sorted lists.
func distinctIDs(a, b []int64) []int64 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

const maxSimilar = 3

// similar returns the concepts that a misspelt, shortened or extended name may mean and
// that a note other than except links to or has as its name: all words of one name are,
// apart from their endings, in the other, or the names differ in one or two letters.
func (s *snapshot) similar(name string, except *noteInfo) []string {
	type candidate struct {
		name     string
		distance int // words or letters that differ
		notes    int
	}
	var found []candidate
	parts := stems(name)
	for i, other := range s.concepts.all() {
		if other == name {
			continue
		}
		notes := 0
		for _, id := range distinctIDs(s.mentioning(int32(i)), s.named(int32(i))) {
			if except == nil || id != except.id {
				notes++
			}
		}
		if notes == 0 {
			continue
		}
		if d, ok := differs(name, parts, other); ok {
			found = append(found, candidate{other, d, notes})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(a.distance-b.distance, b.notes-a.notes, strings.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range found[:min(len(found), maxSimilar)] {
		names = append(names, c.name)
	}
	return names
}

// differs returns how much two names of concepts differ. It returns false if they are
// not similar.
func differs(name string, parts []string, other string) (int, bool) {
	const maxMoreWords = 2
	others := stems(other)
	few, many := parts, others
	if len(few) > len(many) {
		few, many = many, few
	}
	inside := len(few) > 0 && len(many)-len(few) <= maxMoreWords
	for _, p := range few {
		inside = inside && slices.Contains(many, p)
	}
	if inside {
		return len(many) - len(few), true
	}
	letters := min(len(name), len(other)) / 5 // one for five letters, two for ten
	if d := editDistance(name, other, min(letters, 2)); d <= min(letters, 2) {
		return d, true
	}
	return 0, false
}

// stems returns the words of a concept's name without their endings.
func stems(name string) []string {
	tokens := words.Tokens(name)
	for i, t := range tokens {
		if s, ok := stem(t); ok {
			tokens[i] = s
		}
	}
	return tokens
}

// editDistance returns in how many letters two names differ, or most+1 if in more than most.
func editDistance(a, b string, most int) int {
	if d := len(a) - len(b); d > 4*most || -d > 4*most { // a letter has up to four bytes
		return most + 1
	}
	left, right := []rune(a), []rune(b)
	twoUp, up, row := make([]int, len(right)+1), make([]int, len(right)+1), make([]int, len(right)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range left {
		twoUp, up, row = up, row, twoUp
		row[0] = i + 1
		best := row[0]
		for j, s := range right {
			switch {
			case r == s:
				row[j+1] = up[j]
			case i > 0 && j > 0 && r == right[j-1] && left[i-1] == s: // two letters are exchanged
				row[j+1] = 1 + min(up[j], row[j], up[j+1], twoUp[j-1])
			default:
				row[j+1] = 1 + min(up[j], row[j], up[j+1])
			}
			best = min(best, row[j+1])
		}
		if best > most+1 { // an exchange looks back two rows
			return most + 1
		}
	}
	return row[len(right)]
}

// unlinked returns those of the concepts that no note links to or has as its name, and
// those of a single note that have similar ones: the note may be the caller's own.
func (s *snapshot) unlinked(names []string) []Unlinked {
	var out []Unlinked
	for _, name := range normalized(names) {
		u := Unlinked{Concept: name}
		if c, ok := s.concepts.find(name); ok {
			u.Notes = len(distinctIDs(s.mentioning(c), s.named(c)))
		}
		if u.Notes > 1 {
			continue
		}
		if u.Similar = s.similar(name, nil); u.Notes == 0 || len(u.Similar) > 0 {
			out = append(out, u)
		}
	}
	return out
}

// Excerpt returns the piece of a text that a search with the query would show, at most
// 200 characters in one line, and whether it has a word of the query.
func Excerpt(text, query string) (piece string, matches bool) {
	r, err := parse(query)
	if err != nil {
		return "", false
	}
	show := r.units
	for _, name := range r.links {
		show = append(show, nameUnit(name))
	}
	return excerpt(text, show)
}

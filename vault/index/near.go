package index

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/textsearch"
	"github.com/sequent-dev/sequent/vault"
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

	weight   float64
	modified int64
}

// An Unlinked is a concept that no note links to, or hardly any.
type Unlinked struct {
	Concept string
	Notes   int      // that link to it or have its name: 0, or 1 if there are similar concepts
	Similar []string // concepts of notes with a similar name, the best first; at most 3
}

// Near returns the notes around a text. It reads no note, so that it is fast enough for
// every reply.
func (x *Index) Near(ctx context.Context, q NearQuery) (out Near, err error) {
	except := ""
	if q.Except != "" {
		except = q.Except.Path()
	}
	concepts := normalized(q.Concepts)
	err = x.read(ctx, func(tx *sql.Tx) (err error) {
		out = Near{} // not that of an attempt that found damage
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM notes WHERE path != ?", except).Scan(&out.Notes); err != nil {
			return err
		}
		if out.Found, err = neighboursOf(ctx, tx, concepts, q.Quoted, except); err == nil {
			out.Unlinked, err = unlinked(ctx, tx, concepts, except, 0)
		}
		return err
	})
	return out, err
}

// neighboursOf returns the notes other than except that link to concepts, have their
// names or have a phrase, nearest first: a concept counts by its rarity.
func neighboursOf(ctx context.Context, tx *sql.Tx, concepts []string, phrase, except string) ([]Neighbour, error) {
	quoted := `""`
	if tokens := textsearch.Tokens(phrase); len(tokens) > 0 {
		quoted = match(textsearch.Term{Tokens: tokens, Quoted: true})
	}
	found := make(map[string]*Neighbour)
	err := each(ctx, tx, func(scan scanner) error {
		var p, title, concept string
		var modified int64
		var rarity float64
		if err := scan(&p, &title, &modified, &concept, &rarity); err != nil {
			return err
		}
		n := found[p]
		if n == nil {
			uri, err := vault.PathURI(p)
			if err != nil {
				return err
			}
			n = &Neighbour{URI: uri, Title: title, modified: modified}
			found[p] = n
		}
		if concept == "" {
			n.Quotes = true
			n.weight++
		} else {
			n.Shared = append(n.Shared, concept)
			n.weight += math.Log(1 + rarity)
		}
		return nil
	}, `WITH shared AS (SELECT DISTINCT key, concept, note FROM json_each(?) JOIN links ON concept = value)
		SELECT path, title, modified, concept, (SELECT count(*) FROM notes) * 1.0 / count(*) OVER (PARTITION BY concept)
		FROM (SELECT * FROM shared UNION ALL SELECT -1, '', rowid FROM words WHERE words MATCH ?) JOIN notes ON id = note
		WHERE path != ? ORDER BY key`, list(concepts), quoted, except)
	out := make([]Neighbour, 0, len(found))
	for _, p := range slices.Sorted(maps.Keys(found)) {
		out = append(out, *found[p])
	}
	slices.SortStableFunc(out, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.modified, a.modified))
	})
	return out, err
}

const (
	maxSimilar = 3
	// maxLookups limits for how many names of one question similar ones are searched: each
	// is compared with all concepts.
	maxLookups = 10
)

// unlinked returns those of the concepts that at most so many notes other than except
// link to or have as their name: without any, or with similar ones. That single note may
// be the caller's own.
func unlinked(ctx context.Context, tx *sql.Tx, concepts []string, except string, most int) ([]Unlinked, error) {
	var out []Unlinked
	if err := each(ctx, tx, func(scan scanner) error {
		var u Unlinked
		err := scan(&u.Concept, &u.Notes)
		out = append(out, u)
		return err
	}, `SELECT value, (SELECT count(DISTINCT note) FROM links JOIN notes ON id = note WHERE concept = value AND path != ?) AS n
		FROM json_each(?) WHERE n <= ? ORDER BY key`, except, list(concepts), most); err != nil || len(out) == 0 {
		return nil, err
	}
	looked := out[:min(len(out), maxLookups)]
	names := make([][]string, len(looked)) // their words
	found := make([][]candidate, len(looked))
	for i, u := range looked {
		names[i] = stems(u.Concept)
	}
	err := each(ctx, tx, func(scan scanner) error {
		var other string
		var notes int
		err := scan(&other, &notes)
		for i, words := range names {
			if more, ok := extends(words, other); ok && other != looked[i].Concept {
				found[i] = append(found[i], candidate{other, more, notes})
			}
		}
		return err
	}, "SELECT concept, count(*) FROM links WHERE note IS NOT (SELECT id FROM notes WHERE path = ?) GROUP BY concept", except)
	for i, list := range found {
		slices.SortFunc(list, func(a, b candidate) int {
			return cmp.Or(a.more-b.more, b.notes-a.notes, strings.Compare(a.name, b.name))
		})
		for _, c := range list[:min(len(list), maxSimilar)] {
			looked[i].Similar = append(looked[i].Similar, c.name)
		}
	}
	return slices.DeleteFunc(out, func(u Unlinked) bool { return u.Notes > 0 && len(u.Similar) == 0 }), err
}

// A candidate is a concept that a shortened, extended or inflected name may mean.
type candidate struct {
	name        string
	more, notes int // words, and notes that link to it
}

// extends reports whether all words of one name are, apart from their endings, in the
// other, and how many more the other one has.
func extends(words []string, other string) (more int, ok bool) {
	const maxMore = 2
	if !slices.ContainsFunc(words, func(p string) bool { return strings.Contains(other, p[:min(len(p), 2)]) }) {
		return 0, false // cheaper than what follows
	}
	few, many := words, stems(other)
	if len(few) > len(many) {
		few, many = many, few
	}
	more = len(many) - len(few)
	lacks := slices.ContainsFunc(few, func(p string) bool { return !slices.Contains(many, p) })
	return more, len(few) > 0 && more <= maxMore && !lacks
}

// stems returns the words of a concept's name without their endings.
func stems(name string) []string {
	tokens := textsearch.Tokens(name)
	for i, t := range tokens {
		tokens[i] = textsearch.Stem(t)
	}
	return tokens
}

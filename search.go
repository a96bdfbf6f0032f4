package sequent

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/words"
)

// A SearchQuery asks for thoughts by their words.
//
// Text is what a person types: words that must all occur in the thought's text
// or note, "quoted phrases", prefix* and -excluded words, in any case and with
// or without diacritics. An English word also matches its inflections, such as
// retried for retry, unless it is quoted or excluded; function words such as the
// count only in a query of nothing else. Text in scripts that write no spaces between
// words is matched by any part of it. If no thought has all words, those with most
// words are found; see [Hits].
type SearchQuery struct {
	Owner     string
	AllOwners bool      // ignore Owner
	Session   ID        // only this session; empty means all
	Project   string    // only sessions of this project and those without one; empty means all
	Text      string    // the query; at least one word that is not excluded
	Limit     int       // maximum number of hits on the page; see PageSize
	Cursor    string    // from Hits.Next
	Now       time.Time // sessions expired by then are left out; set by the engine
}

// PageSize returns the maximum number of hits on a page: Limit, or 20 if that is
// not positive, but at most 1000.
func (q SearchQuery) PageSize() int {
	if q.Limit <= 0 {
		return 20
	}
	return min(q.Limit, 1000)
}

// Excerpt returns at most the given number of characters of a text, on one line
// and around the first word that q asks for.
func (q SearchQuery) Excerpt(text string, characters int) string {
	asked, err := words.Parse(q.Text)
	if err != nil {
		asked = words.Query{} // nothing is found with it; show how the text begins
	}
	piece, _ := words.Excerpt(text, asked.Content(), characters)
	return piece
}

// Hits is a page of search results, best first: by BM25, or if no thought has all
// words, first by the number of different words that a thought has.
type Hits struct {
	Hits []Hit
	Next string // cursor of the next page; empty at the end

	// Partial is true if no thought that the query selects has all words, and Hits
	// have some of them.
	Partial bool

	// Unknown are words of the query that no thought has that the query selects, at
	// most five, if no thought has all words. It is set on the first page only.
	Unknown []UnknownWord
}

// An UnknownWord is a word, phrase or prefix* of a query that occurs in no thought.
type UnknownWord struct {
	Word string `json:"word"`
	// Nearest is a word of the thoughts that the query selects. It differs from Word
	// by one letter that is missing, added or wrong, or by two that are swapped. Empty
	// if there is no such word.
	Nearest string `json:"nearest,omitempty"`
}

// Notice says in one line how the hits differ from the query: that no thought has all
// words, which words are unknown, and what may have been meant. It is empty if all
// hits have all words, or if there is nothing to add to the fact that nothing matches.
func (h Hits) Notice() string {
	if len(h.Unknown) == 0 {
		if h.Partial {
			return "No thought has all these words; those with most of them come first."
		}
		return ""
	}
	var b strings.Builder
	b.WriteString("Nothing has ")
	var meant []string
	for i, u := range h.Unknown {
		switch {
		case i > 0 && i == len(h.Unknown)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(`"` + strings.Trim(u.Word, `"`) + `"`)
		if u.Nearest != "" {
			meant = append(meant, `"`+u.Nearest+`"`)
		}
	}
	if len(meant) > 0 {
		b.WriteString("; did you mean " + strings.Join(meant, " and ") + "?")
	} else {
		b.WriteByte('.')
	}
	if h.Partial {
		b.WriteString(" Thoughts with most of the other words come first.")
	}
	return b.String()
}

// A Hit is a thought that a search found.
type Hit struct {
	Key     Key
	Title   string // of the session
	Thought Thought
	Score   float64 // higher is better; comparable within one result only

	// These are set by [Engine.Search]. A store leaves them empty, unless it got the hit
	// from the engine of a server.
	State    State    // of the session
	Standing Standing // of the thought
	Instead  *Thought // the thought that holds instead, if this one is superseded
}

// appraise sets the standings of hits. A page has a thought that holds once: in the
// place of the first hit that is the thought or was superseded by it.
func (c *core) appraise(ctx context.Context, hits []Hit) ([]Hit, error) {
	sessions := make(map[Key]*Session)
	standings := make(map[Key][]Standing)
	type holds struct {
		key Key
		seq int
	}
	seen := make(map[holds]bool)
	kept := hits[:0]
	for _, h := range hits {
		if h.State != "" { // appraised where the session is
			kept = append(kept, h)
			continue
		}
		s, ok := sessions[h.Key]
		if !ok {
			var err error
			s, err = c.load(ctx, h.Key, true) // standing needs no texts
			if err != nil && !errors.Is(err, ErrNotFound) {
				return nil, err
			}
			sessions[h.Key] = s
			if s != nil {
				standings[h.Key] = s.Standings()
			}
		}
		if s == nil || h.Thought.Seq > s.Len() { // deleted since it was found
			continue
		}
		h.State, h.Standing = s.State(), standings[h.Key][h.Thought.Seq-1]
		at := holds{h.Key, h.Thought.Seq}
		if h.Standing.State == Superseded {
			at.seq = h.Standing.By
			t, err := c.withText(ctx, s, at.seq)
			if err != nil {
				return nil, err
			}
			h.Instead = &t
		}
		if !seen[at] {
			seen[at] = true
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// withText returns a thought of s, which may lack its text.
func (c *core) withText(ctx context.Context, s *Session, seq int) (Thought, error) {
	if !s.HasTexts(seq) {
		whole, err := c.load(ctx, s.Key(), false)
		switch {
		case err != nil && !errors.Is(err, ErrNotFound):
			return Thought{}, err
		case err == nil && whole.Epoch() == s.Epoch():
			s = whole
		}
	}
	t, _ := s.At(seq)
	return t, nil
}

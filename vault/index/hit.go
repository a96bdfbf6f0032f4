package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/words"
)

func (s *search) hit(ctx context.Context, f *found) (Hit, error) {
	h := Hit{
		URI: f.note.uri, Title: f.note.title,
		Score: round(f.score), Text: round(f.text), Graph: round(f.graph), Semantic: round(f.semantic),
	}
	var body string
	if err := s.tx.QueryRowContext(ctx, "SELECT body FROM notes WHERE id = ?", f.note.id).Scan(&body); err != nil {
		return Hit{}, err
	}
	h.Snippet = snippet(body, s.shown(f))
	return h, nil
}

// round leaves of a score what is worth reading.
func round(score float64) float64 { return math.Round(score*1e4) / 1e4 }

// shown returns what a note's snippet may show: the units that it has, rarest in
// it first, then other forms of them, then the links that were asked for.
func (s *search) shown(f *found) []unit {
	var at []int
	for i, n := range f.counts {
		if n > 0 {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(f.counts[a], f.counts[b]) })
	var out []unit
	for _, i := range at {
		out = append(out, s.request.units[i])
	}
	for _, u := range slices.Clone(out) {
		if len(u.tokens) == 1 && !u.prefix {
			for _, form := range forms(u.tokens[0]) {
				out = append(out, unit{tokens: []string{form}})
			}
		}
	}
	for _, name := range s.request.links {
		if tokens := words.Tokens(name); len(tokens) > 0 {
			out = append(out, unit{tokens: tokens})
		}
	}
	return out
}

// snippet cuts a piece out of a note's body around the first place of the
// first unit that the body has.
func snippet(body string, units []unit) string {
	body = prose(body)
	for _, u := range units {
		q, err := words.Parse(u.String())
		if err != nil {
			continue
		}
		if piece, at := words.Excerpt(body, q, snippetLength); len(at) > 0 {
			return piece
		}
	}
	piece, _ := words.Excerpt(body, words.Query{}, snippetLength)
	return piece
}

// prose is a note's body without what tells a reader nothing in a piece of one
// line: the marks of headings, the ids of blocks, and the time below a thought.
func prose(body string) string {
	var b strings.Builder
	b.Grow(len(body))
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if heading := strings.TrimLeft(line, "#"); strings.HasPrefix(heading, " ") {
			line = heading[1:]
		}
		if i := strings.LastIndexByte(line, '^'); i >= 0 && isBlockID(line[i+1:]) && (i == 0 || line[i-1] == ' ') {
			line = strings.TrimSpace(line[:i])
		}
		if _, err := time.Parse("*2006-01-02 15:04:05 UTC*", line); err == nil {
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// isBlockID reports whether Obsidian would take s, behind a ^, for the id of a block.
func isBlockID(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

// String returns the unit as it can be typed.
func (u unit) String() string {
	return words.Term{Tokens: u.tokens, Prefix: u.prefix}.String()
}

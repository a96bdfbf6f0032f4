package index

import (
	"context"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/words"
)

func (s *search) hit(ctx context.Context, f *found) (Hit, error) {
	h := Hit{
		URI: f.note.uri, Title: f.note.title,
		Score: round(f.score), Text: round(f.text), Graph: round(f.graph), Semantic: round(f.semantic),
	}
	body, err := s.body(ctx, f.note)
	if err != nil {
		return Hit{}, err
	}
	var show []unit
	for i, u := range s.rarest {
		if f.units&(1<<i) != 0 {
			show = append(show, u)
		}
	}
	for _, name := range s.request.links {
		show = append(show, nameUnit(name))
	}
	h.Words = bits.OnesCount64(f.units)
	h.Snippet = snippet(body, show)
	return h, nil
}

// body returns the body of a note.
func (v *view) body(ctx context.Context, n *noteInfo) (body string, err error) {
	err = v.tx.QueryRowContext(ctx, "SELECT body FROM notes WHERE id = ?", n.id).Scan(&body)
	return body, err
}

// nameUnit returns the words of a concept's name.
func nameUnit(name string) unit { return unit{tokens: words.Tokens(name)} }

// snippet returns text of a note's body around the first unit that is in it.
func snippet(body string, units []unit) string {
	piece, _ := excerpt(body, units)
	return piece
}

// excerpt is snippet. It also reports whether the text has one of the units.
func excerpt(body string, units []unit) (piece string, matches bool) {
	body = prose(body)
	for _, u := range units {
		q, err := words.Parse(u.in(body))
		if err != nil {
			continue
		}
		if piece, at := words.Excerpt(body, q, maxSnippet); len(at) > 0 {
			return piece, true
		}
	}
	piece, _ = words.Excerpt(body, words.Query{}, maxSnippet)
	return piece, false
}

// in returns the unit as package words parses it; for a stem, the first word of
// text that has it, or nothing.
func (u unit) in(text string) string {
	if !u.stem {
		return words.Term{Tokens: u.tokens, Prefix: u.prefix, Quoted: !u.prefix}.String()
	}
	all := words.Tokens(text)
	i := slices.IndexFunc(all, func(token string) bool {
		s, ok := stem(token)
		return ok && s == u.tokens[0]
	})
	if i < 0 {
		return ""
	}
	return all[i]
}

// prose returns a note's body without markup that says nothing in a snippet: the
// marks of headings, the ids of blocks, and the times below thoughts.
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

// isBlockID reports whether Obsidian takes s, after a ^, for the id of a block.
func isBlockID(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/words"
)

func (p *program) search() *cobra.Command {
	var limit int
	var session, dir string
	var notes index.Query
	c := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find thoughts, or notes of a vault, by their words",
		Long: `Find thoughts by their words, best first: words that must all occur, in any case and with or without
accents, "quoted phrases", prefix* and -excluded words.

With --vault it finds notes, of which one need not have all of the words: those with more and rarer
ones come first, and those that [[links]] in the query lead to.

With --json: {"hits": [{session, title, score, seq, number, total, text, branch, more, at}], "more":
bool}; with --vault {"notes": [{uri, title, snippet, score, text, graph, meaning}], "total", "more",
"warning"}.`,
		Example: "sequent search connection pool\n\n# a phrase, and a word that must not occur\n" +
			"sequent search '\"connection pool\" -postgres'\n\n# in one session\nsequent search --session 7k3 timeout*\n\n" +
			"# notes, and those that have to do with a concept\nsequent search --vault ~/Notes 'rate limiting [[JWT]]'",
		Args: arguments(1, -1, "words to look for"),
		RunE: func(c *cobra.Command, args []string) error {
			if limit < 1 {
				return usagef("--limit cannot be %d, only a number of thoughts from 1", limit)
			}
			// A vault in the environment is that of a server: searches are for
			// thoughts unless somebody says otherwise.
			if dir != "" && !slices.Contains(p.inherited, "vault") {
				if session != "" {
					return usagef("--session and --vault do not go together: a search is for thoughts or for notes")
				}
				notes.Text = strings.Join(args, " ")
				return p.searchNotes(c.Context(), dir, notes, limit)
			}
			for _, f := range []string{"mode", "folder", "tag"} {
				if c.Flags().Changed(f) && !slices.Contains(p.inherited, f) {
					return usagef("--%s is for notes: name their folder with --vault DIR", f)
				}
			}
			return p.reading(c.Context(), func(a *app.App) error {
				return p.searchThoughts(c.Context(), a, sequent.SearchQuery{
					Text: strings.Join(args, " "), Limit: limit,
				}, session)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 20, "at most `N` thoughts, or notes")
	c.Flags().StringVar(&dir, "vault", "", "find notes in this folder, a `DIR`, instead of thoughts")
	c.Flags().StringVar((*string)(&notes.Mode), "mode", "", "what makes a note match, a `MODE`: Hybrid, FullText or Semantic (default: Hybrid)")
	c.Flags().StringVar(&notes.Folder, "folder", "", "only notes in this `FOLDER` of the vault")
	c.Flags().StringSliceVar(&notes.Tags, "tag", nil, "only notes with this `TAG`; with several, those that have all")
	complete(c, "mode", string(index.Hybrid), string(index.FullText), string(index.Semantic))
	completeDirs(c, "vault")
	c.Flags().StringVar(&session, "session", "", "only in the session with this `ID`")
	if err := c.RegisterFlagCompletionFunc("session", func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return p.completeIDs(c, nil, prefix)
	}); err != nil {
		panic(err)
	}
	p.asJSON(c)
	p.hasOwner(c)
	p.hasWidth(c)
	return c
}

// A jsonHit is a thought that was found.
type jsonHit struct {
	jsonThought
	Title string  `json:"title"` // of the session
	Score float64 `json:"score"`
}

func (p *program) searchThoughts(ctx context.Context, a *app.App, q sequent.SearchQuery, session string) error {
	if session != "" {
		s, err := find(ctx, a.Engine, session)
		if err != nil {
			return err
		}
		q.Session = s.ID()
	}
	found, err := a.Engine.Search(ctx, q)
	if err != nil {
		return err
	}
	more := found.Next != ""
	if p.json {
		hits := []jsonHit{}
		for _, h := range found.Hits {
			hits = append(hits, jsonHit{newJSONThought(h.Key.ID, h.Thought), h.Title, h.Score})
		}
		return writeJSON(p.out, struct {
			Hits []jsonHit `json:"hits"`
			More bool      `json:"more"`
		}{hits, more})
	}
	if len(found.Hits) == 0 {
		return p.say("No thought has all of that. A word* finds all words that begin like it.")
	}
	query, err := words.Parse(q.Text)
	if err != nil {
		return err
	}
	for i, h := range found.Hits {
		if i > 0 {
			if err := p.say(""); err != nil {
				return err
			}
		}
		if err := p.print(p.hit(h, query)...); err != nil {
			return err
		}
	}
	if more {
		return p.say("\nThere are more: --limit %d shows them.", 2*q.Limit)
	}
	return nil
}

// hit draws a thought that was found: where it is, and the words in their place.
func (p *program) hit(h sequent.Hit, q words.Query) []draw.Line {
	o := p.drawing()
	where := draw.Line{
		{Text: draw.One(string(h.Key.ID), o.Charset) + "  ", Role: draw.Number},
		{Text: draw.NumberOf(h.Thought), Role: draw.Meta},
	}
	if h.Thought.Branch != "" {
		where = append(where, draw.Span{Text: " " + draw.One(h.Thought.Branch, o.Charset), Role: draw.Label, Lane: 1})
	}
	where = append(where, draw.Span{Text: "  " + draw.One(h.Title, o.Charset), Role: draw.Title})
	lines := []draw.Line{draw.Cut(where, o)}

	const indentation = 2
	piece, at := words.Excerpt(h.Thought.Text, q, 2*o.Width)
	return append(lines, draw.Marked(piece, spans(at), o, indentation)...)
}

func spans(at []words.Range) [][2]int {
	var list [][2]int
	for _, r := range at {
		list = append(list, [2]int{r.Start, r.End})
	}
	return list
}

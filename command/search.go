package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/words"
)

func (p *program) search() *cobra.Command {
	var limit int
	var session, dir string
	var demos bool
	var notes index.Query
	c := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Search thoughts, or the notes of a vault",
		Long: `Search all thoughts and print the best matches first. A thought matches if it contains all the words. If
no thought does, those with most of the words come first, and the output says so. English words match
their inflections: retry also finds retried. The search is case-insensitive and ignores accents. It
supports "quoted phrases", prefix* and -excluded words; a "quoted" word is matched as it is written.

Each match says whether it still holds: superseded thoughts are replaced by their revisions, others can be
left on a branch that was given up, disputed by a person, or concluded.

In a git work tree the search covers the sessions of this project and those without a project.
--all-projects searches all, --project those of another one. Sessions of sequent demo are left out once
there are others, unless --all or --session is given.

--vault searches the notes of a vault instead. A note matches if it contains one of the words, or if a
[[link]] in the query leads to it. Notes with more and rarer words come first.

On a terminal the matches are paged like the output of sequent show.

--json prints {"hits": [{session, title, score, seq, number, total, text, branch, more, at, owner,
state, standing, instead}], "more": bool, "partial": bool, "unknown": [{word, nearest}], "demos": n, "elsewhere": n},
or with --vault {"notes": [{uri, title, snippet, score, text, graph, meaning}], "total", "more", "warning"}.`,
		Example: "sequent search connection pool\n\n# a phrase, without another word\n" +
			"sequent search '\"connection pool\" -postgres'\n\n# in one session\nsequent search --session 7k3 'timeout*'\n\n" +
			"# notes about words and a linked concept\nsequent search --vault ~/Notes 'rate limiting [[JWT]]'",
		Args: arguments(1, -1, "a query"),
		RunE: func(c *cobra.Command, args []string) error {
			if limit < 1 {
				return invalid("limit", limit, "a number of results, at least 1")
			}
			// SEQUENT_VAULT configures servers; only the flag selects notes.
			if dir != "" && !slices.Contains(p.inherited, "vault") {
				if session != "" {
					return usagef("--session and --vault are mutually exclusive")
				}
				notes.Text = strings.Join(args, " ")
				return p.searchNotes(c.Context(), dir, notes, limit)
			}
			for _, f := range []string{"mode", "folder", "tag"} {
				if c.Flags().Changed(f) && !slices.Contains(p.inherited, f) {
					return &usageError{msg: fmt.Sprintf("--%s requires --vault", f), fix: "pass the folder of notes with --vault DIR"}
				}
			}
			return p.withStore(c.Context(), func(a *app.App) error {
				return p.searchThoughts(c.Context(), a, sequent.SearchQuery{
					Text: strings.Join(args, " "), Limit: limit,
				}, session, demos)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 20, "maximum number of results")
	c.Flags().StringVar(&dir, "vault", "", "folder of notes to search instead of thoughts")
	c.Flags().StringVar((*string)(&notes.Mode), "mode", "", "search mode for notes: Hybrid, FullText or Semantic (default: Hybrid)")
	c.Flags().StringVar(&notes.Folder, "folder", "", "folder of the vault to which the search is limited")
	c.Flags().StringSliceVar(&notes.Tags, "tag", nil, "tag that notes must have; repeatable")
	complete(c, "mode", string(index.Hybrid), string(index.FullText), string(index.Semantic))
	completeDirs(c, "vault")
	c.Flags().BoolVar(&demos, "all", false, "search the sessions of sequent demo, too")
	c.Flags().StringVar(&session, "session", "", "id of the session to which the search is limited")
	if err := c.RegisterFlagCompletionFunc("session", func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return p.completeIDs(c, nil, prefix)
	}); err != nil {
		panic(err)
	}
	p.addPagerFlag(c)
	p.addJSONFlag(c)
	p.addOwnersFlags(c)
	p.addServerFlag(c)
	p.addProjectFlags(c)
	p.addWidthFlag(c)
	return c
}

// A jsonHit is a found thought in JSON output.
type jsonHit struct {
	jsonThought
	Title string  `json:"title"` // title of the session
	Score float64 `json:"score"`
	Owner string  `json:"owner,omitempty"` // of the session; empty for the local user

	State    sequent.State         `json:"state"` // of the session
	Standing sequent.StandingState `json:"standing"`
	Instead  *jsonThought          `json:"instead,omitempty"` // what holds instead of a thought that is superseded
}

func newJSONHit(h sequent.Hit) jsonHit {
	j := jsonHit{newJSONThought(h.Key.ID, h.Thought), h.Title, h.Score, h.Key.Owner, h.State, h.Standing.State, nil}
	if h.Instead != nil {
		j.Instead = new(newJSONThought(h.Key.ID, *h.Instead))
	}
	return j
}

func (p *program) searchThoughts(ctx context.Context, a *app.App, q sequent.SearchQuery, session string, demos bool) error {
	if err := p.checkOwner(ctx, a); err != nil {
		return err
	}
	engine := a.Engine
	demo := &demoFilter{off: demos || session != ""}
	if session != "" {
		s, err := p.refer(ctx, engine, []string{session})
		if err != nil {
			return err
		}
		if err := s.whole("--session"); err != nil {
			return err
		}
		engine, q.Session = s.engine, s.session.ID()
	} else {
		q.AllOwners = p.allOwners
		var err error
		if q.Project, err = p.inProject(); err != nil {
			return err
		}
	}
	others, err := p.elsewhere(ctx, engine, sequent.Query{AllOwners: q.AllOwners, Project: q.Project})
	if err != nil {
		return err
	}
	found, more, err := demo.search(ctx, engine, q)
	if err != nil {
		return err
	}
	if p.json {
		hits := []jsonHit{}
		for _, h := range found.Hits {
			hits = append(hits, newJSONHit(h))
		}
		return writeJSON(p.out, struct {
			Hits    []jsonHit             `json:"hits"`
			More    bool                  `json:"more"`
			Partial bool                  `json:"partial"` // no thought has all words
			Unknown []sequent.UnknownWord `json:"unknown,omitempty"`
			Demos   int                   `json:"demos,omitempty"`     // thoughts of sequent demo that were left out
			Others  int                   `json:"elsewhere,omitempty"` // sessions of other projects
		}{hits, more, found.Partial, found.Unknown, demo.leftOut, others})
	}
	var remarks []string
	if demo.leftOut > 0 {
		remarks = append(remarks, draw.Count(demo.leftOut, "thought of sequent demo was", "thoughts of sequent demo were")+" left out. Pass --all to search them, too.")
	}
	if others > 0 {
		remarks = append(remarks, notSearched(others))
	}
	notice := found.Notice()
	if len(found.Hits) == 0 {
		return p.printf("%s", strings.Join(append([]string{cmp.Or(notice, "No thoughts match these words.")}, remarks...), "\n"))
	}
	query, err := words.Parse(q.Text)
	if err != nil {
		return err
	}
	query = query.Content()
	return p.paged(func() error {
		if notice != "" {
			if err := p.printf("%s\n", notice); err != nil {
				return err
			}
		}
		for i, h := range found.Hits {
			if i > 0 {
				if err := p.printf(""); err != nil {
					return err
				}
			}
			if err := p.print(p.hit(h, query)...); err != nil {
				return err
			}
		}
		if more {
			if err := p.printf("\nThere are more matches. Pass --limit %d to show more.", 2*q.Limit); err != nil {
				return err
			}
		}
		if len(remarks) > 0 {
			return p.printf("\n%s", strings.Join(remarks, "\n"))
		}
		return nil
	})
}

// notSearched says how many sessions of other projects a search has left out.
func notSearched(others int) string {
	was := "were"
	if others == 1 {
		was = "was"
	}
	return counted(others) + " in other projects " + was + " not searched. Pass --all-projects to search all."
}

// hit draws a found thought: its session and number, whether it holds, and an excerpt
// with the words marked. Of a thought that is superseded it shows what holds instead.
func (p *program) hit(h sequent.Hit, q words.Query) []draw.Line {
	o := p.drawing()
	t, standing := h.Thought, string(h.Standing.State)
	switch h.Standing.State {
	case sequent.Current:
		standing = ""
	case sequent.Superseded:
		t, standing = *h.Instead, "replaces "+brief.Name(h.Thought)+", which matches"
	}
	where := draw.Line{
		{Text: draw.One(string(h.Key.ID), o.Charset) + "  ", Role: draw.Number},
		{Text: draw.NumberOf(t), Role: draw.Meta},
	}
	if t.Branch != "" {
		where = append(where, draw.Span{Text: " " + draw.One(t.Branch, o.Charset), Role: draw.Label, Lane: 1})
	}
	if standing != "" {
		where = append(where, draw.Span{Text: "  " + draw.One(standing, o.Charset), Role: draw.Meta})
	}
	if p.allOwners && h.Key.Owner != "" {
		where = append(where, draw.Span{Text: "  " + draw.One(h.Key.Owner, o.Charset), Role: draw.Meta})
	}
	where = append(where, draw.Span{Text: "  " + draw.One(h.Title, o.Charset), Role: draw.Title})
	lines := []draw.Line{draw.Cut(where, o)}

	const indentation = 2
	piece, at := words.Excerpt(t.Text, q, 2*o.Width)
	return append(lines, draw.Marked(piece, spans(at), o, indentation)...)
}

func spans(at []words.Range) [][2]int {
	var list [][2]int
	for _, r := range at {
		list = append(list, [2]int{r.Start, r.End})
	}
	return list
}

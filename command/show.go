package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) show() *cobra.Command {
	var v view
	c := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show a session or one of its thoughts",
		Long: `Draw a session as a tree. The main line runs straight down; each branch has its own lane, beginning after
the thought that it branches from. The ID can be shortened to its first characters. Without an ID the
latest session of the project is drawn, which is the git work tree of the working directory.

● is a thought, ○ a revised thought, ◆ a revision, and ■ a final thought. Long sessions are folded, and
each fold names the command that opens it; their newest thought is also shown above the tree. --full shows
everything, and the head of the log for sequent verify --head.

ID#9 shows the latest thought with the number 9 on the main line, ID#name#9 the one on the branch name,
and ID@17 the one at position 17 of the log.

--view log lists thoughts with their whole texts in the order of recording, --view effective those that a
line stands for now, with revisions in the place of what they revised, and --view outline prints one row
for each thought. --branch, --from and --to select thoughts for these views, and imply --view log. Lists
of more than 40 thoughts begin with the newest on a terminal; --order oldest or newest decides it.

On a terminal the output is paged by SEQUENT_PAGER, PAGER or less, and not at all with --no-pager or if
the pager is cat.

--json prints the session with all its thoughts, like sequent export --format json. With a thought or a
view it prints {"thoughts": [{ref, session, seq, number, total, text, branch, from, revises, revision,
more, at}]}.`,
		Example: "# the latest session\nsequent show\n\n# a session of sequent list, and its thought 9\nsequent show 7k3\nsequent show 7k3#9\n\n" +
			"# what the branch pool stands for now\nsequent show 7k3 --view effective --branch pool\n\n" +
			"# from thought 12 of the main line to position 40 of the log\nsequent show 7k3 --from 12 --to @40\n\n" +
			"# everything, without a pager\nsequent show --full --no-pager",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := v.check(); err != nil {
				return err
			}
			return p.withStore(c.Context(), func(a *app.App) error {
				if err := p.checkOwner(c.Context(), a); err != nil {
					return err
				}
				found, err := p.refer(c.Context(), a.Engine, args)
				if err != nil {
					return err
				}
				s := found.session
				switch {
				case found.reference.NamesThought():
					if v.selects() {
						return &usageError{
							msg: found.reference.String() + " names one thought, so a view or a range has no effect",
							fix: "leave out the thought, or --view, --branch, --from and --to",
						}
					}
					t, err := s.Resolve(found.reference)
					if err != nil {
						return err
					}
					return p.paged(func() error { return p.showThought(s, t) })
				case v.kind != viewTree:
					return p.paged(func() error { return p.showView(s, &v) })
				case p.json:
					h, entries, err := found.engine.Entries(c.Context(), s.ID())
					if err != nil {
						return err
					}
					return p.write("", string(archive.Log(h, entries)))
				}
				return p.paged(func() error { return p.showTree(s, v.full) })
			})
		},
	}
	c.Flags().BoolVar(&v.full, "full", false, "do not fold long sessions")
	c.Flags().StringVar(&v.kind, "view", "", "view of the session: tree, log, effective or outline (default: tree, or log for a selection)")
	c.Flags().StringVar(&v.branch, "branch", "", "branch whose thoughts are shown, with those before it; main is the main line")
	c.Flags().StringVar(&v.from, "from", "", "first `THOUGHT`: its number, name#number or @position")
	c.Flags().StringVar(&v.to, "to", "", "last `THOUGHT`")
	c.Flags().StringVar(&v.order, "order", "", "order of a list: newest or oldest first (default: newest first on a terminal if it is long)")
	complete(c, "view", viewTree, viewLog, viewEffective, viewOutline)
	complete(c, "order", newestFirst, oldestFirst)
	p.addPagerFlag(c)
	p.addJSONFlag(c)
	p.addOwnersFlags(c)
	p.addServerFlag(c)
	p.addProjectFlags(c)
	p.addWidthFlag(c)
	return c
}

// showTree draws a session as a tree.
func (p *program) showTree(s *sequent.Session, full bool) error {
	o := p.drawingOf(s)
	o.Full, o.Command = full, p.showing(s)
	d := draw.Session(s, o)
	if last, ok := s.Last(); ok && s.Len() > longList { // it is far below
		newest := draw.Cut(draw.Line{
			{Text: "Newest: ", Role: draw.Meta},
			{Text: draw.One(s.Reference(last.Seq).Short(), o.Charset) + "  ", Role: draw.Number},
			{Text: draw.One(last.Text, o.Charset)},
		}, o)
		d.Lines = slices.Insert(d.Lines, len(draw.Header(s, o)), newest, nil)
	}
	if line := p.failure(s); line != "" {
		d.Lines = append(d.Lines, nil)
		d.Lines = append(d.Lines, draw.Beside(nil, line+" To resume: sequent "+s.Dialect()+" resume "+string(s.ID()), draw.Newest, o)...)
	}
	if d.Folded {
		d.Lines = append(d.Lines, nil)
		d.Lines = append(d.Lines, draw.Beside(nil, "Parts are folded. Pass --full to show everything.", draw.Fold, o)...)
	}
	if h := s.Header(); full && h.Entries > 0 {
		d.Lines = append(d.Lines, nil, draw.Line{{Text: "Head " + h.Head.String(), Role: draw.Meta}})
	}
	return p.print(d.Lines...)
}

// showing returns the function that writes the command line which shows a part of a
// session, from the same store.
func (p *program) showing(s *sequent.Session) func(reference string, flags ...string) string {
	var common []string
	switch {
	case p.server != "" && !slices.Contains(p.inherited, "server"):
		common = append(common, "--server", p.serverShown())
	case p.server == "" && p.store != "" && !slices.Contains(p.inherited, "store"):
		common = append(common, "--store", p.shownStore())
	}
	if s.Owner() != p.self && !slices.Contains(p.inherited, "owner") {
		common = append(common, "--owner", s.Owner())
	}
	return func(reference string, flags ...string) string {
		words := append([]string{"sequent", "show", reference}, flags...)
		for i, word := range append(words, common...) {
			if word = quoted(word); i < len(words) {
				words[i] = word
			} else {
				words = append(words, word)
			}
		}
		return strings.Join(words, " ")
	}
}

// showThought shows one thought with those next to it.
func (p *program) showThought(s *sequent.Session, t sequent.Thought) error {
	if p.json {
		return p.writeThoughts(s, []sequent.Thought{t})
	}
	o := p.drawingOf(s)
	lines := append(draw.Header(s, o), draw.List(s, []sequent.Thought{t}, o)...)
	var rows [][2]string
	row := func(what string, t sequent.Thought) {
		rows = append(rows, [2]string{what, s.Reference(t.Seq).Short() + "  " + draw.One(t.Text, o.Charset)})
	}
	if before, ok := s.At(t.After); ok {
		row("follows", before)
	}
	for next := range s.Since(t.Seq) {
		switch {
		case next.Supersedes == t.Seq:
			row("revised by", next)
		case next.After == t.Seq && next.Branch != t.Branch:
			row("branch "+draw.One(next.Branch, o.Charset), next)
		case next.After == t.Seq:
			row("leads to", next)
		}
	}
	if len(rows) > 0 {
		lines = append(lines, nil)
	}
	for _, r := range rows {
		lines = append(lines, draw.Cut(draw.Line{{Text: fmt.Sprintf("%-11s ", r[0]), Role: draw.Tag}, {Text: r[1], Role: draw.Meta}}, o))
	}
	return p.print(lines...)
}

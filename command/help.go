package command

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/draw"
)

// helpAll is the flag that shows the whole help of a command, where --help is an excerpt.
const helpAll = "help-all"

// whatItIs is the purpose of the program in one sentence.
const whatItIs = "sequent keeps what AI agents think, as numbered thoughts that branch and revise\n" +
	"each other: you read them, and agents get them back."

//go:embed help.md
var helpText string

// A helpPage is what help.md says of a command: a line, paragraphs, examples, and what only
// --help-all says.
type helpPage struct{ short, long, example, details string }

// helpOf returns the section of help.md with the name of a command.
func helpOf(name string) (h helpPage) {
	_, text, ok := strings.Cut(helpText, "\n## "+name+"\n\n")
	if !ok {
		panic("command: help.md has no section " + name)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	text, h.details, _ = strings.Cut(text, "\n### --"+helpAll+"\n\n")
	text, example, _ := strings.Cut(text, "```sh\n")
	h.example = strings.TrimSuffix(strings.TrimSpace(example), "\n```")
	h.short, h.long, _ = strings.Cut(text, "\n")
	h.long, h.details = strings.TrimSpace(h.long), strings.TrimSpace(h.details)
	return h
}

// addHelpAndCompletion adds the commands help and completion, which refuse what they do
// not know.
func (p *program) addHelpAndCompletion(root *cobra.Command) {
	h := helpOf("help")
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]", Short: h.short, Long: h.long, Example: h.example, GroupID: titleOfServer,
		RunE: func(c *cobra.Command, args []string) error {
			about, err := commandNamed(c.Root(), args)
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	})
	root.InitDefaultCompletionCmd()
	if c, err := commandNamed(root, []string{"completion"}); err == nil {
		h := helpOf("completion")
		c.Hidden = true // packages and the documentation name it
		c.Use, c.Short, c.Long, c.Example = "completion SHELL", h.short, h.long, h.example
		c.Args, c.RunE = onlySubcommands, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
}

// commandNamed returns the command with a path of names below c.
func commandNamed(c *cobra.Command, path []string) (*cobra.Command, error) {
	for _, name := range path {
		at := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
		if at < 0 {
			return nil, unknownCommand(c, name)
		}
		c = c.Commands()[at]
	}
	return c, nil
}

// unknownCommand returns the error of a name that no subcommand of c has. It proposes
// the nearest ones.
func unknownCommand(c *cobra.Command, name string) error {
	e := &usageError{msg: fmt.Sprintf("unknown command %q", name), fix: "run " + c.CommandPath() + " --help for a list of commands"}
	if c.HasParent() {
		e.msg += " of " + c.CommandPath()
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(name); name != "" && len(near) > 0 {
		e.fix = "did you mean " + c.CommandPath() + " " + strings.Join(near, " or "+c.CommandPath()+" ") + "?"
	}
	return e
}

// welcome says what the program is, and how to begin.
func (p *program) welcome() error {
	pg := p.page()
	pg.say("%s\n", whatItIs)
	pg.columns([][2]string{
		{"  " + p.next("demo"), "record and draw an example, without an agent"},
		{"  " + p.next("show"), "draw the latest session"},
		{"  " + p.next("setup"), "add sequent to your editor or agent"},
	})
	pg.add(nil, draw.Line{{Text: "All commands: " + selfName() + " help", Role: draw.Meta}})
	return p.print(pg.lines...)
}

// help writes the help of a command, wrapped to the width of the output.
func (p *program) help(c *cobra.Command) error {
	pg := p.page()
	if c == c.Root() {
		pg.overview(c)
		return p.print(pg.lines...)
	}
	pg.say("%s", c.Long)
	whole := c.Flags().Changed(helpAll)
	if whole {
		pg.say("\n%s", c.Annotations[helpAll])
	}
	usage := c.CommandPath() + " COMMAND [flags]"
	if c.Runnable() {
		usage = c.UseLine()
	}
	pg.say("\nUsage: %s", usage)
	if c.Example != "" {
		pg.heading("Examples")
		for line := range strings.SplitSeq(c.Example, "\n") {
			role := draw.Text
			if strings.HasPrefix(line, "#") {
				role = draw.Meta
			}
			pg.beside("  ", line, role)
		}
	}
	if c.HasAvailableSubCommands() {
		pg.heading("Commands")
		pg.columns(commandsOf(c, ""))
	}
	more := pg.flags("Flags", c.LocalFlags(), whole)
	pg.flags("Flags of all commands", c.InheritedFlags(), true)
	if more > 0 {
		pg.add(nil)
		pg.beside("", fmt.Sprintf("%s --%s describes %d more flags.", c.CommandPath(), helpAll, more), draw.Meta)
	}
	return p.print(pg.lines...)
}

// flags adds the names and descriptions of flags. It returns the number of those that only the whole help has.
func (pg *page) flags(title string, of *pflag.FlagSet, whole bool) (more int) {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	of.VisitAll(func(f *pflag.Flag) {
		if _, rare := f.Annotations[helpAll]; rare && !whole {
			more++
			return
		}
		shown.AddFlag(f)
	})
	pg.heading(title)
	pg.say("%s", strings.TrimSuffix(shown.FlagUsagesWrapped(pg.Width), "\n"))
	return more
}

// overview writes the help of the whole program: its commands, in the order of their use.
func (pg *page) overview(root *cobra.Command) {
	pg.say("%s\n\nUsage: %s COMMAND [flags]\n", root.Long, root.Name())
	width := 0
	for _, c := range root.Commands() {
		width = max(width, draw.Width(c.Use))
	}
	for _, g := range root.Groups() {
		rows := commandsOf(root, g.ID)
		rows[0][0] += strings.Repeat(" ", width-draw.Width(rows[0][0])) // one column for all groups
		pg.add(draw.Line{{Text: g.Title, Role: draw.Title}})
		pg.columns(rows)
	}
	pg.add(nil)
	pg.beside("", "sequent help COMMAND describes a command, with examples and flags. A SEQUENT_ variable can set any flag: "+
		"SEQUENT_STORE sets --store.", draw.Meta)
}

// commandsOf returns the names and descriptions of the subcommands in a group.
func commandsOf(c *cobra.Command, group string) (rows [][2]string) {
	for _, sub := range c.Commands() {
		if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
			rows = append(rows, [2]string{sub.Use, sub.Short})
		}
	}
	return rows
}

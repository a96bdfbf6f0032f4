package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/draw"
)

// addHelpAndCompletion adds the commands help and completion, which refuse what they do
// not know.
func (p *program) addHelpAndCompletion(root *cobra.Command) {
	root.SetHelpCommand(p.helpCommand())
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Use, c.Short = "completion SHELL", "Print the completion script of a shell"
			c.Long = "Print a script with which bash, zsh, fish or powershell completes commands, flags and ids of sessions. The\nhelp of each shell says where the script belongs."
			c.Example = "sequent completion bash > ~/.local/share/bash-completion/completions/sequent\n\n# how to install it for zsh\nsequent help completion zsh"
			c.Args = onlySubcommands
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// helpCommand returns the command help.
func (p *program) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show the help of a command",
		Long:    "Show the help of a command, like the flag --help.",
		Example: "sequent help show\nsequent help token new",
		RunE: func(c *cobra.Command, args []string) error {
			about, err := commandNamed(c.Root(), args)
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if about, err := commandNamed(c.Root(), args); err == nil {
				for _, sub := range about.Commands() {
					if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), prefix) {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// commandNamed returns the command with a path of names below c.
func commandNamed(c *cobra.Command, path []string) (*cobra.Command, error) {
	for _, name := range path {
		at := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool {
			return sub.Name() == name && (sub.IsAvailableCommand() || name == "help")
		})
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
	if !c.HasSubCommands() {
		e.fix = "run " + c.CommandPath() + " --help for usage"
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(name); name != "" && len(near) > 0 {
		e.fix = "did you mean " + c.CommandPath() + " " + strings.Join(near, " or "+c.CommandPath()+" ") + "?"
	}
	return e
}

// help writes the help of a command, wrapped to the width of the output.
func (p *program) help(c *cobra.Command) error {
	o := p.drawing()
	heading := func(s string) draw.Line { return draw.Line{{Text: s, Role: draw.Title}} }
	text := c.Long
	if text == "" {
		text = c.Short
	}
	lines := paragraphs(text, o)
	lines = append(lines, nil, heading("Usage"), draw.Line{{Text: "  " + usageLine(c)}})
	if c.Example != "" {
		lines = append(lines, nil, heading("Examples"))
		for line := range strings.SplitSeq(c.Example, "\n") {
			role := draw.Text
			if strings.HasPrefix(line, "#") {
				role = draw.Meta
			}
			lines = append(lines, draw.Beside(draw.Line{{Text: "  "}}, line, role, o)...)
		}
	}
	for _, g := range c.Groups() {
		lines = append(lines, nil, heading(g.Title))
		lines = append(lines, p.columnsIn(commandsOf(c, g.ID), o)...)
	}
	if c != c.Root() && c.HasAvailableSubCommands() {
		lines = append(lines, nil, heading("Commands"))
		lines = append(lines, p.columnsIn(commandsOf(c, ""), o)...)
	}
	if rows := flagsOf(c.LocalFlags()); len(rows) > 0 {
		lines = append(lines, nil, heading("Flags"))
		lines = append(lines, p.columnsIn(rows, o)...)
	}
	if rows := flagsOf(c.InheritedFlags()); len(rows) > 0 {
		lines = append(lines, nil, heading("Global flags"))
		lines = append(lines, p.columnsIn(rows, o)...)
	}
	if c == c.Root() {
		lines = append(lines, nil, draw.Line{{Text: "Run sequent COMMAND --help for details and examples.", Role: draw.Meta}})
	}
	return p.print(lines...)
}

func usageLine(c *cobra.Command) string {
	if c.Runnable() && c.HasParent() {
		return c.UseLine()
	}
	return c.CommandPath() + " COMMAND [flags]"
}

// paragraphs wraps each paragraph of a text. Blank lines separate paragraphs.
func paragraphs(text string, o draw.Options) []draw.Line {
	var lines []draw.Line
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			lines = append(lines, nil)
		}
		for _, line := range unwrapped(p) {
			lines = append(lines, draw.Beside(nil, line, draw.Text, o)...)
		}
	}
	return lines
}

// unwrapped joins the lines of a paragraph, unless one of them is indented.
func unwrapped(paragraph string) []string {
	lines := strings.Split(paragraph, "\n")
	if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "\t") || strings.HasPrefix(l, " ") }) {
		return lines
	}
	return []string{strings.Join(lines, " ")}
}

// commandsOf returns the names and descriptions of the subcommands in a group.
func commandsOf(c *cobra.Command, group string) [][2]string {
	var rows [][2]string
	for _, sub := range c.Commands() {
		if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
			name, args, _ := strings.Cut(sub.Use, " ")
			rows = append(rows, [2]string{strings.TrimSpace(name + " " + strings.ReplaceAll(args, "[flags]", "")), sub.Short})
		}
	}
	return rows
}

// flagsOf returns the names and descriptions of flags.
func flagsOf(flags *pflag.FlagSet) [][2]string {
	var rows [][2]string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		if value != "" {
			name += " " + strings.ToUpper(value)
		}
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
			usage += fmt.Sprintf(" (default: %s)", f.DefValue)
		}
		rows = append(rows, [2]string{name, usage})
	})
	return rows
}

// columnsIn lays out names and descriptions in two columns, or below each other
// on a narrow terminal.
func (p *program) columnsIn(rows [][2]string, o draw.Options) []draw.Line {
	width := 0
	for _, r := range rows {
		width = max(width, draw.Width(r[0]))
	}
	var lines []draw.Line
	for _, r := range rows {
		name := draw.Span{Text: "  " + r[0], Role: draw.Number}
		if width > o.Width/2 {
			lines = append(lines, draw.Line{name})
			lines = append(lines, draw.Beside(draw.Line{{Text: strings.Repeat(" ", 8)}}, r[1], draw.Text, o)...)
			continue
		}
		name.Text += strings.Repeat(" ", width-draw.Width(r[0])+2)
		lines = append(lines, draw.Beside(draw.Line{name}, r[1], draw.Text, o)...)
	}
	return lines
}

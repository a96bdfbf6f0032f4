package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
)

// A command is a row of the command line. Its help is the section of help.md with its name.
type command struct {
	name  string // after "sequent", such as "store backup"
	args  string // as usage shows them: "[ID]", "FILE...", "OLD NEW"; empty takes none
	flags string // names in the table of flags; see [program.addFlags]
	needs need
	run   func(p *program, ctx context.Context) (result, error) // nil for a group of commands

	pages bool     // the result is shown in a pager on a terminal
	every bool     // without --owner it is about the sessions of all owners
	edits bool     // it changes sessions that exist, which may be those of a server
	words []string // completions of the argument; nil completes IDs of sessions
}

// A need is what is open while a command runs, in [program.app].
type need int

const (
	nothing       need = iota
	storeOnly          // a store that exists
	storeOrServer      // a store that exists, or the server of --server
	storeToCome        // storeOrServer; a default store that does not exist is created, for a server that may use it later
	newStore           // a store, which is created if it does not exist
	serverOnly         // the server of --server
)

// A result is what a command prints: its fields with --json, otherwise what text writes.
type result interface{ text(pg *page) }

// add adds the commands of a section of the help, each to the one above it. Programs call those without a
// title; help does not list them.
func (p *program) add(root *cobra.Command, title string, rows []command) {
	for i := range rows {
		row := &rows[i]
		c, above := row.cobra(p), root
		if i := strings.LastIndexByte(row.name, ' '); i > 0 {
			above, _, _ = root.Find(strings.Fields(row.name[:i]))
		} else {
			c.GroupID, c.Hidden = title, title == ""
		}
		above.AddCommand(c)
	}
}

// cobra returns the row as a command of cobra.
func (row *command) cobra(p *program) *cobra.Command {
	h := helpOf(row.name)
	name := row.name[strings.LastIndexByte(row.name, ' ')+1:]
	c := &cobra.Command{
		Use: strings.TrimSpace(name + " " + row.args), Short: h.short, Long: h.long, Example: h.example,
		Args: row.check, ValidArgsFunction: p.completions(row),
	}
	c.RunE = func(c *cobra.Command, args []string) error { return p.execute(c, row, args) }
	if row.run == nil {
		c.Use += " COMMAND"
		c.Args = onlySubcommands
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	p.addFlags(c, row)
	if h.details != "" {
		c.Annotations = map[string]string{helpAll: h.details}
		c.Flags().Bool(helpAll, false, "help for "+name+" with all flags")
	}
	return c
}

// check checks the number of arguments.
func (row *command) check(c *cobra.Command, args []string) error {
	words := strings.Fields(row.args)
	required := slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		return strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]") // which [ID#]N does not
	})
	switch {
	case c.Flags().Changed(helpAll):
	case len(args) < len(required):
		return misuse(c, "%s requires %s", c.CommandPath(), strings.Join(required[len(args):], " "))
	case len(args) > len(words) && !strings.Contains(row.args, "..."):
		return misuse(c, "unexpected argument %q: %s takes %s", args[len(words)], c.CommandPath(), cmp.Or(row.args, "no arguments"))
	}
	return nil
}

// completions returns the function that completes the arguments of a command.
func (p *program) completions(row *command) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		switch {
		case row.words != nil && len(args) == 0:
			return row.words, cobra.ShellCompDirectiveNoFileComp
		case strings.Contains(row.args, "FILE"):
			return nil, cobra.ShellCompDirectiveDefault
		case strings.Contains(row.args, "ID") && (len(args) == 0 || strings.Contains(row.args, "...")):
			return p.completeIDs(c, prefix)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// execute opens what a command needs, runs it and prints the result.
func (p *program) execute(c *cobra.Command, row *command, args []string) error {
	if c.Flags().Changed(helpAll) {
		return p.help(c)
	}
	p.cmd, p.args, p.pages = c, args, row.pages
	p.allOwners = p.allOwners || row.every && p.owner == ""
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	p.cancel = cancel
	run := func() error {
		r, err := row.run(p, ctx)
		if _, ends := errors.AsType[exit](err); r != nil && (err == nil || ends) {
			p.printResult(r)
		}
		return cmp.Or(p.writing, err)
	}
	switch {
	case row.needs == nothing:
		return run()
	case row.needs == serverOnly && p.server == "":
		return misuse(c, "%s requires --server URL", c.CommandPath())
	case row.edits && p.store == "" && p.getenv(variable("server")) != "": // whose sessions may be meant
		return needsStore(c, "and "+variable("server")+" names a server")
	}
	return p.with(ctx, row.needs, run)
}

// needsStore refuses a server for a command that does not read sessions only.
func needsStore(c *cobra.Command, why string) error {
	return sequent.Errorf(sequent.CodeReadOnly, "", "run "+c.CommandPath()+" on the server's machine, with --store STORE",
		"%s works on a store, %s", c.CommandPath(), why)
}

// misuse returns a usage error that refers to the help of a command.
func misuse(c *cobra.Command, format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...), fix: "run " + c.CommandPath() + " --help for usage"}
}

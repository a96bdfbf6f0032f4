package gendocs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// minShared is the number of commands from which on a flag is described once, for all of them.
const minShared = 3

// Commands returns the reference page of a program and its commands, in the order of its help.
// A flag that several commands have in common is described at the top of the page, one that two
// have at the first of them.
func Commands(root *cobra.Command) string {
	var all []*cobra.Command
	collect(root, &all)
	shared := sharedFlags(root, all)
	var b strings.Builder
	fmt.Fprintf(&b, "# Command line\n\n%s\n\n", cmp.Or(root.Long, sentence(root.Short)))
	fmt.Fprintf(&b, "`%s help COMMAND` describes a command at length. ", root.Name())
	fmt.Fprintf(&b, "Every flag can be set by an environment variable too: `%s_STORE` sets `--store`.\n\n", strings.ToUpper(root.Name()))
	if flags := root.PersistentFlags().FlagUsages(); flags != "" {
		fmt.Fprintf(&b, "Flags of all commands:\n\n```\n%s```\n\n", flags)
	}
	if flags := shared.FlagUsages(); flags != "" {
		fmt.Fprintf(&b, "Flags of several commands, which their usage names:\n\n```\n%s```\n\n", flags)
	}
	first := make(map[description]string)
	for _, c := range all {
		section(&b, c, shared, first)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// collect appends the commands below c that have a section.
func collect(c *cobra.Command, all *[]*cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			*all = append(*all, sub)
			collect(sub, all)
		}
	}
}

// ownFlags calls do with the flags of a command that not all commands have. The flags --help and
// --help-all are about help.
func ownFlags(root, c *cobra.Command, do func(*pflag.Flag)) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if root.PersistentFlags().Lookup(f.Name) == nil && !strings.HasPrefix(f.Name, "help") {
			do(f)
		}
	})
}

// A description is what a page says of a flag.
type description struct{ name, usage, value string }

func describe(f *pflag.Flag) description { return description{f.Name, f.Usage, f.DefValue} }

// sharedFlags returns the flags that several commands describe in the same words.
func sharedFlags(root *cobra.Command, all []*cobra.Command) *pflag.FlagSet {
	known := make(map[description]int)
	shared := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, c := range all {
		ownFlags(root, c, func(f *pflag.Flag) {
			if known[describe(f)]++; known[describe(f)] == minShared {
				shared.AddFlag(f)
			}
		})
	}
	return shared
}

// section writes the section of a command. The map has the command that described a flag first.
// The examples of a group are those of its commands.
func section(b *strings.Builder, c *cobra.Command, shared *pflag.FlagSet, first map[description]string) {
	fmt.Fprintf(b, "## `%s`\n\n%s\n\n", c.CommandPath(), sentence(c.Short))
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	usage := strings.TrimSuffix(c.UseLine(), " [flags]")
	group := strings.Contains(c.Use, "COMMAND")
	var common []string
	like := make(map[string][]string)
	ownFlags(c.Root(), c, func(f *pflag.Flag) {
		if s := shared.Lookup(f.Name); s != nil && describe(s) == describe(f) {
			common = append(common, "[--"+f.Name+"]")
		} else if path := first[describe(f)]; path != "" {
			like[path] = append(like[path], "`--"+f.Name+"`")
		} else {
			first[describe(f)] = c.CommandPath()
			own.AddFlag(f)
		}
	})
	if own.HasFlags() || len(like) > 0 {
		usage += " [flags]"
	}
	if c.Runnable() && !group {
		fmt.Fprintf(b, "```\n%s\n```\n\n", strings.Join(slices.Insert(common, 0, usage), " "))
	}
	if own.HasFlags() {
		fmt.Fprintf(b, "```\n%s```\n\n", own.FlagUsages())
	}
	for _, path := range slices.Sorted(maps.Keys(like)) {
		fmt.Fprintf(b, "As in `%s`: %s.\n\n", path, strings.Join(like[path], ", "))
	}
	if c.Example != "" && !group {
		fmt.Fprintf(b, "```\n%s\n```\n\n", strings.Trim(c.Example, "\n"))
	}
}

package gendocs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Commands returns the reference page of a command and its subcommands.
func Commands(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Command line\n\n")
	section(&b, root)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func section(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "## `%s`\n\n", c.CommandPath())
	switch {
	case c.Long != "":
		fmt.Fprintf(b, "%s\n\n", strings.TrimSpace(c.Long))
	case c.Short != "":
		fmt.Fprintf(b, "%s\n\n", sentence(c.Short))
	}
	if c.Runnable() {
		fmt.Fprintf(b, "```\n%s\n```\n\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(b, "Examples:\n\n```\n%s\n```\n\n", strings.Trim(c.Example, "\n"))
	}
	if flags := c.LocalFlags().FlagUsages(); flags != "" {
		fmt.Fprintf(b, "Flags:\n\n```\n%s```\n\n", flags)
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !slices.Contains([]string{"help", "completion", "man"}, sub.Name()) {
			section(b, sub)
		}
	}
}

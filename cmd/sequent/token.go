package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) token() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "token COMMAND",
		Short: "Make, list and revoke the tokens of a server over HTTP",
		Long: `Make, list and revoke the tokens that sequent serve --http --auth FILE asks for. Who has a token of
a subject has that subject's sessions and no others. The file holds hashes of tokens, one SUBJECT:HASH
a line, and never a token. A server notices changes within seconds.`,
		Example: "# a token for alice, shown once\nsequent token new alice\n\n# what there is\nsequent token list\n\n" +
			"# by its ID, or by the token itself\nsequent token revoke 9f86d081884c",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse(c, "there is no command %q of sequent token", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	path := func() (string, error) { return app.TokenFile(cmp.Or(file, p.getenv("SEQUENT_AUTH"))) }
	c.PersistentFlags().StringVar(&file, "file", "", "the `FILE` of tokens (default: what SEQUENT_AUTH says, else tokens in your data directory)")
	c.AddCommand(p.tokenNew(path), p.tokenList(path), p.tokenRevoke(path))
	return c
}

func (p *program) tokenNew(path func() (string, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   "new SUBJECT",
		Short: "Make a token and show it, this once",
		Long: `Make a token for a subject, a person or a program, and add its hash to the file, which is made if
there is none. The token is shown this once: standard output has it and nothing else. A subject may
have several.

With --json: {"token", "id", "subject", "file"}.`,
		Example: "sequent token new alice\n\n# for a program that takes it from a file\n(umask 077; sequent token new ci --file /etc/sequent/tokens > ci.token)",
		Args:    arguments(1, 1, "one SUBJECT, the name of who will have the token"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := path()
			if err != nil {
				return err
			}
			secret, info, err := app.NewToken(file, args[0])
			if err != nil {
				return err
			}
			if p.json {
				return writeJSON(p.out, struct {
					Token   string `json:"token"`
					ID      string `json:"id"`
					Subject string `json:"subject"`
					File    string `json:"file"`
				}{secret, info.ID, info.Subject, file})
			}
			if err := p.say("%s", secret); err != nil {
				return err
			}
			if isTerminal(p.err) {
				fmt.Fprintf(p.err, "\nThis is the only time that it is shown; %s has its hash.\n"+
					"A server that asks for it: sequent serve --http ADDRESS --auth %s\n"+
					"Clients send it as a header: Authorization: Bearer TOKEN\n", shortPath(file), quoted(file))
			}
			return nil
		},
	}
	p.asJSON(c)
	return c
}

func (p *program) tokenList(path func() (string, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tokens of a file",
		Long: `List whose tokens a file has. The ID of a token is the beginning of its hash; the token itself is
nowhere.

With --json: {"file", "tokens": [{id, subject}]}.`,
		Example: "sequent token list\nsequent token list --file /etc/sequent/tokens --json",
		Args:    arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			file, err := path()
			if err != nil {
				return err
			}
			list, err := app.Tokens(file)
			if err != nil {
				return err
			}
			if p.json {
				return writeJSON(p.out, struct {
					File   string      `json:"file"`
					Tokens []app.Token `json:"tokens"`
				}{file, list})
			}
			if len(list) == 0 {
				return p.say("%s has no tokens: sequent token new SUBJECT makes one.", file)
			}
			lines := []draw.Line{{{Text: "ID            SUBJECT", Role: draw.Meta}}}
			for _, t := range list {
				lines = append(lines, draw.Line{{Text: t.ID + "  ", Role: draw.Number}, {Text: draw.One(t.Subject, p.charset())}})
			}
			return p.print(lines...)
		},
	}
	p.asJSON(c)
	return c
}

func (p *program) tokenRevoke(path func() (string, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Make tokens worthless",
		Long: `Make tokens worthless, each named by its ID or by the token itself. If one is not in the file none is
revoked. Servers that use the file notice within seconds. The sessions of the subject stay, for its
other tokens and for those it gets later.

With --json: {"revoked": [{id, subject}]}.`,
		Example: "sequent token revoke 9f86d081884c\n\n# one that has leaked\nsequent token revoke sequent_ABCDEFGHIJKLMNOPQRSTUVWXYZ",
		Args:    arguments(1, -1, "the ID of a token; sequent token list has them"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := path()
			if err != nil {
				return err
			}
			gone, err := app.RevokeTokens(file, args...)
			if bad, ok := errors.AsType[*app.ConfigError](err); ok {
				bad.Fix = "sequent token list shows what there is"
			}
			if err != nil {
				return err
			}
			if p.json {
				return writeJSON(p.out, struct {
					Revoked []app.Token `json:"revoked"`
				}{gone})
			}
			for _, t := range gone {
				if err := p.say("Revoked %s of %s.", t.ID, draw.One(t.Subject, p.charset())); err != nil {
					return err
				}
			}
			return nil
		},
	}
	p.asJSON(c)
	return c
}

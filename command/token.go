package command

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
		Short: "Manage the tokens of an HTTP server",
		Long: `Create, list and revoke the tokens of sequent serve --http --auth FILE. A token gives access to the
sessions of its subject. The file has one line SUBJECT:HASH per token and never contains a token itself.
A server reloads the file within seconds.`,
		Example: "# create a token for alice\nsequent token new alice\n\n# list all tokens\nsequent token list\n\n" +
			"# revoke a token by its ID\nsequent token revoke 9f86d081884c",
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	path := func() (string, error) { return app.TokenFile(cmp.Or(file, p.getenv("SEQUENT_AUTH"))) }
	c.PersistentFlags().StringVar(&file, "file", "", "token file (default: the value of SEQUENT_AUTH, otherwise tokens in your data directory)")
	c.AddCommand(p.tokenNew(path), p.tokenList(path), p.tokenRevoke(path))
	return c
}

func (p *program) tokenNew(path func() (string, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   "new SUBJECT",
		Short: "Create a token and print it once",
		Long: `Create a token for a subject, such as a person or a program, print it, and add its hash to the token
file. The file is created if it does not exist. The token cannot be shown again. A subject can have
several tokens.

--json prints {"token", "id", "subject", "file"}.`,
		Example: "sequent token new alice\n\n# save the token in a file for a program\n(umask 077; sequent token new ci > ci.token)",
		Args:    arguments(1, 1, "one SUBJECT, the user of the token"),
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
			if err := p.printf("%s", secret); err != nil {
				return err
			}
			if isTerminal(p.err) {
				fmt.Fprintf(p.err, "\nSave the token now: it cannot be shown again. Its hash is in %s.\n"+
					"Run a server that requires it: sequent serve --http 8080 --auth %s\n"+
					"Clients send the header: Authorization: Bearer TOKEN\n", shortPath(file), quoted(file))
			}
			return nil
		},
	}
	p.addJSONFlag(c)
	return c
}

func (p *program) tokenList(path func() (string, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tokens in the file",
		Long: `List the subject and the ID of each token in the file. The ID is the beginning of the token's hash.

--json prints {"file", "tokens": [{id, subject}]}.`,
		Example: "sequent token list\nsequent token list --json",
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
				return p.printf("%s has no tokens. Run sequent token new SUBJECT to create one.", file)
			}
			lines := []draw.Line{{{Text: "ID            SUBJECT", Role: draw.Meta}}}
			for _, t := range list {
				lines = append(lines, draw.Line{{Text: t.ID + "  ", Role: draw.Number}, {Text: draw.One(t.Subject, p.charset())}})
			}
			return p.print(lines...)
		},
	}
	p.addJSONFlag(c)
	return c
}

func (p *program) tokenRevoke(path func() (string, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Revoke tokens",
		Long: `Revoke tokens by their IDs, or by the tokens themselves. If one of them is not in the file, none is
revoked. Servers reject a revoked token within seconds. The sessions of the subject are kept, for its
other and future tokens.

--json prints {"revoked": [{id, subject}]}.`,
		Example: "sequent token revoke 9f86d081884c\n\n# a leaked token\nsequent token revoke sequent_ABCDEFGHIJKLMNOPQRSTUVWXYZ",
		Args:    arguments(1, -1, "the ID of a token, as printed by sequent token list"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := path()
			if err != nil {
				return err
			}
			revoked, err := app.RevokeTokens(file, args...)
			if bad, ok := errors.AsType[*app.ConfigError](err); ok {
				bad.Fix = "run sequent token list for the ids of tokens"
			}
			if err != nil {
				return err
			}
			if p.json {
				return writeJSON(p.out, struct {
					Revoked []app.Token `json:"revoked"`
				}{revoked})
			}
			for _, t := range revoked {
				if err := p.printf("Revoked %s of %s.", t.ID, draw.One(t.Subject, p.charset())); err != nil {
					return err
				}
			}
			return nil
		},
	}
	p.addJSONFlag(c)
	return c
}

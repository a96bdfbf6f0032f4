package command

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/auth/token"
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
A line may end with scope=read|write|admin, expires=2027-06-30 and # NOTE. A server reloads the file
within seconds.`,
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
	var scope, expires, note, url string
	c := &cobra.Command{
		Use:   "new SUBJECT",
		Short: "Create a token and print it once",
		Long: `Create a token for a subject, such as a person or a program, print it, and add its hash to the token
file. The file is created if it does not exist. The token cannot be shown again. A subject can have
several tokens.

The scope read allows to read and search, write (the default) to record thoughts and notes too, and
admin to see the sessions of all owners. On a terminal, or with --url, the text that the subject pastes
to connect a client follows on standard error.

--json prints {"token", "id", "subject", "scope", "expires", "note", "file"}.`,
		Example: "sequent token new alice --url https://think.example.com/mcp\n\n# a token that reads for 90 days\nsequent token new reviews --scope read --expires 90d --note \"weekly review\"\n\n" +
			"# save the token in a file for a program\n(umask 077; sequent token new ci > ci.token)",
		Args: arguments(1, 1, "one SUBJECT, the user of the token"),
		RunE: func(_ *cobra.Command, args []string) error {
			grant := token.Grant{Subject: args[0], Note: note}
			var err error
			if grant.Scope, err = token.ParseScope(scope); err != nil {
				return invalid("scope", scope, "read, write or admin")
			}
			if expires != "" {
				if grant.Expires, err = p.expiry(expires); err != nil {
					return err
				}
			}
			file, err := path()
			if err != nil {
				return err
			}
			secret, info, err := app.NewToken(file, grant)
			if err != nil {
				return err
			}
			if p.json {
				type described app.Token // beside a member named Token
				return writeJSON(p.out, struct {
					Token string `json:"token"`
					described
					File string `json:"file"`
				}{secret, described(info), file})
			}
			if err := p.printf("%s", secret); err != nil {
				return err
			}
			if url != "" || isTerminal(p.err) {
				p.explainToken(file, url)
			}
			return nil
		},
	}
	c.Flags().StringVar(&scope, "scope", "write", "what the token allows: read, write or admin")
	c.Flags().StringVar(&expires, "expires", "", "when the token ceases to be valid: a date such as 2027-06-30, or a duration such as 90d (default: never)")
	c.Flags().StringVar(&note, "note", "", "what the token is for, such as the machine that has it")
	c.Flags().StringVar(&url, "url", "", "URL of the server, for the text that the subject pastes")
	p.addJSONFlag(c)
	return c
}

// expiry returns the time that a date or a duration from now means.
func (p *program) expiry(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	var d time.Duration
	if err := (*span)(&d).Set(text); err != nil || d <= 0 {
		return time.Time{}, invalid("expires", text, "a date such as 2027-06-30, or a duration such as 90d")
	}
	return time.Now().Add(d).Truncate(time.Second), nil
}

// explainToken prints what to do with a new token: how to run a server, and what its subject
// pastes. It does not repeat the token, which belongs into an environment variable.
func (p *program) explainToken(file, url string) {
	fmt.Fprintf(p.err, "\nSave the token now: it cannot be shown again. Its hash is in %s.\n", shortPath(file))
	if url == "" {
		fmt.Fprintf(p.err, "Run a server that requires it:\n  sequent serve --http 8080 --auth %s\n", quoted(file))
		url = "http://127.0.0.1:8080/mcp"
	}
	fmt.Fprintf(p.err, `
Who has the token connects a client with one of these:
  export SEQUENT_TOKEN=TOKEN
  sequent setup --team %[1]s --token-env SEQUENT_TOKEN
  claude mcp add --transport http sequent %[1]s --header "Authorization: Bearer $SEQUENT_TOKEN"
or with JSON in the client's configuration:
  {"mcpServers": {"sequent": {"type": "http", "url": %[2]q, "headers": {"Authorization": "Bearer TOKEN"}}}}
`, quoted(url), url)
}

func (p *program) tokenList(path func() (string, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tokens in the file",
		Long: `List the tokens in the file: the ID, which is the beginning of the token's hash, the scope, when it
expires, the subject and the note.

--json prints {"file", "tokens": [{id, subject, scope, expires, note}]}.`,
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
			lines := []draw.Line{{{Text: "ID            SCOPE  EXPIRES     SUBJECT", Role: draw.Meta}}}
			for _, t := range list {
				lines = append(lines, p.tokenLine(t))
			}
			return p.print(lines...)
		},
	}
	p.addJSONFlag(c)
	return c
}

// tokenLine is the line of a token in a list.
func (p *program) tokenLine(t app.Token) draw.Line {
	expires := draw.Span{Text: fmt.Sprintf("%-10s  ", "never"), Role: draw.Meta}
	switch {
	case t.Expires.IsZero():
	case time.Now().After(t.Expires):
		expires = draw.Span{Text: fmt.Sprintf("%-10s  ", "expired"), Role: draw.Superseded}
	default:
		expires.Text = t.Expires.Format(time.DateOnly) + "  "
	}
	line := draw.Line{
		{Text: t.ID + "  ", Role: draw.Number}, {Text: fmt.Sprintf("%-5s  ", strings.TrimPrefix(t.Scope, "sequent:"))},
		expires, {Text: draw.One(t.Subject, p.charset())},
	}
	if t.Note != "" {
		line = append(line, draw.Span{Text: "  " + draw.One(t.Note, p.charset()), Role: draw.Meta})
	}
	return line
}

func (p *program) tokenRevoke(path func() (string, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Revoke tokens",
		Long: `Revoke tokens by their IDs, or by the tokens themselves. If one of them is not in the file, none is
revoked. Servers reject a revoked token within seconds. The sessions of the subject are kept, for its
other and future tokens.

--json prints {"revoked": [{id, subject, scope, expires, note}]}.`,
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

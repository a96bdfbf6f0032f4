package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// tokenFile returns the token file of --file, otherwise that of SEQUENT_AUTH.
func (p *program) tokenFile() (string, error) {
	return app.TokenFile(cmp.Or(p.file, p.getenv(variable("auth"))))
}

// A newToken is the result of sequent server token new.
type newToken struct {
	Token string `json:"token"`
	describedToken
	File string `json:"file"`
}

type describedToken token.Info // beside a member named Token

func runTokenNew(p *program, _ context.Context) (result, error) {
	grant := token.Info{Subject: p.args[0], Note: p.about}
	var err error
	if grant.Scope, err = token.ParseScope(p.scope); err != nil {
		return nil, err
	}
	if p.expires != "" {
		if grant.Expires, err = expiry(p.expires); err != nil {
			return nil, err
		}
	}
	file, err := p.tokenFile()
	if err != nil {
		return nil, err
	}
	secret, info, err := token.Add(file, grant)
	return &newToken{secret, describedToken(info), file}, err
}

func (t *newToken) text(pg *page) {
	pg.add(draw.Line{{Text: t.Token}})
	if pg.url != "" || isTerminal(pg.err) {
		pg.explainToken(t.File, pg.url)
	}
}

// expiry returns the time that a date or a duration from now means.
func expiry(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	d, ok := parseSpan(text)
	if !ok || d <= 0 {
		return time.Time{}, invalid("--expires", text, "a date such as 2027-06-30, or a duration such as 90d")
	}
	return time.Now().Add(d).Truncate(time.Second), nil
}

// explainToken prints what to do with a new token: how to run a server, and what its subject
// pastes. It does not repeat the token, which belongs into an environment variable.
func (p *program) explainToken(file, url string) {
	fmt.Fprintf(p.err, "\nSave the token now: it cannot be shown again. Its hash is in %s.\n", shortPath(file))
	if url == "" {
		fmt.Fprintf(p.err, "Run a server that requires it:\n  %s\n", p.next("serve", "--http", "8080", "--auth", file))
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

// A tokenList is what a token file has.
type tokenList struct {
	File   string       `json:"file"`
	Tokens []token.Info `json:"tokens"`
}

func runTokenList(p *program, _ context.Context) (result, error) {
	file, err := p.tokenFile()
	if err != nil {
		return nil, err
	}
	list, err := token.List(file)
	return &tokenList{file, list}, err
}

func (l *tokenList) text(pg *page) {
	if len(l.Tokens) == 0 {
		pg.say("%s has no tokens. Run sequent server token new SUBJECT to create one.", l.File)
		return
	}
	rows := [][]cell{head("ID", "SCOPE", "EXPIRES", "SUBJECT")}
	for _, t := range l.Tokens {
		expires := cell{"never", draw.Meta}
		switch {
		case t.Expires.IsZero():
		case time.Now().After(t.Expires):
			expires = cell{"expired", draw.Superseded}
		default:
			expires.text = t.Expires.Format(time.DateOnly)
		}
		subject := printable.Line(t.Subject)
		if t.Note != "" {
			subject += "  " + printable.Line(t.Note)
		}
		rows = append(rows, []cell{{t.ID, draw.Number}, {strings.TrimPrefix(t.Scope.String(), "sequent:"), draw.Text}, expires, {subject, draw.Text}})
	}
	pg.table(rows)
}

// A revocation is what sequent server token revoke has revoked.
type revocation struct {
	Revoked []token.Info `json:"revoked"`
}

func runTokenRevoke(p *program, _ context.Context) (result, error) {
	file, err := p.tokenFile()
	if err != nil {
		return nil, err
	}
	revoked, err := token.Revoke(file, p.args...)
	return &revocation{revoked}, err
}

func (r *revocation) text(pg *page) {
	for _, t := range r.Revoked {
		pg.say("Revoked %s of %s.", t.ID, printable.Line(t.Subject))
	}
}

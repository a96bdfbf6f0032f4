package command

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) doctor() *cobra.Command {
	var tokens string
	var oidc app.OIDC
	var signIn bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Diagnose problems and suggest fixes",
		Long: `Check the store, its disk, the token file if there is one, the environment, the terminal and the entries
in the configurations of MCP clients, and suggest a fix for each problem. The search index is compared with
the store, the latest sessions are verified against their hashes, and searches for the words of some thoughts
must find them. The server of each entry is started as the client does, or connected to, and must be of this
version; it opens its store. Otherwise the command changes nothing, except that it creates and removes a
folder where a store is to be created. The exit code is 1 if a check fails.

With --oidc URL and --sign-in, pass the flags of sequent serve that say how the provider is used.

--json prints {"ok": bool, "findings": [{check, status, detail, fix}]}; status is ok, warn or fail.`,
		Example: "sequent doctor\nsequent doctor --store ./.sequent/sequent.db --auth tokens\nsequent doctor --oidc https://login.example.com\n" +
			"sequent doctor --oidc https://login.example.com --public-url https://think.example.com --oidc-client-id sequent --sign-in\nsequent doctor --json",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			findings, err := p.examine(c, tokens, oidc, signIn)
			if err != nil {
				return err
			}
			ok := !slices.ContainsFunc(findings, func(f diagnosis.Finding) bool { return f.Status == diagnosis.Fail })
			if p.json {
				err = writeJSON(p.out, struct {
					OK       bool                `json:"ok"`
					Findings []diagnosis.Finding `json:"findings"`
				}{ok, findings})
			} else {
				err = p.print(p.report(findings)...)
			}
			if err == nil && !ok {
				return errReported
			}
			return err
		},
	}
	c.Flags().StringVar(&tokens, "auth", "", "token file of a server (default: tokens in your data directory, if it exists)")
	c.Flags().StringVar(&oidc.Issuer, "oidc", "", "URL of an OpenID Connect provider; checks that clients can sign in through it")
	c.Flags().BoolVar(&signIn, "sign-in", false, "sign in to the provider by the device flow, and check its token as the server would (with --oidc)")
	addProvider(c.Flags(), &oidc, " (with --sign-in)")
	p.addJSONFlag(c)
	p.addWidthFlag(c)
	return c
}

func (p *program) examine(c *cobra.Command, tokens string, oidc app.OIDC, signIn bool) ([]diagnosis.Finding, error) {
	if signIn && oidc.Issuer == "" {
		return nil, misuse(c, "--sign-in requires --oidc URL")
	}
	ctx := c.Context()
	findings := []diagnosis.Finding{
		{Check: "program", Status: diagnosis.OK, Detail: buildInfo().String()},
		environment(c.Root()),
		p.terminal(),
	}
	findings = append(findings, p.behindProxy()...)
	store, err := app.Diagnose(ctx, p.config())
	if err != nil {
		return nil, err
	}
	auth, err := app.DiagnoseTokens(tokens)
	if err != nil {
		return nil, err
	}
	var show func(page, code string)
	if signIn {
		show = p.showCode
	}
	provider, err := app.DiagnoseOIDC(ctx, oidc, show)
	if err != nil {
		return nil, err
	}
	auth = append(auth, provider...)
	clients, _, err := p.examineClients(ctx, buildInfo().Version)
	return slices.Concat(findings, store, auth, clients), err
}

// environment reports the variables that have an effect, and unknown ones.
func environment(root *cobra.Command) diagnosis.Finding {
	var set, unknown []string
	known := map[string]bool{}
	var learn func(c *cobra.Command)
	learn = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known[variable(f.Name)] = true })
		for _, sub := range c.Commands() {
			learn(sub)
		}
	}
	learn(root)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case value == "": // has no effect
		case name == secretVariable:
			set = append(set, name+" (a secret)")
		case name == "DISABLE_THOUGHT_LOGGING" || known[name]:
			if name == variable("store") || name == variable("from") || name == variable("to") {
				value = withoutSecret(value)
			}
			set = append(set, name+"="+value)
		case strings.HasPrefix(name, "SEQUENT_"):
			unknown = append(unknown, name)
		}
	}
	slices.Sort(set)
	slices.Sort(unknown)
	switch {
	case len(unknown) > 0:
		return diagnosis.Finding{
			Check: "environment", Status: diagnosis.Warn,
			Detail: "unknown: " + strings.Join(unknown, ", "),
			Fix:    "unset it, or use the name of a flag, such as SEQUENT_STORE for --store",
		}
	case len(set) > 0:
		return diagnosis.Finding{Check: "environment", Status: diagnosis.OK, Detail: strings.Join(set, ", ")}
	}
	return diagnosis.Finding{Check: "environment", Status: diagnosis.OK, Detail: "no variables are set"}
}

// behindProxy reports what a server with this environment lacks behind a proxy.
func (p *program) behindProxy() []diagnosis.Finding {
	const check = "proxy"
	var r diagnosis.Report
	public := p.getenv(variable("public-url"))
	u, err := url.Parse(public)
	switch {
	case public == "":
		return nil
	case err != nil || u.Host == "":
		r.Fail(check, "use the URL by which clients reach the server, such as https://think.example.com", "%s is %q, which is no URL", variable("public-url"), public)
	case u.Scheme != "https" && !admission.LocalName(u.Hostname()):
		r.Warn(check, "put TLS in front of the server and use https", "%s is %s: tokens cross the network unencrypted", variable("public-url"), public)
	case p.getenv(variable("tls-cert")) == "" && p.getenv(variable("trusted-proxy")) == "" && !admission.LocalName(u.Hostname()):
		r.Warn(check, "set "+variable("trusted-proxy")+" to the proxy's address",
			"%s needs a proxy with TLS, and no proxy is trusted: all clients without a token count as one", public)
	default:
		r.OK(check, "clients reach the server at %s", public)
	}
	return r.Findings
}

// terminal reports how sessions are drawn.
func (p *program) terminal() diagnosis.Finding {
	f := diagnosis.Finding{Check: "terminal", Status: diagnosis.OK}
	switch {
	case !isTerminal(p.out):
		f.Detail = "output is not a terminal"
	case p.charset() != draw.Unicode:
		f.Status = diagnosis.Warn
		f.Detail = "the locale is not UTF-8, so trees are drawn in ASCII"
		f.Fix = "if the terminal supports UTF-8, set LANG to a locale such as C.UTF-8"
	default:
		f.Detail = fmt.Sprintf("%d columns, UTF-8", p.columns())
		if !p.colored(p.out) {
			f.Detail += ", without colour"
		}
	}
	return f
}

// report lays out findings as text.
func (p *program) report(findings []diagnosis.Finding) []draw.Line {
	counts := map[diagnosis.Status]int{}
	for _, f := range findings {
		counts[f.Status]++
	}
	verdict := "All checks passed."
	switch {
	case counts[diagnosis.Fail] > 0:
		verdict = draw.Count(counts[diagnosis.Fail], "check", "checks") + " failed."
	case counts[diagnosis.Warn] > 0:
		verdict = "No check failed; " + draw.Count(counts[diagnosis.Warn], "warning", "warnings") + "."
	}
	return append(p.findings(findings), nil, draw.Line{{Text: verdict, Role: draw.Title}})
}

// findings draws what was found.
func (p *program) findings(findings []diagnosis.Finding) (lines []draw.Line) {
	o := p.drawing()
	width := 0
	for _, f := range findings {
		width = max(width, draw.Width(f.Check))
	}
	roles := map[diagnosis.Status]draw.Role{diagnosis.OK: draw.Final, diagnosis.Warn: draw.Tag, diagnosis.Fail: draw.Newest}
	for _, f := range findings {
		lead := draw.Line{
			{Text: fmt.Sprintf("%-4s  ", f.Status), Role: roles[f.Status]},
			{Text: f.Check + strings.Repeat(" ", width-draw.Width(f.Check)+2), Role: draw.Title},
		}
		lines = append(lines, draw.Beside(lead, f.Detail, draw.Text, o)...)
		if f.Fix != "" {
			lines = append(lines, draw.Beside(draw.Line{{Text: strings.Repeat(" ", width+8)}}, "→ "+f.Fix, roles[f.Status], o)...)
		}
	}
	return lines
}

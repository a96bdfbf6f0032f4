package command

import (
	"context"
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
	"github.com/sequent-dev/sequent/internal/printable"
)

// An examination is what sequent doctor has found.
type examination struct {
	OK       bool                `json:"ok"`
	Findings []diagnosis.Finding `json:"findings"`
}

func runDoctor(p *program, ctx context.Context) (result, error) {
	oidc := p.serving.HTTP.OIDC
	if p.try && p.requireTerminal() != nil {
		return nil, &usageError{msg: "--try asks before it starts or contacts something, which requires a terminal", fix: "run it on a terminal, or omit --try"}
	}
	found := &examination{Findings: []diagnosis.Finding{
		{Check: "program", Status: diagnosis.OK, Detail: buildInfo().String()},
		environment(p.cmd.Root()),
		p.terminal(),
	}}
	for _, look := range []func() ([]diagnosis.Finding, error){
		p.behindProxy,
		func() ([]diagnosis.Finding, error) { return app.Diagnose(ctx, p.config()) },
		func() ([]diagnosis.Finding, error) { return app.DiagnoseTokens(p.serving.HTTP.Tokens) },
		func() ([]diagnosis.Finding, error) { return app.DiagnoseOIDC(ctx, oidc) },
		func() ([]diagnosis.Finding, error) { return p.examineClients(ctx, buildInfo().Version) },
	} {
		more, err := look()
		if err != nil {
			return nil, err
		}
		found.Findings = append(found.Findings, more...)
	}
	found.OK = !slices.ContainsFunc(found.Findings, func(f diagnosis.Finding) bool { return f.Status == diagnosis.Fail })
	if !found.OK {
		return found, errReported
	}
	return found, nil
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
		case name == secretVariable || name == tokenVariable:
			set = append(set, name+" (a secret)")
		case name == "DISABLE_THOUGHT_LOGGING" || name == "SEQUENT_PAGER" || known[name]:
			if name == variable("store") || name == variable("to") {
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
func (p *program) behindProxy() ([]diagnosis.Finding, error) {
	const check = "proxy"
	var r diagnosis.Report
	public := p.getenv(variable("public-url"))
	u, err := url.Parse(public)
	switch {
	case public == "":
		return nil, nil
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
	return r.Findings, nil
}

// terminal reports how sessions are drawn.
func (p *program) terminal() diagnosis.Finding {
	f := diagnosis.Finding{Check: "terminal", Status: diagnosis.OK}
	switch {
	case !isTerminal(p.out):
		f.Detail = "output is not a terminal"
	default:
		f.Detail = fmt.Sprintf("%d columns", p.columns())
		if !p.colored(p.out) {
			f.Detail += ", without colour"
		}
	}
	return f
}

func (e *examination) text(pg *page) {
	pg.findings(e.Findings)
	counts := map[diagnosis.Status]int{}
	for _, f := range e.Findings {
		counts[f.Status]++
	}
	verdict := "All checks passed."
	switch {
	case counts[diagnosis.Fail] > 0:
		verdict = printable.Count(counts[diagnosis.Fail], "check", "checks") + " failed."
	case counts[diagnosis.Warn] > 0:
		verdict = "No check failed; " + printable.Count(counts[diagnosis.Warn], "warning", "warnings") + "."
	}
	pg.heading(verdict)
}

// findings adds what was found, with what to do about it.
func (pg *page) findings(findings []diagnosis.Finding) {
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
		pg.add(draw.Beside(lead, f.Detail, draw.Text, pg.Options)...)
		if f.Fix != "" {
			pg.beside(strings.Repeat(" ", width+8), "→ "+f.Fix, roles[f.Status])
		}
	}
}

package app

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/oidc"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// An OIDC is an OpenID Connect provider whose access tokens admit to the HTTP server.
type OIDC struct {
	Issuer    string   // its URL; empty means none
	PublicURL string   // of the server, as clients type it, without /mcp; required with Issuer
	Audiences []string // of tokens for this server, besides its URL
}

// resource is what clients are told about tokens; nil without a provider.
func (o OIDC) resource() *auth.Resource {
	if o.Issuer == "" {
		return nil
	}
	return &auth.Resource{URL: o.public(), Issuers: []string{o.Issuer}}
}

// public returns the public URL without what people add to it.
func (o OIDC) public() string {
	return strings.TrimSuffix(strings.TrimRight(o.PublicURL, "/"), "/mcp")
}

// origins returns the origin of the public URL, which is the server's own; none without one.
func (o OIDC) origins() []string {
	u, err := url.Parse(o.PublicURL)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Scheme + "://" + u.Host}
}

// provider returns the authenticator. Nothing is asked yet, so the server can start before
// the provider.
func (o OIDC) provider(a *App) (auth.Authenticator, error) {
	public, err := url.Parse(o.public())
	switch {
	case o.PublicURL == "":
		return nil, &ConfigError{
			Msg: "--oidc-issuer requires --public-url",
			Fix: "add the URL by which clients reach this server, such as --public-url https://think.example.com",
		}
	case err != nil || public.Host == "" || public.Scheme != "https" && public.Scheme != "http" || public.RawQuery != "" || public.Fragment != "":
		return nil, &ConfigError{
			Msg: fmt.Sprintf("invalid value %q for --public-url", o.PublicURL),
			Fix: "use the URL by which clients reach this server, such as https://think.example.com",
		}
	}
	cfg := oidc.Config{Issuer: o.Issuer, Resource: o.public(), Audiences: o.Audiences}
	if a != nil {
		cfg.Logger = a.logger
	}
	provider, err := oidc.New(cfg)
	if err != nil {
		return nil, &ConfigError{
			Msg: "--oidc-issuer: " + err.Error(),
			Fix: "use the issuer exactly as the provider's /.well-known/openid-configuration has it",
		}
	}
	return provider, nil
}

// DiagnoseOIDC checks that clients can sign in through a provider; none is checked if issuer is
// empty.
func DiagnoseOIDC(ctx context.Context, issuer string) []diagnosis.Finding {
	if issuer == "" {
		return nil
	}
	const check = "provider"
	var r diagnosis.Report
	for _, f := range oidc.Examine(ctx, issuer, "") {
		if f.Mild {
			r.Warn(check, f.Fix, "%s", f.Text)
		} else {
			r.Fail(check, f.Fix, "%s", f.Text)
		}
	}
	if r.Findings == nil {
		r.OK(check, "clients can sign in through %s; whether its tokens are for a server shows only with a token", issuer)
	}
	return r.Findings
}

package app

import (
	"context"
	"log/slog"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/oidc"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// An OIDC is an OpenID Connect provider whose access tokens admit to the HTTP server. Without an Issuer
// there is none. Resource and Logger follow from the other settings.
type OIDC struct {
	oidc.Config
	PublicURL     string // of the server, as clients type it, also for links; with or without /mcp; required with Issuer
	LoginClientID string // of the command line; empty means ClientID, if that has no secret
}

// resource is what clients are told about tokens; nil without a provider.
func (o OIDC) resource() *auth.Resource {
	if o.Issuer == "" {
		return nil
	}
	client := o.LoginClientID
	if client == "" && o.ClientSecret == "" { // the command line can keep none
		client = o.ClientID
	}
	return &auth.Resource{
		URL: o.public(), Issuers: []string{o.Issuer}, SignIn: auth.SignIn{Client: client, Scopes: o.Scopes, Parameters: o.Parameters},
	}
}

// public returns the public URL without what people add to it.
func (o OIDC) public() string {
	return strings.TrimSuffix(strings.TrimRight(o.PublicURL, "/"), "/mcp")
}

// open returns the provider; nil without one. Nothing is asked yet, so the server can start before the
// provider. A server without tokens, which is insecure, may have a public URL without https.
func (o OIDC) open(insecure bool, logger *slog.Logger) (*oidc.Provider, error) {
	const example = "use the URL by which clients reach this server, such as https://think.example.com"
	u, err := url.Parse(o.public())
	switch {
	case o.PublicURL == "" && o.Issuer != "":
		return nil, usage("--oidc-issuer requires --public-url", example)
	case o.Issuer == "" && (o.ClientID+o.LoginClientID+o.OwnerClaim+string(o.Scopes) != "" || len(o.Parameters) > 0):
		return nil, usage("flags that begin with --oidc- require --oidc-issuer", "add the URL of the provider")
	case o.PublicURL == "":
		return nil, nil
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(o.PublicURL, "?#"):
		return nil, usage("--public-url is not the URL of a server, without user, query and fragment", example)
	case u.Scheme == "http" && !insecure && !admission.LocalName(u.Hostname()):
		return nil, badFlag("public-url", o.PublicURL, "use https: tokens and links would cross the network unencrypted")
	case o.Issuer == "":
		return nil, nil
	case o.ClientID != "" && u.Path != "":
		return nil, usage("--oidc-client-id requires a --public-url without a path, because the viewer has none",
			"serve sequent at a name of its own, such as https://think.example.com")
	}
	o.Resource, o.Logger = o.public(), logger
	provider, err := oidc.New(o.Config)
	if err != nil {
		return nil, usage("the flags that begin with --oidc- cannot be used: "+err.Error(),
			"use the issuer exactly as the provider's /.well-known/openid-configuration has it, and what the provider documents beyond OAuth")
	}
	return provider, nil
}

// DiagnoseOIDC checks that a provider answers; none is checked without an issuer.
func DiagnoseOIDC(ctx context.Context, o OIDC) ([]diagnosis.Finding, error) {
	if o.Issuer == "" {
		return nil, nil
	}
	o.PublicURL = "https://localhost" // no token is for it
	provider, err := o.open(false, nil)
	if err != nil {
		return nil, err
	}
	const check = "provider"
	var r diagnosis.Report
	if err := provider.Check(); err != nil {
		r.Fail(check, "use the issuer exactly as the provider documents it, and check the network and the certificate with curl "+
			strings.TrimRight(o.Issuer, "/")+"/.well-known/openid-configuration", "the provider cannot be used: %v", err)
	} else {
		r.OK(check, "%s answers; sequent server login shows whether its tokens are for the server", o.Issuer)
	}
	return r.Findings, ctx.Err()
}

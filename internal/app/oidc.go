package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/oidc"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// An OIDC is an OpenID Connect provider whose access tokens admit to the HTTP server.
type OIDC struct {
	Issuer    string   // its URL; empty means none
	PublicURL string   // of the server, as clients type it, also for links; with or without /mcp; required with Issuer
	Audiences []string // of tokens for this server, besides its URL

	ScopePrefix string // what the names of scopes begin with; empty means "sequent:"
	OwnerClaim  string // claim that names the owner of sessions; empty means "sub"

	ClientID      string            // with which people sign in to the viewer; empty means they cannot
	ClientSecret  string            // empty for a public client
	LoginClientID string            // of the command line; empty means ClientID, if that has no secret
	Parameters    map[string]string // of authorization requests; see oidc.ClientConfig
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
		URL: o.public(), Issuers: []string{o.Issuer},
		SignIn: auth.SignIn{Client: client, Scopes: auth.ScopePrefix(o.ScopePrefix), Parameters: o.Parameters},
	}
}

// public returns the public URL without what people add to it.
func (o OIDC) public() string {
	return strings.TrimSuffix(strings.TrimRight(o.PublicURL, "/"), "/mcp")
}

// checkPublic returns the public URL without what people add to it; empty without one. A server
// without tokens, which is insecure, may have one without https.
func (o OIDC) checkPublic(insecure bool) (*url.URL, error) {
	if o.PublicURL == "" {
		return &url.URL{}, nil
	}
	refused := func(why string) (*url.URL, error) {
		shown := o.PublicURL
		if u, err := url.Parse(shown); err == nil {
			shown = u.Redacted()
		}
		return nil, &ConfigError{
			Msg: fmt.Sprintf("invalid value %q for --public-url: %s", shown, why),
			Fix: "use the URL by which clients reach this server, such as https://think.example.com",
		}
	}
	u, err := url.Parse(o.public())
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return refused("it is not the URL of a server")
	case u.User != nil:
		return refused("it has a user name")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(o.PublicURL, "#"):
		return refused("it has a query or a fragment")
	case u.Scheme == "http" && !insecure && !onThisMachine(u.Hostname()):
		return refused("tokens and links would cross the network unencrypted without https")
	}
	return u, nil
}

// onThisMachine reports whether a host name is that of the machine itself.
func onThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// open returns the authenticator and the client with which people sign in to the viewer; nil without
// a provider or a client id. Nothing is asked yet, so the server can start before the provider.
func (o OIDC) open(insecure bool, logger *slog.Logger) (provider *oidc.Provider, signIn *oidc.Client, err error) {
	public, err := o.checkPublic(insecure)
	if err != nil {
		return nil, nil, err
	}
	if o.Issuer == "" {
		return nil, nil, o.needsNoIssuer()
	}
	switch {
	case o.PublicURL == "":
		err = &ConfigError{
			Msg: "--oidc-issuer requires --public-url",
			Fix: "add the URL by which clients reach this server, such as --public-url https://think.example.com",
		}
	case !auth.ScopePrefix(o.ScopePrefix).Valid():
		err = &ConfigError{
			Msg: fmt.Sprintf("invalid value %q for --oidc-scope-prefix", o.ScopePrefix),
			Fix: "use what the provider has before read, write and admin, such as https://think.example.com/mcp/sequent.",
		}
	case oidc.Shared(o.OwnerClaim):
		err = &ConfigError{
			Msg: fmt.Sprintf("invalid value %q for --oidc-owner-claim: tokens of different people can have the same one", o.OwnerClaim),
			Fix: "use a claim that names a person for ever, such as sub or oid",
		}
	case o.ClientID != "" && public.Path != "":
		err = &ConfigError{
			Msg: "--oidc-client-id requires a --public-url without a path, because the viewer has none",
			Fix: "serve sequent at a name of its own, such as https://think.example.com",
		}
	}
	if err != nil {
		return nil, nil, err
	}
	provider, err = oidc.New(oidc.Config{
		Issuer: o.Issuer, Resource: o.public(), Audiences: o.Audiences,
		Scopes: auth.ScopePrefix(o.ScopePrefix), OwnerClaim: o.OwnerClaim, Logger: logger,
	})
	if err != nil {
		return nil, nil, &ConfigError{
			Msg: "--oidc-issuer: " + err.Error(),
			Fix: "use the issuer exactly as the provider's /.well-known/openid-configuration has it",
		}
	}
	signIn, err = o.client(provider, o.ClientID, o.ClientSecret) // also without an id, to check the parameters
	if err != nil || o.ClientID == "" {
		signIn = nil
	}
	return provider, signIn, err
}

// client returns a client of the provider.
func (o OIDC) client(provider *oidc.Provider, id, secret string) (*oidc.Client, error) {
	// The resource is the endpoint that clients are told of, so the provider has to know one only.
	client, err := oidc.NewClient(oidc.ClientConfig{Provider: provider, ID: id, Secret: secret, Resource: o.public() + "/mcp", Parameters: o.Parameters})
	if err != nil {
		return nil, &ConfigError{Msg: "--oidc-param: " + err.Error(), Fix: "pass what the provider documents beyond OAuth, such as audience=https://think.example.com/mcp"}
	}
	return client, nil
}

// needsNoIssuer refuses settings that have no effect without a provider.
func (o OIDC) needsNoIssuer() error {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"client-id", o.ClientID != ""}, {"login-client-id", o.LoginClientID != ""}, {"param", len(o.Parameters) > 0},
		{"scope-prefix", o.ScopePrefix != ""}, {"owner-claim", o.OwnerClaim != ""},
	} {
		if f.set {
			return &ConfigError{Msg: "--oidc-" + f.name + " requires --oidc-issuer", Fix: "add the URL of the provider"}
		}
	}
	return nil
}

// DiagnoseOIDC checks that clients can sign in through a provider; none is checked without an
// issuer. With show a person signs in by the device flow: show tells the page and the code to enter,
// and the token is checked as the server would.
func DiagnoseOIDC(ctx context.Context, o OIDC, show func(page, code string)) ([]diagnosis.Finding, error) {
	if o.Issuer == "" {
		return nil, nil
	}
	const check = "provider"
	var r diagnosis.Report
	if show == nil {
		o.PublicURL = cmp.Or(o.PublicURL, "https://localhost") // no token is for it
	}
	provider, _, err := o.open(false, nil)
	if err != nil {
		return nil, err
	}
	if err := provider.Check(); err != nil {
		r.Fail(check, "use the issuer exactly as the provider documents it, and check the network and the certificate with curl "+
			strings.TrimRight(o.Issuer, "/")+"/.well-known/openid-configuration", "the provider cannot be used: %v", err)
		return r.Findings, ctx.Err()
	}
	if show == nil {
		r.OK(check, "%s answers; whether its tokens are for the server shows only with --sign-in", o.Issuer)
		return r.Findings, ctx.Err()
	}
	id := o.resource().SignIn.Client
	if id == "" {
		return nil, &ConfigError{Msg: "--sign-in requires a public client", Fix: "pass --oidc-client-id or --oidc-login-client-id with the id of a client with the device flow"}
	}
	client, err := o.client(provider, id, "")
	if err != nil {
		return nil, err
	}
	device, err := client.Device(ctx, auth.Write)
	var tokens auth.Tokens
	if err == nil {
		show(device.Page, device.Code)
		tokens, err = client.Wait(ctx, device)
	}
	if bad, refused := errors.AsType[*auth.InvalidError](err); refused {
		r.Fail(check, "compare what is asked for with the registration of the client: its grants, its scopes (--oidc-scope-prefix), "+
			"and the API (--oidc-param, such as audience=IDENTIFIER, or resource= for none)", "%s", bad.Reason)
		return r.Findings, nil
	}
	if err != nil {
		return nil, loginError(client, err)
	}
	who, err := provider.Identify(ctx, tokens.Access)
	bad, refused := errors.AsType[*auth.InvalidError](err)
	switch {
	case refused && errors.Is(err, auth.ErrUnknown):
		r.Fail(check, withAPI, "the access token is opaque: it is no JWT, so only the provider can check it")
	case refused:
		r.Fail(check, withAPI, "the server refuses the access token: %s", bad.Reason)
	case err != nil:
		return nil, loginError(client, err)
	case who.Scope < auth.Write:
		r.Fail(check, withAPI, "the access token lacks the scope %s", auth.ScopePrefix(o.ScopePrefix).Name(auth.Write))
	default:
		r.OK(check, "the server accepts the token of %s as that of %s, with the scope %s", o.Issuer, who.Subject, who.Scope)
	}
	if tokens.Refresh == "" {
		r.Warn(check, "allow the client the grant refresh_token and the scope offline_access", "the provider issues no refresh token: people sign in again when a token expires")
	}
	return r.Findings, nil
}

// withAPI is what to do about access tokens that the server refuses.
const withAPI = "have the provider issue JWTs for this server as an API: compare its audience (--oidc-audience, --oidc-param), the claim of the owner " +
	"(--oidc-owner-claim) and its scopes (--oidc-scope-prefix) with docs/teams.md"

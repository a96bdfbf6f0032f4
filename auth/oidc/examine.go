package oidc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/sequent-dev/sequent/auth"
)

// A Fault is what keeps clients from signing in through a provider.
type Fault struct {
	Text string // what is wrong
	Fix  string // what to do about it
	Mild bool   // some clients can sign in
}

// Examine looks for what is wrong with the set-up of a provider, as a client and a server would
// meet it. Without a fault it returns nil. It does not sign in, so it cannot tell whether the
// provider issues tokens for the right audience; [Provider.ExamineToken] can.
func Examine(ctx context.Context, issuer string, scopes auth.ScopePrefix) []Fault {
	if err := checkURL(issuer); err != nil {
		return []Fault{{Text: fmt.Sprintf("the issuer %q %v", issuer, err), Fix: "use the URL of the provider as a server of tokens, with https://"}}
	}
	if fault := unsuitable(issuer); fault != nil {
		return []Fault{*fault}
	}
	x := &examination{client: newClient()}
	defer x.client.CloseIdleConnections()
	document := strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
	d := new(description)
	if !x.read(ctx, document, "discovery document", d) {
		return x.faults
	}
	if d.Issuer != issuer {
		fault := otherIssuer(issuer, d.Issuer)
		if fault == nil {
			fault = &Fault{
				Text: fmt.Sprintf("the provider at %s calls itself %s, and its tokens do so too", issuer, d.Issuer),
				Fix:  "pass --oidc-issuer " + d.Issuer + ", exactly so",
			}
		}
		return []Fault{*fault}
	}
	if err := d.checkKeys(); err != nil {
		x.fail("correct the provider's configuration", "the discovery document cannot be used: %v", err)
		return x.faults
	}
	x.keys(ctx, d)
	x.signIn(d, scopes)
	return x.faults
}

// An examination collects faults.
type examination struct {
	client *http.Client
	faults []Fault
}

func (x *examination) fail(fix, format string, args ...any) {
	x.faults = append(x.faults, Fault{Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (x *examination) warn(fix, format string, args ...any) {
	x.faults = append(x.faults, Fault{Text: fmt.Sprintf(format, args...), Fix: fix, Mild: true})
}

// read reads a JSON document of the provider, and compares the clocks.
func (x *examination) read(ctx context.Context, address, name string, into any) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		x.fail("correct the URL", "the %s cannot be asked for: %v", name, err)
		return false
	}
	response, err := x.client.Do(r)
	if err != nil {
		x.fail("check the URL, the network and the certificate from this machine, such as with curl", "the %s cannot be read: %v", name, err)
		return false
	}
	defer response.Body.Close()
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil && x.faults == nil {
		if d := time.Since(date).Round(time.Second); d > Skew || d < -Skew {
			x.fail("set the clock of this machine, or of the provider, with NTP",
				"the clocks of this machine and of the provider differ by %v: tokens expire too early or begin too late", d.Abs())
		}
	}
	if response.StatusCode != http.StatusOK {
		x.fail("use the issuer that the provider documents; for Keycloak it ends with /realms/NAME, for Entra with /v2.0, for Auth0 with a slash",
			"there is no %s at %s: %s", name, address, response.Status)
		return false
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		x.fail("look at it with curl: a proxy or a sign-in page may answer instead of the provider", "the %s at %s is not JSON", name, address)
		return false
	}
	return true
}

// keys checks that there are keys with which tokens can be checked.
func (x *examination) keys(ctx context.Context, d *description) {
	var set struct {
		Keys []struct {
			Type      string `json:"kty"`
			Algorithm string `json:"alg"`
			Use       string `json:"use"`
		} `json:"keys"`
	}
	if !x.read(ctx, d.Keys, "key set", &set) {
		return
	}
	for _, k := range set.Keys {
		public := k.Type == "RSA" || k.Type == "EC" || k.Type == "OKP"
		accepted := k.Algorithm == "" || slices.Contains(algorithms, jose.SignatureAlgorithm(k.Algorithm))
		if public && accepted && k.Use != "enc" {
			return
		}
	}
	x.fail("have the provider sign access tokens with RS256 or ES256", "none of the %d keys at %s can check a signature of an accepted algorithm", len(set.Keys), d.Keys)
}

// otherIssuer says why a known provider has another issuer than its URL; nil if it does not know.
func otherIssuer(issuer, found string) *Fault {
	tenant, old := strings.CutPrefix(found, "https://sts.windows.net/")
	switch {
	case strings.Contains(found, "{tenantid}"):
		return &Fault{
			Text: issuer + " is for the accounts of all tenants, whose tokens have different issuers",
			Fix:  "pass --oidc-issuer https://login.microsoftonline.com/TENANT/v2.0 with the id of your tenant",
		}
	case old:
		return &Fault{
			Text: "Entra issues tokens of version 1 for this API, whose issuer is " + found,
			Fix:  "pass --oidc-issuer https://login.microsoftonline.com/" + strings.Trim(tenant, "/") + "/v2.0, and set requestedAccessTokenVersion to 2 in the manifest of the API",
		}
	}
	return nil
}

// unsuitable returns what is wrong with issuers whose access tokens only they can check, which
// discovery does not tell.
func unsuitable(issuer string) *Fault {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil // checkURL has refused it
	}
	host := u.Hostname()
	okta := strings.HasSuffix(host, ".okta.com") || strings.HasSuffix(host, ".oktapreview.com") || strings.HasSuffix(host, ".okta-emea.com")
	switch {
	case host == "accounts.google.com":
		return &Fault{
			Text: "Google issues opaque access tokens, for Google's own APIs only: no server can check them",
			Fix:  "put a provider between, such as Keycloak or Auth0, that signs people in with Google and issues tokens of its own",
		}
	case okta && strings.Trim(u.Path, "/") == "":
		return &Fault{
			Text: issuer + " is the org authorization server of Okta, whose access tokens are for Okta's own APIs",
			Fix:  "use a custom authorization server, such as " + strings.TrimRight(issuer, "/") + "/oauth2/default",
		}
	}
	return nil
}

// signIn checks what clients need from the provider.
func (x *examination) signIn(d *description, scopes auth.ScopePrefix) {
	if d.Authorize == "" || d.Token == "" {
		x.fail("enable the authorization code flow", "the discovery document has no authorization_endpoint or no token_endpoint")
	}
	switch {
	case len(d.Challenges) == 0: // as Entra and Cognito do, which support it
		x.warn("nothing, if the clients that you use sign in", "the provider does not say whether it supports PKCE (S256), so some MCP clients refuse it")
	case !slices.Contains(d.Challenges, "S256"):
		x.fail("enable PKCE with S256, and have it in code_challenge_methods_supported", "the provider does not say that it supports PKCE (S256), so MCP clients refuse it")
	}
	if d.Register == "" && !d.Documents {
		x.warn("register the clients by hand, or enable dynamic client registration or client id metadata documents",
			"the provider lets no client register itself, so each needs a client id in its configuration")
	}
	if d.Device == "" {
		x.warn("enable the device flow (RFC 8628), or have people use tokens of a file on the command line", "the provider has no device flow, so sequent login cannot sign people in")
	}
	// Some providers list the scopes of OpenID Connect only.
	own := slices.ContainsFunc(d.Scopes, func(s string) bool {
		return !slices.Contains([]string{oidc.ScopeOpenID, oidc.ScopeOfflineAccess, "profile", "email", "address", "phone"}, s)
	})
	if own && !slices.Contains(d.Scopes, scopes.Name(auth.Write)) {
		x.warn("define the scopes "+scopes.Names(auth.Admin)+" at the provider, or pass what it has before read and write with --oidc-scope-prefix",
			"the provider does not list the scopes %s", scopes.Names(auth.Write))
	}
}

// ExamineToken says why the server refuses an access token, or allows too little, and what to
// change. Without a fault it returns nil. The faults quote claims of the token.
func (p *Provider) ExamineToken(ctx context.Context, token string) []Fault {
	switch parts := strings.Count(token, "."); {
	case parts == 4:
		return []Fault{{Text: "the access token is encrypted (JWE), so only the provider can read it", Fix: forAPI}}
	case parts != 2:
		return []Fault{{Text: "the access token is opaque: it is no JWT, so only the provider can check it", Fix: forAPI}}
	}
	who, err := p.Identify(ctx, token)
	c, bad := p.unverified(token)
	refused, invalid := errors.AsType[*auth.InvalidError](err)
	switch {
	case err != nil && !invalid:
		return []Fault{{Text: "the token cannot be checked: " + err.Error(), Fix: "check the network, and run the command again"}}
	case bad != nil:
		return []Fault{{Text: refused.Reason, Fix: "have the provider sign access tokens with RS256 or ES256"}}
	case c.Issuer != p.config.Issuer:
		found := quotable(c.Issuer, 200)
		if fault := otherIssuer(p.config.Issuer, found); fault != nil {
			return []Fault{*fault}
		}
		return []Fault{{Text: "the token is of another issuer: " + list(found), Fix: "pass the issuer of the tokens as --oidc-issuer, exactly so"}}
	case invalid && !p.forUs(c):
		fix := "have the provider issue tokens for " + p.config.Resource + "/mcp; if it cannot, pass --oidc-audience with an audience that only tokens for this server have"
		return []Fault{{Text: "the token is for another server: its audience is " + list(cmp.Or(strings.Join(c.Audience, " "), c.Client)), Fix: fix}}
	case invalid && !validOwner(c.Owner):
		return []Fault{{Text: refused.Reason, Fix: "pass --oidc-owner-claim with a claim that access tokens have, or have the provider add it to them"}}
	case invalid:
		return []Fault{{Text: refused.Reason, Fix: "correct what the provider puts into access tokens"}}
	case who.Scope < auth.Write:
		names := list(strings.Join(append(c.Scope, c.SCP...), " "))
		return []Fault{{
			Text: fmt.Sprintf("the token lacks the scope %s: its scopes are %s", p.config.Scopes.Name(auth.Write), names),
			Fix:  "define the scopes at the provider and allow the client to ask for them, or pass what they begin with as --oidc-scope-prefix",
			Mild: who.Scope == auth.Read,
		}}
	}
	return nil
}

// forAPI is how providers are told to issue JWTs.
const forAPI = "define this server as an API (resource server) at the provider, so that it issues JWTs for it; Auth0 needs --oidc-param audience=IDENTIFIER, too"

// list returns names of the provider that can be printed.
func list(names string) string {
	if names == "" {
		return "missing"
	}
	return quotable(strings.Join(strings.Fields(names), ", "), 300)
}

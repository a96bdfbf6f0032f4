package oidc

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

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
// provider issues tokens for the right audience.
func Examine(ctx context.Context, issuer string) []Fault {
	if err := checkURL(issuer); err != nil {
		return []Fault{{Text: fmt.Sprintf("the issuer %q %v", issuer, err), Fix: "use the URL of the provider as a server of tokens, with https://"}}
	}
	x := &examination{client: newClient()}
	defer x.client.CloseIdleConnections()
	document := strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
	d := new(description)
	if !x.read(ctx, document, "discovery document", d) {
		return x.faults
	}
	if d.Issuer != issuer {
		x.fail("pass --oidc-issuer "+d.Issuer+", exactly so",
			"the provider at %s calls itself %s, and its tokens do so too", issuer, d.Issuer)
		return x.faults
	}
	if err := d.checkKeys(); err != nil {
		x.fail("correct the provider's configuration", "the discovery document cannot be used: %v", err)
		return x.faults
	}
	x.keys(ctx, d)
	x.signIn(d)
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
func (x *examination) read(ctx context.Context, url, name string, into any) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
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
			"there is no %s at %s: %s", name, url, response.Status)
		return false
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		x.fail("look at it with curl: a proxy or a sign-in page may answer instead of the provider", "the %s at %s is not JSON", name, url)
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

// signIn checks what clients need from the provider.
func (x *examination) signIn(d *description) {
	if d.Authorize == "" || d.Token == "" {
		x.fail("enable the authorization code flow", "the discovery document has no authorization_endpoint or no token_endpoint")
	}
	if !slices.Contains(d.Challenges, "S256") {
		x.fail("enable PKCE with S256, and have it in code_challenge_methods_supported", "the provider does not say that it supports PKCE (S256), so MCP clients refuse it")
	}
	if d.Register == "" && !d.Documents {
		x.warn("register the clients by hand, or enable dynamic client registration or client id metadata documents",
			"the provider lets no client register itself, so each needs a client id in its configuration")
	}
	if names := strings.Fields(auth.Write.Names()); len(d.Scopes) > 0 && !slices.Contains(d.Scopes, names[len(names)-1]) {
		x.warn("define the scopes "+auth.Admin.Names()+" at the provider", "the provider does not list the scopes %s", auth.Write.Names())
	}
}

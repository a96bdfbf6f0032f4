package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/time/rate"
)

// Check asks the provider for its discovery document, and returns why it cannot be used.
func (p *Provider) Check() error {
	_, err := p.discovered()
	return err
}

// A description is what the provider's discovery document says.
type description struct {
	Issuer    string   `json:"issuer"`
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Keys      string   `json:"jwks_uri"`
	Scopes    []string `json:"scopes_supported"`

	// What sign-in needs.
	Device      string   `json:"device_authorization_endpoint"`
	Revoke      string   `json:"revocation_endpoint"`
	EndSession  string   `json:"end_session_endpoint"`
	Methods     []string `json:"token_endpoint_auth_methods_supported"`
	NamesIssuer bool     `json:"authorization_response_iss_parameter_supported"`
}

// discover asks a provider for its description (OpenID Connect Discovery 1.0). The client is
// that of ctx.
func discover(ctx context.Context, issuer string) (*description, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return nil, err
	}
	d := new(description)
	if err := provider.Claims(d); err != nil {
		return nil, err
	}
	if err := checkEndpoint(d.Keys); err != nil { // others could change the keys
		return nil, fmt.Errorf("the URL of its keys, %.200q, %w", d.Keys, err)
	}
	return d, nil
}

// newClient returns the client for what a provider publishes. Its requests have a bound in time and
// size, and only one a second is sent beyond the first two, for discovery and keys: tokens with
// unknown keys come as often as somebody sends them.
func newClient() *http.Client {
	return &http.Client{
		Timeout:   requestTimeout + keysInterval,
		Transport: limited{rate.NewLimiter(rate.Every(keysInterval), 2)},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) >= 5 {
				return errors.New("too many redirects")
			}
			return checkURL(r.URL.Scheme + "://" + r.URL.Host)
		},
	}
}

// limited is a transport that sends a request when it may.
type limited struct{ *rate.Limiter }

// RoundTrip sends a request.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := l.Wait(r.Context()); err != nil {
		return nil, err
	}
	return bounded{}.RoundTrip(r)
}

package oidc

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/time/rate"
)

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

	provider *oidc.Provider
	keys     *oidc.RemoteKeySet
}

// Check asks the provider for its discovery document, and returns why it cannot be used.
func (p *Provider) Check() error {
	_, err := p.discovered()
	return err
}

// discovered returns the provider's description (OpenID Connect Discovery 1.0), which is asked for
// when it is first needed.
func (p *Provider) discovered() (*description, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if time.Since(p.failed) < retryInterval {
		return nil, p.err
	}
	// What is found is for all requests, so the one that asks does not end it.
	found, err := discover(oidc.ClientContext(context.Background(), p.client), p.config.Issuer)
	if err != nil {
		p.config.Logger.Warn("the OpenID Connect provider cannot be asked; tokens cannot be checked until it can", "issuer", p.config.Issuer, "error", err)
		p.failed, p.err = time.Now(), err
		return nil, err
	}
	if p.err != nil {
		p.config.Logger.Info("the OpenID Connect provider answers again", "issuer", p.config.Issuer)
	}
	p.found = found
	return found, nil
}

func discover(ctx context.Context, issuer string) (*description, error) {
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return nil, err
	}
	d := &description{provider: provider}
	if err := provider.Claims(d); err != nil {
		return nil, err
	}
	if err := checkEndpoint(d.Keys); err != nil { // others could change the keys
		return nil, fmt.Errorf("the URL of its keys, %.200q, %w", d.Keys, err)
	}
	d.keys = oidc.NewRemoteKeySet(ctx, d.Keys)
	return d, nil
}

// endpoints is the client for endpoints of OAuth.
var endpoints = newClient(nil)

// newClient returns a client whose requests have a bound in time and size. It follows no redirect,
// which would send secrets elsewhere. A limiter delays requests: tokens with unknown keys, for which
// keys are asked, come as often as somebody sends them.
func newClient(limiter *rate.Limiter) *http.Client {
	return &http.Client{
		Timeout: requestTimeout + keysInterval, Transport: transport{limiter},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type transport struct{ limiter *rate.Limiter } // nil for none

// RoundTrip sends a request when it may.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.limiter != nil {
		if err := t.limiter.Wait(r.Context()); err != nil {
			return nil, err
		}
	}
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		reply.Body = http.MaxBytesReader(nil, reply.Body, maxReply)
	}
	return reply, err
}

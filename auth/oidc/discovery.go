package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// A description is what the provider's discovery document says.
type description struct {
	Issuer     string   `json:"issuer"`
	Authorize  string   `json:"authorization_endpoint"`
	Token      string   `json:"token_endpoint"`
	Keys       string   `json:"jwks_uri"`
	Register   string   `json:"registration_endpoint"`
	Documents  bool     `json:"client_id_metadata_document_supported"`
	Challenges []string `json:"code_challenge_methods_supported"`
	Scopes     []string `json:"scopes_supported"`

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
	return d, d.checkKeys()
}

// checkKeys refuses a URL of keys over which others could change them.
func (d *description) checkKeys() error {
	if err := checkURL(strings.SplitN(d.Keys, "?", 2)[0]); err != nil {
		return fmt.Errorf("the URL of its keys, %.200q, %w", d.Keys, err)
	}
	return nil
}

// newClient returns the client for a provider. Its requests have a bound in time and size. It
// asks for one URL once in keysInterval at most: a request that comes earlier waits.
func newClient() *http.Client {
	return &http.Client{
		Timeout:   requestTimeout + keysInterval,
		Transport: &patient{last: make(map[string]time.Time)},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) >= 5 {
				return errors.New("too many redirects")
			}
			return checkURL(r.URL.Scheme + "://" + r.URL.Host)
		},
	}
}

// A patient is the transport of a client.
type patient struct {
	mu   sync.Mutex
	last map[string]time.Time // by URL: few, as only the provider names them
}

// RoundTrip sends a request when it may.
func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	key := r.URL.String()
	now := time.Now()
	at := p.last[key].Add(keysInterval)
	if at.Before(now) {
		at = now
	}
	p.last[key] = at
	p.mu.Unlock()
	if wait := at.Sub(now); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return bounded{}.RoundTrip(r)
}

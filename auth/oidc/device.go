package oidc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/sequent-dev/sequent/auth"
)

// ErrNoDeviceFlow is the error of [Client.Device] for a provider without the device flow.
var ErrNoDeviceFlow = errors.New("the provider has no device flow (RFC 8628)")

// A Device is a sign-in of a program without a browser of its own (RFC 8628). A person opens
// Page in any browser and enters Code.
type Device struct {
	Page, Code string
	Whole      string    // page that has the code already; empty if there is none
	Expires    time.Time // zero if the provider does not say

	config *oauth2.Config
	answer *oauth2.DeviceAuthResponse
}

// Device begins a sign-in. The error is an [*auth.InvalidError] if the provider refuses it.
func (c *Client) Device(ctx context.Context, scope auth.Scope) (*Device, error) {
	d, err := c.provider.discovered()
	if err != nil {
		return nil, err
	}
	if d.Device == "" {
		return nil, ErrNoDeviceFlow
	}
	if err := checkEndpoint(d.Device); err != nil {
		return nil, fmt.Errorf("the provider's device_authorization_endpoint %w", err)
	}
	cfg := c.config(d, "", scope)
	answer, err := cfg.DeviceAuth(oidc.ClientContext(ctx, endpoints), c.options(c.parameters)...)
	if err != nil {
		return nil, refused(err)
	}
	for _, page := range []string{answer.VerificationURI, answer.VerificationURIComplete} {
		if page != "" && checkEndpoint(page) != nil { // a browser would open it
			return nil, errors.New("the provider's verification page is no URL with https://")
		}
	}
	if answer.VerificationURI == "" || answer.UserCode == "" || answer.DeviceCode == "" {
		return nil, errors.New("the provider's answer has no page or no code")
	}
	return &Device{
		Page: answer.VerificationURI, Code: quotable(answer.UserCode, 100), Whole: answer.VerificationURIComplete,
		Expires: answer.Expiry, config: cfg, answer: answer,
	}, nil
}

// Wait asks the provider, as often as it allows, until the person has signed in. The error is
// an [*auth.InvalidError] if the person refuses, or takes too long.
func (c *Client) Wait(ctx context.Context, d *Device) (auth.Tokens, error) {
	if d.answer.Expiry.IsZero() {
		d.answer.Expiry = time.Now().Add(30 * time.Minute) // nobody waits for ever
	}
	for {
		token, err := d.config.DeviceAccessToken(oidc.ClientContext(ctx, endpoints), d.answer, c.options(nil)...)
		_, answered := errors.AsType[*oauth2.RetrieveError](err)
		switch {
		case err == nil:
			return tokensOf(token), nil
		case ctx.Err() != nil:
			return auth.Tokens{}, ctx.Err()
		case !time.Now().Before(d.answer.Expiry):
			return auth.Tokens{}, invalid(refusal("expired_token", ""))
		case answered:
			return auth.Tokens{}, refused(err)
		}
		d.answer.Interval = 2 * max(d.answer.Interval, 5) // a connection that failed must slow polling down (RFC 8628, section 3.5)
	}
}

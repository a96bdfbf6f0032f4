package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/printable"
)

// Host returns the name of the provider's host, for people.
func (p *Provider) Host() string {
	u, _ := url.Parse(p.config.Issuer) // New has parsed it
	return u.Host
}

// Begin returns the provider's page on which a person signs in, and a secret for [Provider.Finish].
// The browser that opens the page must keep the secret. No other one can finish the sign-in.
func (p *Provider) Begin(_ context.Context, redirect string, scope auth.Scope) (page, secret string, err error) {
	d, err := p.discovered()
	if err != nil {
		return "", "", err
	}
	if err := checkEndpoint(d.Authorize); err != nil {
		return "", "", fmt.Errorf("the provider's authorization_endpoint %w", err)
	}
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	options := append(p.options(p.parameters...), oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))
	return p.oauth(d, redirect, scope).AuthCodeURL(state, options...), state + "." + nonce + "." + verifier, nil
}

// Finish exchanges the provider's answer, the query of the redirect URI, for tokens. The error
// is an [*auth.InvalidError] if the answer is not that of the sign-in that the secret belongs to,
// or if the provider refuses.
func (p *Provider) Finish(ctx context.Context, redirect, secret string, answer url.Values) (auth.Tokens, error) {
	state, rest, _ := strings.Cut(secret, ".")
	nonce, verifier, _ := strings.Cut(rest, ".")
	if verifier == "" || subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(state)) != 1 {
		return auth.Tokens{}, invalid("this sign-in was not begun in this browser, or it took too long")
	}
	d, err := p.discovered()
	if err != nil {
		return auth.Tokens{}, err
	}
	iss := answer.Get("iss")
	switch {
	case iss != d.Issuer && (iss != "" || d.NamesIssuer): // another provider's could carry its code to ours (RFC 9207)
		return auth.Tokens{}, invalid("the answer is not from the provider with which this sign-in was begun")
	case answer.Get("code") == "":
		return auth.Tokens{}, refusal(answer.Get("error"), answer.Get("error_description"))
	}
	token, err := p.exchange(ctx, d, redirect, answer.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return auth.Tokens{}, err
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := d.provider.Verifier(&oidc.Config{ClientID: p.config.ClientID}).Verify(ctx, raw)
	if err != nil || subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return auth.Tokens{}, invalid("the provider issued no ID token that is valid for this sign-in: allow the client the scope openid")
	}
	return tokensOf(token), nil
}

// Renew exchanges a refresh token for new tokens. The error is an [*auth.InvalidError] if the
// provider does not accept it any more. Most providers accept a refresh token once and end the
// whole sign-in when it comes again, so the caller must keep the new one, and not renew twice at
// a time.
func (p *Provider) Renew(ctx context.Context, refresh string) (auth.Tokens, error) {
	d, err := p.discovered()
	if err != nil {
		return auth.Tokens{}, err
	}
	// The package oauth2 sends no parameter of its own with a refresh, and some providers
	// need the resource.
	token, err := p.exchange(ctx, d, "", "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", refresh))
	if err != nil {
		return auth.Tokens{}, err
	}
	if token.RefreshToken == "" {
		token.RefreshToken = refresh
	}
	return tokensOf(token), nil
}

// End revokes a token where the provider can (RFC 7009), and returns the page that ends the
// person's session at the provider; empty if there is none.
func (p *Provider) End(ctx context.Context, token string) (page string, err error) {
	d, err := p.discovered()
	if err != nil {
		return "", err
	}
	if u, bad := url.Parse(d.EndSession); bad == nil && checkEndpoint(d.EndSession) == nil {
		query := u.Query()
		query.Set("client_id", p.config.ClientID)
		u.RawQuery = query.Encode()
		page = u.String()
	}
	if token == "" || checkEndpoint(d.Revoke) != nil {
		return page, nil
	}
	form := url.Values{"token": {token}, "client_id": {p.config.ClientID}}
	inHeader := p.style(d) == oauth2.AuthStyleInHeader
	if !inHeader && p.config.ClientSecret != "" {
		form.Set("client_secret", p.config.ClientSecret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Revoke, strings.NewReader(form.Encode()))
	if err != nil {
		return page, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if inHeader {
		r.SetBasicAuth(url.QueryEscape(p.config.ClientID), url.QueryEscape(p.config.ClientSecret))
	}
	reply, err := endpoints.Do(r)
	if err != nil {
		return page, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return page, fmt.Errorf("the provider answered %s to the revocation", reply.Status)
	}
	return page, nil
}

// A Device is a sign-in of a program without a browser of its own (RFC 8628). A person opens
// VerificationURI in any browser and enters UserCode.
type Device = oauth2.DeviceAuthResponse

// ErrNoDeviceFlow is the error of [Provider.Device] for a provider without the device flow.
var ErrNoDeviceFlow = errors.New("the provider has no device flow (RFC 8628)")

// Device begins a sign-in. The error is an [*auth.InvalidError] if the provider refuses it.
func (p *Provider) Device(ctx context.Context, scope auth.Scope) (*Device, error) {
	d, err := p.discovered()
	if err != nil {
		return nil, err
	}
	if d.Device == "" {
		return nil, ErrNoDeviceFlow
	}
	if err := checkEndpoint(d.Device); err != nil {
		return nil, fmt.Errorf("the provider's device_authorization_endpoint %w", err)
	}
	answer, err := p.oauth(d, "", scope).DeviceAuth(oidc.ClientContext(ctx, endpoints), p.options(p.parameters...)...)
	if err != nil {
		return nil, refused(err)
	}
	for _, page := range []string{answer.VerificationURI, answer.VerificationURIComplete} {
		if page != "" && checkEndpoint(page) != nil { // a browser would open it
			return nil, errors.New("the provider's verification page is no URL with https://")
		}
	}
	if answer.VerificationURI == "" || answer.UserCode == "" || answer.DeviceCode == "" || answer.Expiry.IsZero() {
		return nil, errors.New("the provider's answer has no page, no code or no time at which the code expires")
	}
	return answer, nil
}

// Wait asks the provider, as often as it allows, until the person has signed in. The error is
// an [*auth.InvalidError] if the person refuses, or takes too long.
func (p *Provider) Wait(ctx context.Context, device *Device) (auth.Tokens, error) {
	d, err := p.discovered()
	if err != nil {
		return auth.Tokens{}, err
	}
	token, err := p.oauth(d, "", auth.None).DeviceAccessToken(oidc.ClientContext(ctx, endpoints), device, p.options()...)
	switch {
	case err == nil:
		return tokensOf(token), nil
	case ctx.Err() == nil && !time.Now().Before(device.Expiry):
		return auth.Tokens{}, invalid("the code was not entered in time")
	}
	return auth.Tokens{}, refused(err)
}

// exchange asks the token endpoint for tokens.
func (p *Provider) exchange(ctx context.Context, d *description, redirect, code string, more ...oauth2.AuthCodeOption) (*oauth2.Token, error) {
	token, err := p.oauth(d, redirect, auth.None).Exchange(oidc.ClientContext(ctx, endpoints), code, p.options(more...)...)
	return token, refused(err)
}

// oauth returns the configuration for the package oauth2.
func (p *Provider) oauth(d *description, redirect string, scope auth.Scope) *oauth2.Config {
	cfg := &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: d.Authorize, TokenURL: d.Token, DeviceAuthURL: d.Device, AuthStyle: p.style(d)},
	}
	if scope > auth.None {
		cfg.Scopes = append([]string{oidc.ScopeOpenID}, strings.Fields(p.config.Scopes.Names(scope))...)
		if slices.Contains(d.Scopes, oidc.ScopeOfflineAccess) { // else many issue no refresh token
			cfg.Scopes = append(cfg.Scopes, oidc.ScopeOfflineAccess)
		}
	}
	return cfg
}

// style returns how the secret of the client is sent. Without one only its id is.
func (p *Provider) style(d *description) oauth2.AuthStyle {
	if p.config.ClientSecret == "" || len(d.Methods) > 0 && !slices.Contains(d.Methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// options returns the parameters of a request, with the resource that tokens are asked for.
func (p *Provider) options(list ...oauth2.AuthCodeOption) []oauth2.AuthCodeOption {
	if p.resource == nil {
		return list
	}
	return append(slices.Clip(list), p.resource)
}

func tokensOf(t *oauth2.Token) auth.Tokens {
	scope, _ := t.Extra("scope").(string)
	return auth.Tokens{Access: t.AccessToken, Refresh: t.RefreshToken, Expires: t.Expiry, Scope: scope}
}

// refused returns the error for a request to the token endpoint that failed; nil for nil.
func refused(err error) error {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok:
		return err
	case e.ErrorCode == "" || e.Response.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("the provider answered %s", e.Response.Status) // its text has the whole reply
	}
	return refusal(e.ErrorCode, e.ErrorDescription)
}

// refusal returns an error of the provider (RFC 6749, 4.1.2.1 and 5.2), and quotes it.
func refusal(code, description string) error {
	said := fmt.Sprintf("%.200s", printable.Line(strings.TrimSpace(code+" "+description)))
	return invalid("the provider refused the sign-in (" + said + ")")
}

// checkEndpoint refuses the URL of an endpoint over which others could read secrets.
func checkEndpoint(text string) error {
	base, _, _ := strings.Cut(text, "?")
	return checkURL(base)
}

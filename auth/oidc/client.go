package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/sequent-dev/sequent/auth"
)

// A Client signs people in through a provider, with a client id that its operator registered
// there. It is safe for concurrent use.
type Client struct {
	provider   *Provider
	id, secret string
	resource   string // empty if the provider is not told
	parameters []oauth2.AuthCodeOption
}

// A ClientConfig configures a [Client].
type ClientConfig struct {
	Provider *Provider // required
	ID       string    // client id; required
	Secret   string    // empty for a public client, which proves itself with PKCE only
	Resource string    // URL of the MCP endpoint that tokens are asked for (RFC 8707); required
	// Parameters are those of authorization requests that this provider needs besides those of
	// OAuth, such as the audience. The parameter "resource" replaces Resource in all requests;
	// if it is empty, none is sent.
	Parameters map[string]string
}

// ownParameters are those of a request that the client itself sets.
var ownParameters = []string{
	"client_assertion", "client_assertion_type", "client_id", "client_secret", "code", "code_challenge", "code_challenge_method", "code_verifier", "device_code",
	"grant_type", "nonce", "redirect_uri", "refresh_token", "request", "request_uri", "response_mode", "response_type", "scope", "state",
}

// NewClient returns a Client, without asking the provider anything yet. The error says which
// parameter cannot be sent.
func NewClient(cfg ClientConfig) (*Client, error) {
	if to, ok := cfg.Parameters["resource"]; ok {
		cfg.Resource = to
	}
	var parameters []oauth2.AuthCodeOption
	for _, name := range slices.Sorted(maps.Keys(cfg.Parameters)) {
		if name == "" || slices.Contains(ownParameters, name) {
			return nil, fmt.Errorf("the parameter %.100q is set by the sign-in itself", name)
		}
		if name != "resource" {
			parameters = append(parameters, oauth2.SetAuthURLParam(name, cfg.Parameters[name]))
		}
	}
	return &Client{cfg.Provider, cfg.ID, cfg.Secret, cfg.Resource, parameters}, nil
}

// endpoints is the client for endpoints of OAuth. A redirect would send secrets elsewhere, and none
// of them needs one.
var endpoints = &http.Client{
	Timeout: requestTimeout, Transport: bounded{},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Host returns the name of the provider's host, for people.
func (c *Client) Host() string {
	u, err := url.Parse(c.provider.config.Issuer)
	if err != nil {
		return c.provider.config.Issuer // New refuses it
	}
	return u.Host
}

// Begin returns the provider's page on which a person signs in, and a secret for [Client.Finish].
// The browser that opens the page must keep the secret. No other one can finish the sign-in.
func (c *Client) Begin(ctx context.Context, redirect string, scope auth.Scope) (page, secret string, err error) {
	d, err := c.provider.discovered()
	if err != nil {
		return "", "", err
	}
	if err := checkEndpoint(d.Authorize); err != nil {
		return "", "", fmt.Errorf("the provider's authorization_endpoint %w", err)
	}
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	page = c.config(d, redirect, scope).AuthCodeURL(state, c.options(c.parameters, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))...)
	return page, state + "." + nonce + "." + verifier, nil
}

// Finish exchanges the provider's answer, the query of the redirect URI, for tokens. The error
// is an [*auth.InvalidError] if the answer is not that of the sign-in that the secret belongs to,
// or if the provider refuses.
func (c *Client) Finish(ctx context.Context, redirect, secret string, answer url.Values) (auth.Tokens, error) {
	state, rest, _ := strings.Cut(secret, ".")
	nonce, verifier, _ := strings.Cut(rest, ".")
	for _, name := range []string{"code", "state", "iss", "error", "error_description"} {
		if len(answer[name]) > 1 {
			return auth.Tokens{}, invalid("the provider's answer has two values of " + name)
		}
	}
	if verifier == "" || subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(state)) != 1 {
		return auth.Tokens{}, invalid("this sign-in was not begun in this browser, or it took too long")
	}
	d, err := c.provider.discovered()
	if err != nil {
		return auth.Tokens{}, err
	}
	// An answer of another provider could carry its code to ours (RFC 9207).
	if iss := answer.Get("iss"); iss != d.Issuer && (iss != "" || d.NamesIssuer) {
		return auth.Tokens{}, invalid("the answer is not from the provider with which this sign-in was begun")
	}
	if code := answer.Get("error"); code != "" {
		return auth.Tokens{}, invalid(refusal(code, answer.Get("error_description")))
	}
	if answer.Get("code") == "" {
		return auth.Tokens{}, invalid("the provider's answer has no code")
	}
	token, err := c.config(d, redirect, auth.None).Exchange(oidc.ClientContext(ctx, endpoints), answer.Get("code"), c.options(nil, oauth2.VerifierOption(verifier))...)
	if err != nil {
		return auth.Tokens{}, refused(err)
	}
	if err := c.checkIDToken(ctx, token, nonce); err != nil {
		return auth.Tokens{}, err
	}
	return tokensOf(token), nil
}

// checkIDToken checks that the provider issued the tokens in answer to this sign-in.
func (c *Client) checkIDToken(ctx context.Context, token *oauth2.Token, nonce string) error {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return invalid("the provider issued no ID token: allow the client the scope openid")
	}
	keys, err := c.provider.keySet()
	if err != nil {
		return err
	}
	var names []string
	for _, a := range algorithms {
		names = append(names, string(a))
	}
	verifier := oidc.NewVerifier(c.provider.config.Issuer, keys, &oidc.Config{ClientID: c.id, SupportedSigningAlgs: names})
	id, err := verifier.Verify(ctx, raw)
	if err != nil || subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return invalid("the provider's ID token is not valid for this sign-in")
	}
	return nil
}

// Renew exchanges a refresh token for new tokens. The error is an [*auth.InvalidError] if the
// provider does not accept it any more. Most providers accept a refresh token once and end the
// whole sign-in when it comes again, so the caller must keep the new one, and not renew twice at
// a time.
func (c *Client) Renew(ctx context.Context, refresh string) (auth.Tokens, error) {
	d, err := c.provider.discovered()
	if err != nil {
		return auth.Tokens{}, err
	}
	// The package oauth2 sends no parameter of its own with a refresh, and some providers
	// need the resource.
	token, err := c.config(d, "", auth.None).Exchange(oidc.ClientContext(ctx, endpoints), "", c.options(nil,
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", refresh))...)
	if err != nil {
		return auth.Tokens{}, refused(err)
	}
	tokens := tokensOf(token)
	if tokens.Refresh == "" {
		tokens.Refresh = refresh
	}
	return tokens, nil
}

// End revokes a token where the provider can (RFC 7009), and returns the page that ends the
// person's session at the provider; empty if there is none.
func (c *Client) End(ctx context.Context, token string) (page string, err error) {
	d, err := c.provider.discovered()
	if err != nil {
		return "", err
	}
	if u, bad := url.Parse(d.EndSession); bad == nil && checkEndpoint(d.EndSession) == nil {
		query := u.Query()
		query.Set("client_id", c.id)
		u.RawQuery = query.Encode()
		page = u.String()
	}
	if token == "" || checkEndpoint(d.Revoke) != nil {
		return page, nil
	}
	form := url.Values{"token": {token}, "client_id": {c.id}}
	if c.secret != "" && c.style(d) == oauth2.AuthStyleInParams {
		form.Set("client_secret", c.secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Revoke, strings.NewReader(form.Encode()))
	if err != nil {
		return page, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.secret != "" && c.style(d) == oauth2.AuthStyleInHeader {
		r.SetBasicAuth(url.QueryEscape(c.id), url.QueryEscape(c.secret))
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

// config returns the configuration for the package oauth2.
func (c *Client) config(d *description, redirect string, scope auth.Scope) *oauth2.Config {
	cfg := &oauth2.Config{
		ClientID: c.id, ClientSecret: c.secret, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: d.Authorize, TokenURL: d.Token, DeviceAuthURL: d.Device, AuthStyle: c.style(d)},
	}
	if scope > auth.None {
		cfg.Scopes = append([]string{oidc.ScopeOpenID}, strings.Fields(c.provider.config.Scopes.Names(scope))...)
		if slices.Contains(d.Scopes, oidc.ScopeOfflineAccess) { // else many issue no refresh token
			cfg.Scopes = append(cfg.Scopes, oidc.ScopeOfflineAccess)
		}
	}
	return cfg
}

// style returns how the client sends its secret. Without one it only sends its id.
func (c *Client) style(d *description) oauth2.AuthStyle {
	if c.secret == "" || len(d.Methods) > 0 && !slices.Contains(d.Methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// options returns the parameters of a request, with the resource that tokens are asked for.
func (c *Client) options(list []oauth2.AuthCodeOption, more ...oauth2.AuthCodeOption) []oauth2.AuthCodeOption {
	list = slices.Concat(list, more)
	if c.resource != "" {
		list = append(list, oauth2.SetAuthURLParam("resource", c.resource))
	}
	return list
}

func tokensOf(t *oauth2.Token) auth.Tokens {
	scope, _ := t.Extra("scope").(string)
	return auth.Tokens{Access: t.AccessToken, Refresh: t.RefreshToken, Expires: t.Expiry, Scope: scope}
}

// refused returns the error for a request to the token endpoint that failed.
func refused(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.ErrorCode != "" && e.Response.StatusCode < 500 {
		return invalid(refusal(e.ErrorCode, e.ErrorDescription))
	}
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok { // its text has the whole reply
		return fmt.Errorf("the provider answered %s", e.Response.Status)
	}
	return err
}

// refusal returns what an error of the provider (RFC 6749, 4.1.2.1 and 5.2) means, and quotes it.
func refusal(code, description string) string {
	meaning := map[string]string{
		"access_denied":       "the provider did not allow this sign-in",
		"invalid_grant":       "the sign-in has ended, or its code was used before",
		"expired_token":       "the code was not entered in time",
		"invalid_client":      "the provider does not accept the client id or its secret",
		"unauthorized_client": "the provider does not allow this client to sign people in this way",
		"invalid_scope":       "the provider does not allow this client the scopes that are asked for",
		"invalid_target":      "the provider issues no tokens for this server",
	}[code]
	if meaning == "" {
		meaning = "the provider refused the sign-in"
	}
	return meaning + " (" + quotable(strings.TrimSpace(code+" "+description), 200) + ")"
}

// quotable returns the first characters of a text of the provider that can be printed.
func quotable(text string, limit int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text))
	return string(runes[:min(len(runes), limit)])
}

// checkEndpoint refuses the URL of an endpoint over which others could read secrets.
func checkEndpoint(text string) error {
	base, _, _ := strings.Cut(text, "?")
	return checkURL(base)
}

// bounded is a transport whose replies have a limit in size.
type bounded struct{}

// RoundTrip sends a request.
func (bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	reply.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(reply.Body, maxReply), reply.Body}
	return reply, nil
}

// Metadata is what a server tells clients that need tokens (RFC 9728).
type Metadata struct {
	Resource string      `json:"resource"`
	Issuers  []string    `json:"authorization_servers"`
	SignIn   auth.SignIn `json:"sequent_sign_in"` // for sequent server login
}

// ErrNoMetadata is the error for a server that has no provider.
var ErrNoMetadata = errors.New("the server has no OpenID Connect provider")

// ReadMetadata asks a server for its metadata. The URL has no path.
func ReadMetadata(ctx context.Context, server string) (*Metadata, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/.well-known/oauth-protected-resource/mcp", nil)
	if err != nil {
		return nil, err
	}
	reply, err := endpoints.Do(r)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	m := new(Metadata)
	if reply.StatusCode != http.StatusOK || json.NewDecoder(reply.Body).Decode(m) != nil || len(m.Issuers) == 0 {
		return nil, ErrNoMetadata
	}
	return m, nil
}

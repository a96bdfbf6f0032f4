// Package oidc uses an OpenID Connect provider: it authenticates the provider's access tokens, so
// that people use a server with the accounts that they have, and signs people in. The server is an
// OAuth 2.1 resource server: clients get tokens from the provider, and it only checks them.
//
// Tokens are JWTs (RFC 9068, and what providers issued before it). The subject of a token's
// owner is its "sub", or another claim of the configuration, after [SubjectPrefix]. What it allows
// are the names of [auth.Scope] in "scope" or "scp".
package oidc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
)

const (
	// SubjectPrefix begins the subjects of a provider's tokens, so that none is that of
	// another token.
	SubjectPrefix = "oidc:"
	// Skew is how far the clocks of the provider and of this machine may differ.
	Skew = 30 * time.Second

	maxToken       = 16 << 10 // bytes
	maxReply       = 1 << 20  // bytes of what the provider sends
	requestTimeout = 5 * time.Second
	keysInterval   = time.Second     // minimum time between two requests for keys
	retryInterval  = 3 * time.Second // minimum time between two failing discoveries
)

// algorithms are the accepted signatures: those with public keys. With HMAC, a server that can
// check tokens could also make them.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// A Config configures a [Provider].
type Config struct {
	// Issuer is the provider's URL, exactly as its tokens have it; required. It must begin
	// with https://, unless it is on this machine.
	Issuer string
	// Resource is the server's public URL; required. Tokens are for it, for its MCP endpoints, or for
	// one of Audiences. Providers that do not know the resource parameter (RFC 8707) issue
	// tokens for an audience of their own.
	Resource  string
	Audiences []string
	// Scopes is what the names of scopes begin with; empty means sequent:.
	Scopes auth.ScopePrefix
	// OwnerClaim is the claim of a token that names the owner of sessions; empty means sub.
	// Whoever can choose its value can take the sessions of others.
	OwnerClaim string

	ClientID     string // with which people sign in; empty means that they cannot
	ClientSecret string // empty for a public client, which proves itself with PKCE only
	// Parameters are those of authorization requests that this provider needs besides those of
	// OAuth, such as the audience. The parameter "resource" replaces the MCP endpoint of Resource in
	// all requests; if it is empty, none is sent.
	Parameters map[string]string

	Logger *slog.Logger // says when the provider cannot be asked, and when it can again; nil means discard
}

// A Provider checks tokens and signs people in. It asks the provider for its keys when it first needs
// them, and when a token has a key that it does not know. While the provider is away, tokens with known
// keys are valid. It is safe for concurrent use.
type Provider struct {
	config     Config
	parameters []oauth2.AuthCodeOption
	resource   oauth2.AuthCodeOption // nil if none is sent
	client     *http.Client          // for discovery and keys

	mu     sync.Mutex // held while the provider is asked
	found  *description
	failed time.Time // of the last discovery
	err    error     // of it
}

// ownParameters are those of a request that a sign-in itself sets.
var ownParameters = []string{
	"client_assertion", "client_assertion_type", "client_id", "client_secret", "code", "code_challenge", "code_challenge_method", "code_verifier", "device_code",
	"grant_type", "nonce", "redirect_uri", "refresh_token", "request", "request_uri", "response_mode", "response_type", "scope", "state",
}

// sharedClaims are known to be the same in tokens of different people, or to change with each token of
// a person.
var sharedClaims = []string{
	"acr", "amr", "appid", "aud", "auth_time", "azp", "cid", "client_id", "exp", "groups", "iat", "iss", "jti", "nbf", "roles", "scope", "scp", "sid", "tid", "typ", "ver",
}

// New returns a Provider, without asking it anything yet. The error says what is wrong with
// the configuration.
func New(cfg Config) (*Provider, error) {
	cfg.OwnerClaim, cfg.Logger = cmp.Or(cfg.OwnerClaim, "sub"), cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	p := &Provider{
		config: cfg, client: newClient(rate.NewLimiter(rate.Every(keysInterval), 2)),
		resource: oauth2.SetAuthURLParam("resource", cfg.Resource+"/mcp"),
	}
	switch err := checkURL(cfg.Issuer); {
	case err != nil:
		return nil, fmt.Errorf("the issuer %w", err)
	case cfg.Resource == "":
		return nil, errors.New("no public URL says which tokens are for this server")
	case slices.Contains(sharedClaims, cfg.OwnerClaim):
		return nil, fmt.Errorf("tokens of different people can have the same claim %s: use one that names a person for ever, such as sub or oid", cfg.OwnerClaim)
	case !cfg.Scopes.Valid():
		return nil, fmt.Errorf("%.200q cannot begin the name of a scope", cfg.Scopes)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Parameters)) {
		value := cfg.Parameters[name]
		switch {
		case name == "" || slices.Contains(ownParameters, name):
			return nil, fmt.Errorf("the parameter %.100q is set by the sign-in itself", name)
		case name != "resource":
			p.parameters = append(p.parameters, oauth2.SetAuthURLParam(name, value))
		case value == "":
			p.resource = nil
		default:
			p.resource = oauth2.SetAuthURLParam(name, value)
		}
	}
	return p, nil
}

// checkURL refuses a URL over which others could read or change what the provider says.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return errors.New("is no URL like https://login.example.com")
	case u.Scheme == "https", u.Scheme == "http" && admission.LocalName(u.Hostname()):
		return nil
	}
	return errors.New("must begin with https://, unless it is on this machine")
}

// Identify checks a token; see [auth.Authenticator].
func (p *Provider) Identify(ctx context.Context, token string) (auth.Identity, error) {
	if strings.Count(token, ".") != 2 || len(token) > maxToken {
		return auth.Identity{}, auth.ErrUnknown // of another kind
	}
	jws, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return auth.Identity{}, invalid("the token is no JWT that is signed with an accepted algorithm, such as RS256 or ES256")
	}
	c, err := parseClaims(jws, p.config.OwnerClaim)
	if err != nil {
		return auth.Identity{}, err
	}
	if c.Issuer != p.config.Issuer { // no reason to ask ours for keys
		return auth.Identity{}, invalid("the token is of another issuer")
	}
	d, err := p.discovered()
	if err != nil {
		return auth.Identity{}, err
	}
	if _, err := d.keys.VerifySignature(ctx, token); err != nil {
		// Only if the keys could not be had there is an error below the package's own.
		if errors.Unwrap(err) != nil {
			return auth.Identity{}, err
		}
		return auth.Identity{}, invalid("the token is not signed with a key of the issuer")
	}
	if err := p.check(c, time.Now()); err != nil {
		return auth.Identity{}, err
	}
	return auth.Identity{
		Subject: SubjectPrefix + c.Owner, Scope: p.config.Scopes.Highest(append(c.Scope, c.SCP...)), Expires: c.Expires.time().Add(Skew),
		Token: c.Issuer,
	}, nil
}

// linkLifetime is how long a link counts that was made with an access token. A provider does not
// tell a server that it has blocked a person, and access tokens live for minutes only.
const linkLifetime = 24 * time.Hour

// Until returns when a link ends that was made with a token of the issuer; see [auth.Guarantor].
func (p *Provider) Until(_ context.Context, id string, made time.Time) (time.Time, error) {
	if id != p.config.Issuer {
		return time.Time{}, auth.ErrUnknown
	}
	return made.Add(linkLifetime), nil
}

// invalid returns the error for a token that is not valid.
func invalid(reason string) error { return &auth.InvalidError{Reason: reason} }

// Package oidc authenticates the access tokens of an OpenID Connect provider, so that
// people use a server with the accounts that they have. The server is an OAuth 2.1 resource
// server: clients get tokens from the provider, and it only checks them.
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
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

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
	// Resource is the server's public URL. Tokens are for it, for its MCP endpoints, or for
	// one of Audiences. Providers that do not know the resource parameter (RFC 8707) issue
	// tokens for an audience of their own.
	Resource  string
	Audiences []string
	// Scopes is what the names of scopes begin with.
	Scopes auth.ScopePrefix
	// OwnerClaim is the claim of a token that names the owner of sessions; empty means sub.
	// Whoever can choose its value can take the sessions of others.
	OwnerClaim string
	Logger     *slog.Logger // says when the provider cannot be asked, and when it can again; nil means discard
}

// A Provider checks tokens. It asks the provider for its keys when it first needs them, and
// when a token has a key that it does not know. While the provider is away, tokens with known
// keys are valid. It is safe for concurrent use.
type Provider struct {
	config Config
	client *http.Client

	mu     sync.Mutex // held while the provider is asked
	found  *description
	keys   *oidc.RemoteKeySet
	failed time.Time // of the last discovery
	err    error     // of it
}

// New returns a Provider, without asking it anything yet. The error says what is wrong with
// the configuration.
func New(cfg Config) (*Provider, error) {
	if err := checkURL(cfg.Issuer); err != nil {
		return nil, fmt.Errorf("the issuer %w", err)
	}
	if cfg.Resource == "" && len(cfg.Audiences) == 0 {
		return nil, errors.New("neither a public URL nor an audience says which tokens are for this server")
	}
	if cfg.OwnerClaim = cmp.Or(cfg.OwnerClaim, "sub"); Shared(cfg.OwnerClaim) {
		return nil, fmt.Errorf("tokens of different people can have the same claim %s", cfg.OwnerClaim)
	}
	if !cfg.Scopes.Valid() {
		return nil, fmt.Errorf("%.200q cannot begin the name of a scope", cfg.Scopes)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Provider{config: cfg, client: newClient()}, nil
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
	// Who issued it is looked at first: a token of another issuer is no reason to ask ours
	// for keys.
	c, err := p.unverified(token)
	if err != nil {
		return auth.Identity{}, err
	}
	if c.Issuer != p.config.Issuer {
		return auth.Identity{}, invalid("the token is of another issuer")
	}
	keys, err := p.keySet()
	if err != nil {
		return auth.Identity{}, err
	}
	if _, err := keys.VerifySignature(ctx, token); err != nil {
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

// unverified returns the claims of a token whose signature has not been checked.
func (p *Provider) unverified(token string) (*claims, error) {
	jws, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, invalid("the token is no JWT that is signed with an accepted algorithm, such as RS256 or ES256")
	}
	if err := checkType(jws); err != nil {
		return nil, err
	}
	return parseClaims(jws.UnsafePayloadWithoutVerification(), p.config.OwnerClaim)
}

// keySet returns the provider's keys, which are found by discovery.
func (p *Provider) keySet() (*oidc.RemoteKeySet, error) {
	if _, err := p.discovered(); err != nil {
		return nil, err
	}
	return p.keys, nil // not changed any more
}

// discovered returns the provider's description, which is asked for when it is first needed.
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
	ctx := oidc.ClientContext(context.Background(), p.client)
	found, err := discover(ctx, p.config.Issuer)
	if err != nil {
		p.config.Logger.Warn("the OpenID Connect provider cannot be asked; tokens cannot be checked until it can", "issuer", p.config.Issuer, "error", err)
		p.failed, p.err = time.Now(), err
		return nil, err
	}
	if p.err != nil {
		p.config.Logger.Info("the OpenID Connect provider answers again", "issuer", p.config.Issuer)
	}
	p.found, p.keys = found, oidc.NewRemoteKeySet(ctx, found.Keys)
	return found, nil
}

// invalid returns the error for a token that is not valid.
func invalid(reason string) error { return &auth.InvalidError{Reason: reason} }

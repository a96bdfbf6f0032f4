package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/oidc"
)

// A Login is a sign-in of the command line to a server.
type Login struct {
	*oidc.Device // the page on which the person enters the code
	provider     *oidc.Provider
	server       string
	credential   credential
}

// withoutProvider says how a person gets a token without a sign-in.
const withoutProvider = "set SEQUENT_TOKEN to a token, which the operator of the server creates with sequent server token new"

// metadata is what a server tells clients that need tokens (RFC 9728).
type metadata struct {
	Resource string      `json:"resource"`
	Issuers  []string    `json:"authorization_servers"`
	SignIn   auth.SignIn `json:"sequent_sign_in"` // for the command line
}

// metadataTimeout and maxMetadata limit how long a server may take to send its metadata, and its bytes.
const (
	metadataTimeout = 10 * time.Second
	maxMetadata     = 1 << 20
)

func readMetadata(ctx context.Context, server string) (m metadata, err error) {
	ctx, cancel := context.WithTimeout(ctx, metadataTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/.well-known/oauth-protected-resource/mcp", nil)
	if err != nil {
		return m, err
	}
	reply, err := http.DefaultTransport.RoundTrip(r) // follows no redirect
	if err != nil {
		return m, unreachable(server, err)
	}
	defer reply.Body.Close()
	err = json.NewDecoder(io.LimitReader(reply.Body, maxMetadata)).Decode(&m)
	switch {
	case reply.StatusCode != http.StatusOK || err != nil || len(m.Issuers) == 0:
		return m, usage(server+" has no sign-in", withoutProvider)
	case m.Resource != server+"/mcp":
		// A token for another server could be used there (RFC 9728, section 3.3).
		return m, usage(fmt.Sprintf("%s says that it is %.200s", server, m.Resource), "pass the URL that the server was started with as --public-url")
	}
	return m, nil
}

// BeginLogin begins a sign-in to a server with the device flow. The URL of the server has no
// path. The client id is the one that the server names.
func BeginLogin(ctx context.Context, server string, scope auth.Scope) (*Login, error) {
	meta, err := readMetadata(ctx, server)
	if err != nil {
		return nil, err
	}
	c := credential{Issuer: meta.Issuers[0], SignIn: meta.SignIn}
	if c.Client == "" {
		return nil, usage("the server does not name a client id for the command line",
			"have the operator pass --oidc-login-client-id, or "+withoutProvider)
	}
	provider, err := c.provider(server)
	if err != nil {
		return nil, err
	}
	device, err := provider.Device(ctx, scope)
	return &Login{Device: device, provider: provider, server: server, credential: c}, loginError(provider, err)
}

// Host returns the name of the provider's host.
func (l *Login) Host() string { return l.provider.Host() }

// Wait waits until the person has signed in, and returns the token, which is not kept yet.
func (l *Login) Wait(ctx context.Context) (token string, err error) {
	l.credential.Tokens, err = l.provider.Wait(ctx, l.Device)
	return l.credential.Access, loginError(l.provider, err)
}

// Keep keeps the tokens for later commands. It returns when they expire, and whether they are
// renewed then.
func (l *Login) Keep(ctx context.Context) (expires time.Time, renewed bool, err error) {
	err = changeSignIns(ctx, func(servers signIns) error {
		servers[l.server] = l.credential
		return nil
	})
	return l.credential.Expires, l.credential.Refresh != "", err
}

// Logout forgets the tokens for a server and revokes them where the provider can. The error
// notRevoked says why they could not be.
func Logout(ctx context.Context, server string) (notRevoked, err error) {
	var c credential
	err = changeSignIns(ctx, func(servers signIns) error {
		var ok bool
		if c, ok = servers[server]; !ok {
			return usage("no sign-in to "+server, "run sequent server login --server "+server+" to sign in")
		}
		delete(servers, server)
		return nil
	})
	if err != nil {
		return nil, err
	}
	provider, err := c.provider(server)
	if err != nil {
		return nil, err
	}
	_, notRevoked = provider.End(ctx, cmp.Or(c.Refresh, c.Access))
	return notRevoked, nil
}

// ServerToken returns the token of a sign-in to a server, renewed if it has expired; empty
// without a sign-in.
//
// The file of sign-ins stays locked while a token is renewed. A refresh token is good for one use, and a
// provider ends the sign-in if two processes use the same one.
func ServerToken(ctx context.Context, server string) (string, error) {
	servers, err := readSignIns()
	c, ok := servers[server]
	if err != nil || !ok || c.valid(time.Now()) {
		return c.Access, err
	}
	err = changeSignIns(ctx, func(servers signIns) error {
		if c, ok = servers[server]; !ok || c.valid(time.Now()) { // another process was faster
			return nil
		}
		provider, err := c.provider(server)
		if err != nil {
			return err
		}
		var tokens auth.Tokens
		err = &auth.InvalidError{Reason: "its token has expired, and the provider gave no refresh token"}
		if c.Refresh != "" {
			tokens, err = provider.Renew(ctx, c.Refresh)
		}
		if bad, ok := errors.AsType[*auth.InvalidError](err); ok {
			return usage("the sign-in to "+server+" has ended: "+bad.Reason, "run sequent server login --server "+server)
		}
		c.Tokens = tokens
		servers[server] = c
		return loginError(provider, err)
	})
	return c.Access, err
}

func unreachable(host string, err error) error {
	return &sequent.Error{Code: sequent.CodeUnavailable, Msg: host + " cannot be reached", Fix: "check the URL and the network", Err: err}
}

// loginError returns an error of the provider as an error of the command; nil for nil.
func loginError(p *oidc.Provider, err error) error {
	bad, refused := errors.AsType[*auth.InvalidError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, oidc.ErrNoDeviceFlow):
		return usage(p.Host()+" does not offer the device flow (RFC 8628)", "have it enabled for this client, or "+withoutProvider)
	case refused:
		return usage(p.Host()+": "+bad.Reason, "run sequent server login again, or ask the operator of the provider")
	case errors.Is(err, context.Canceled):
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the sign-in was canceled", Err: err}
	}
	return unreachable(p.Host(), err)
}

package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/oidc"
)

// A Login is a sign-in of the command line to a server.
type Login struct {
	Page, Code string    // the page on which the person enters the code
	Whole      string    // the page that has the code already; empty if there is none
	Host       string    // of the provider
	Expires    time.Time // of the code

	client     *oidc.Client
	device     *oidc.Device
	server     string
	credential credential
}

// signIns returns the file with the tokens of sign-ins.
func signIns() (credentials, error) {
	dir, err := DataDir()
	return credentials{filepath.Join(dir, "credentials.json")}, err
}

// withoutProvider says how a person gets a token without a sign-in.
const withoutProvider = "set SEQUENT_TOKEN to a token, which the operator of the server creates with sequent server token new"

// BeginLogin begins a sign-in to a server with the device flow. The URL of the server has no
// path. The client id is the one that the server names if it is empty.
func BeginLogin(ctx context.Context, server, clientID string, scope auth.Scope) (*Login, error) {
	meta, err := oidc.ReadMetadata(ctx, server)
	switch {
	case errors.Is(err, oidc.ErrNoMetadata):
		return nil, &ConfigError{Msg: server + " has no sign-in", Fix: withoutProvider}
	case err != nil:
		return nil, unreachable(server, err)
	case meta.Resource != server+"/mcp":
		// A token for another server could be used there (RFC 9728, section 3.3).
		return nil, &ConfigError{Msg: fmt.Sprintf("%s says that it is %.200s", server, meta.Resource), Fix: "pass the URL that the server was started with as --public-url"}
	}
	c := credential{Issuer: meta.Issuers[0], Resource: meta.Resource, SignIn: meta.SignIn}
	if clientID != "" {
		c.Client = clientID
	}
	if c.Client == "" {
		return nil, &ConfigError{
			Msg: "the server does not name a client id for the command line",
			Fix: "pass --client-id ID, of a public client with the device flow at " + c.Issuer + ", or " + withoutProvider,
		}
	}
	client, err := clientOf(server, c)
	if err != nil {
		return nil, err
	}
	device, err := client.Device(ctx, scope)
	if err != nil {
		return nil, loginError(client, err)
	}
	return &Login{
		Page: device.Page, Code: device.Code, Whole: device.Whole, Host: client.Host(), Expires: device.Expires,
		client: client, device: device, server: server, credential: c,
	}, nil
}

// Wait waits until the person has signed in, and returns the token, which is not kept yet.
func (l *Login) Wait(ctx context.Context) (token string, err error) {
	tokens, err := l.client.Wait(ctx, l.device)
	if err != nil {
		return "", loginError(l.client, err)
	}
	l.credential.Access, l.credential.Refresh, l.credential.Expires = tokens.Access, tokens.Refresh, tokens.Expires
	return tokens.Access, nil
}

// Keep keeps the tokens for later commands. It returns when they expire, and whether they are
// renewed then.
func (l *Login) Keep(ctx context.Context) (expires time.Time, renewed bool, err error) {
	file, err := signIns()
	if err == nil {
		err = badSignIns(file.put(ctx, l.server, l.credential))
	}
	return l.credential.Expires, l.credential.Refresh != "", err
}

// Logout forgets the tokens for a server and revokes them where the provider can. The error
// notRevoked says why they could not be.
func Logout(ctx context.Context, server string) (notRevoked, err error) {
	file, err := signIns()
	if err != nil {
		return nil, err
	}
	c, err := file.remove(ctx, server)
	if errors.Is(err, errNoSignIn) {
		return nil, &ConfigError{Msg: "no sign-in to " + server, Fix: "run sequent server login --server " + server + " to sign in"}
	}
	if err != nil {
		return nil, badSignIns(err)
	}
	client, err := clientOf(server, c)
	if err != nil {
		return nil, err
	}
	token := c.Refresh
	if token == "" {
		token = c.Access
	}
	_, notRevoked = client.End(ctx, token)
	return notRevoked, nil
}

// ServerToken returns the token of a sign-in to a server, renewed if it has expired; empty
// without a sign-in.
func ServerToken(ctx context.Context, server string) (string, error) {
	file, err := signIns()
	if err != nil {
		return "", err
	}
	token, err := file.token(ctx, server, func(ctx context.Context, c credential) (auth.Tokens, error) {
		client, err := clientOf(server, c)
		if err != nil {
			return auth.Tokens{}, err
		}
		tokens, err := client.Renew(ctx, c.Refresh)
		if _, bad := errors.AsType[*auth.InvalidError](err); err != nil && !bad {
			return auth.Tokens{}, loginError(client, err)
		}
		return tokens, err
	})
	if errors.Is(err, errNoSignIn) {
		return "", nil
	}
	return token, badSignIns(err)
}

// clientOf returns the client of the command line.
func clientOf(server string, c credential) (*oidc.Client, error) {
	provider, err := oidc.New(oidc.Config{Issuer: c.Issuer, Resource: c.Resource, Scopes: c.Scopes})
	var client *oidc.Client
	if err == nil {
		client, err = oidc.NewClient(oidc.ClientConfig{Provider: provider, ID: c.Client, Resource: c.Resource, Parameters: c.Parameters})
	}
	if err != nil {
		return nil, &ConfigError{Msg: server + " names a provider that cannot be used: " + err.Error(), Fix: "ask its operator to run sequent doctor --oidc " + c.Issuer}
	}
	return client, nil
}

func unreachable(host string, err error) error {
	return &sequent.Error{Code: sequent.CodeUnavailable, Msg: host + " cannot be reached", Fix: "check the URL and the network", Err: err}
}

// loginError returns an error of the provider as an error of the command.
func loginError(c *oidc.Client, err error) error {
	bad, refused := errors.AsType[*auth.InvalidError](err)
	switch {
	case errors.Is(err, oidc.ErrNoDeviceFlow):
		return &ConfigError{Msg: c.Host() + " does not offer the device flow (RFC 8628)", Fix: "have it enabled for this client, or " + withoutProvider}
	case refused:
		return &ConfigError{Msg: c.Host() + ": " + bad.Reason, Fix: "run sequent server login again, or ask the operator of the provider"}
	case errors.Is(err, context.Canceled):
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the sign-in was canceled", Err: err}
	}
	return unreachable(c.Host(), err)
}

// badSignIns adds a fix to an error of the file of sign-ins.
func badSignIns(err error) error {
	if _, known := errors.AsType[*ConfigError](err); known {
		return err
	}
	if _, known := errors.AsType[*sequent.Error](err); err == nil || known || slices.ContainsFunc([]error{context.Canceled, context.DeadlineExceeded}, func(e error) bool { return errors.Is(err, e) }) {
		return err
	}
	return &ConfigError{Msg: "cannot use the file of sign-ins: " + err.Error(), Fix: "correct or remove it, and run sequent server login again"}
}

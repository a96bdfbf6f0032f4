package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/durable"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

const (
	// renewEarly is how long before its expiry a token is renewed, so that it does not expire on
	// its way to the server.
	renewEarly = 30 * time.Second
	// maxCredentials limits the size of the file in bytes.
	maxCredentials = 4 << 20
	// renewTimeout limits how long a process waits for another one that renews a token.
	renewTimeout = time.Minute
)

// A credential is what a sign-in to a server left.
type credential struct {
	Issuer   string `json:"issuer"`   // provider of the tokens
	Resource string `json:"resource"` // what the tokens are for
	auth.SignIn
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // of Access; zero if not known
}

// valid reports whether the access token can be sent.
func (c *credential) valid(now time.Time) bool {
	return c.Access != "" && (c.Expires.IsZero() || now.Add(renewEarly).Before(c.Expires))
}

// errNoSignIn is the error for a server of which the file knows nothing.
var errNoSignIn = errors.New("no sign-in to this server")

// credentials is the file with the tokens of a person for servers, which only that person can read.
// It does not need to exist. It is safe for concurrent use, by several processes too.
type credentials struct{ path string }

// document is the content of the file, by the URLs of servers without a path.
type document struct {
	Version int                   `json:"version"`
	Servers map[string]credential `json:"servers"`
}

// get returns the credential for a server. Without one the error is errNoSignIn.
func (f credentials) get(server string) (credential, error) {
	d, err := f.read()
	return d.get(server, err)
}

func (d document) get(server string, err error) (credential, error) {
	c, ok := d.Servers[server]
	if err == nil && !ok {
		err = errNoSignIn
	}
	return c, err
}

// put keeps a credential instead of the one for the same server.
func (f credentials) put(ctx context.Context, server string, c credential) error {
	return f.change(ctx, func(d document) (bool, error) {
		d.Servers[server] = c
		return true, nil
	})
}

// remove removes the credential for a server and returns it. Without one the error is errNoSignIn.
func (f credentials) remove(ctx context.Context, server string) (removed credential, err error) {
	err = f.change(ctx, func(d document) (_ bool, err error) {
		removed, err = d.get(server, nil)
		delete(d.Servers, server)
		return true, err
	})
	return removed, err
}

// token returns an access token for a server, which renew has renewed if it has expired. The
// error is errNoSignIn without a sign-in, and a [*ConfigError] if it cannot be renewed.
//
// The file stays locked while a token is renewed. A refresh token is good for one use, and a
// provider ends the sign-in if two processes use the same one.
func (f credentials) token(ctx context.Context, server string, renew func(context.Context, credential) (auth.Tokens, error)) (string, error) {
	c, err := f.get(server)
	if err != nil || c.valid(time.Now()) {
		return c.Access, err
	}
	err = f.change(ctx, func(d document) (bool, error) {
		if c, err = d.get(server, nil); err != nil || c.valid(time.Now()) { // another process was faster
			return false, err
		}
		if c.Refresh == "" {
			return false, ended(server, "its token expired at "+c.Expires.Local().Format(time.DateTime)+", and the provider gave no refresh token")
		}
		tokens, err := renew(ctx, c)
		if bad, ok := errors.AsType[*auth.InvalidError](err); ok {
			return false, ended(server, bad.Reason)
		}
		c.Access, c.Refresh, c.Expires = tokens.Access, tokens.Refresh, tokens.Expires
		d.Servers[server] = c
		return err == nil, err
	})
	return c.Access, err
}

// ended returns the error for a sign-in that cannot be renewed any more.
func ended(server, reason string) error {
	return &ConfigError{Msg: "the sign-in to " + server + " has ended: " + reason, Fix: "run sequent server login --server " + server}
}

func (f credentials) read() (document, error) {
	d := document{Version: 1}
	state, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.Servers = make(map[string]credential)
		return d, nil
	case err != nil:
		return d, err
	case !state.Mode().IsRegular() || state.Size() > maxCredentials:
		return d, fmt.Errorf("%s is not a file of credentials", f.path)
	case runtime.GOOS != "windows" && state.Mode().Perm()&0o077 != 0:
		return d, &ConfigError{Msg: f.path + " can be read by other users", Fix: "chmod 600 " + f.path}
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil || d.Version != 1 || d.Servers == nil {
		return d, fmt.Errorf("%s is not a file of credentials of this version", f.path)
	}
	return d, nil
}

// change has do change the content of the file, while no other process does, and writes it if do
// returns true.
func (f credentials) change(ctx context.Context, do func(document) (bool, error)) (err error) {
	dir, base := filepath.Split(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock := flock.New(f.path+".lock", flock.SetPermissions(0o600))
	timeout := time.NewTimer(renewTimeout)
	defer timeout.Stop()
	if err := fairlock.Wait(ctx, lock, timeout.C); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	d, err := f.read()
	if err != nil {
		return err
	}
	if changed, err := do(d); err != nil || !changed {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return durable.WriteFile(root, base, 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(d)
	})
}

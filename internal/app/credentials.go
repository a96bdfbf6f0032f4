package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/oidc"
	"github.com/sequent-dev/sequent/internal/durable"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

const (
	// renewEarly is how long before its expiry a token is renewed, so that it does not expire on
	// its way to the server.
	renewEarly = 30 * time.Second
	// renewTimeout limits how long a process waits for another one that renews a token.
	renewTimeout = time.Minute
)

// A credential is what a sign-in to a server left.
type credential struct {
	Issuer string `json:"issuer"` // provider of the tokens
	auth.SignIn
	auth.Tokens
}

// valid reports whether the access token can be sent.
func (c *credential) valid(now time.Time) bool {
	return c.Access != "" && (c.Expires.IsZero() || now.Add(renewEarly).Before(c.Expires))
}

// provider returns the provider of the tokens for a server.
func (c *credential) provider(server string) (*oidc.Provider, error) {
	p, err := oidc.New(oidc.Config{Issuer: c.Issuer, Resource: server, Scopes: c.Scopes, ClientID: c.Client, Parameters: c.Parameters})
	if err != nil {
		return nil, usage(server+" names a provider that cannot be used: "+err.Error(), "ask its operator to run sequent doctor --oidc "+c.Issuer)
	}
	return p, nil
}

// signIns are the tokens of a person for servers, by the URLs of servers without a path. They are in a
// file that only that person can read. It does not need to exist, and processes share it.
type signIns map[string]credential

func signInsFile() (string, error) {
	dir, err := DataDir()
	return filepath.Join(dir, "credentials.json"), err
}

// document is the content of the file.
type document struct {
	Servers signIns `json:"servers"`
}

func readSignIns() (signIns, error) {
	path, err := signInsFile()
	if err != nil {
		return nil, err
	}
	d := document{Servers: make(signIns)}
	state, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d.Servers, nil
	case err == nil && runtime.GOOS != "windows" && state.Mode().Perm()&0o077 != 0:
		return nil, usage(path+" can be read by other users", "chmod 600 "+path)
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	return d.Servers, badSignIns(err)
}

// changeSignIns has do change the sign-ins, while no other process does, and writes them if do returns
// nil.
func changeSignIns(ctx context.Context, do func(signIns) error) (err error) {
	path, err := signInsFile()
	if err != nil {
		return err
	}
	dir, base := filepath.Split(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return badSignIns(err)
	}
	lock := fairlock.New(path+".lock", os.O_CREATE|os.O_RDWR)
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := lock.Acquire(ctx, renewTimeout); err != nil {
		return badSignIns(err)
	}
	servers, err := readSignIns()
	if err != nil {
		return err
	}
	if err := do(servers); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return badSignIns(err)
	}
	defer root.Close()
	return badSignIns(durable.WriteFile(root, base, 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(document{servers})
	}))
}

// badSignIns returns an error of the file of sign-ins with what to do; nil for nil.
func badSignIns(err error) error {
	if err == nil {
		return nil
	}
	return &sequent.Error{
		Code: sequent.CodeUsage, Msg: "the file of sign-ins cannot be used", Err: err,
		Fix: "correct or remove it, and run sequent server login again",
	}
}

// Package credentials keeps the tokens of a person for servers, in a file that only that person
// can read, and renews them when they expire. Any number of processes can share a file.
package credentials

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
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/durable"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

const (
	// early is how long before its expiry a token is renewed, so that it does not expire on
	// its way to the server.
	early = 30 * time.Second
	// maxFile limits the size of a file in bytes.
	maxFile = 4 << 20
	// lockTimeout limits how long a process waits for another one that renews a token.
	lockTimeout = time.Minute
)

// A Credential is what a sign-in to a server left.
type Credential struct {
	Server   string `json:"server"`   // its URL without a path
	Issuer   string `json:"issuer"`   // provider of the tokens
	Resource string `json:"resource"` // what the tokens are for
	auth.SignIn
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // of Access; zero if not known
}

// valid reports whether the access token can be sent.
func (c *Credential) valid(now time.Time) bool {
	return c.Access != "" && (c.Expires.IsZero() || now.Add(early).Before(c.Expires))
}

// ErrNone is the error for a server of which the file knows nothing.
var ErrNone = errors.New("credentials: no sign-in to this server")

// An EndedError is the error for a sign-in that cannot be renewed any more.
type EndedError struct {
	Server string
	Reason string
}

// Error returns the reason.
func (e *EndedError) Error() string { return "the sign-in to " + e.Server + " has ended: " + e.Reason }

// A File is a file of credentials. It does not need to exist. It is safe for concurrent use, by
// several processes too.
type File struct{ path string }

// New returns the file at a path.
func New(path string) *File { return &File{path} }

// Get returns the credential for a server. Without one the error is [ErrNone].
func (f *File) Get(server string) (Credential, error) {
	list, err := f.read()
	if err != nil {
		return Credential{}, err
	}
	for _, c := range list {
		if c.Server == server {
			return c, nil
		}
	}
	return Credential{}, ErrNone
}

// Put keeps a credential instead of the one for the same server.
func (f *File) Put(ctx context.Context, c Credential) error {
	return f.change(ctx, func(list []Credential) ([]Credential, error) { return with(list, c), nil })
}

// Remove removes the credential for a server and returns it. Without one the error is [ErrNone].
func (f *File) Remove(ctx context.Context, server string) (removed Credential, err error) {
	err = f.change(ctx, func(list []Credential) ([]Credential, error) {
		i := slices.IndexFunc(list, func(c Credential) bool { return c.Server == server })
		if i < 0 {
			return nil, ErrNone
		}
		removed = list[i]
		return slices.Delete(list, i, i+1), nil
	})
	return removed, err
}

// Token returns an access token for a server, which renew has renewed if it has expired. The
// error is [ErrNone] without a sign-in, and an [*EndedError] if it cannot be renewed.
//
// The file stays locked while a token is renewed. A refresh token is good for one use, and a
// provider ends the sign-in if two processes use the same one.
func (f *File) Token(ctx context.Context, server string, renew func(context.Context, Credential) (auth.Tokens, error)) (string, error) {
	c, err := f.Get(server)
	if err != nil {
		return "", err
	}
	if c.valid(time.Now()) {
		return c.Access, nil
	}
	var token string
	err = f.change(ctx, func(list []Credential) ([]Credential, error) {
		i := slices.IndexFunc(list, func(c Credential) bool { return c.Server == server })
		if i < 0 {
			return nil, ErrNone
		}
		c := list[i]
		if c.valid(time.Now()) { // another process was faster
			token = c.Access
			return nil, nil
		}
		if c.Refresh == "" {
			return nil, &EndedError{server, "its token expired at " + c.Expires.Local().Format(time.DateTime) + ", and the provider gave no refresh token"}
		}
		tokens, err := renew(ctx, c)
		if bad, ok := errors.AsType[*auth.InvalidError](err); ok {
			return nil, &EndedError{server, bad.Reason}
		}
		if err != nil {
			return nil, err
		}
		c.Access, c.Refresh, c.Expires = tokens.Access, tokens.Refresh, tokens.Expires
		token = c.Access
		return with(list, c), nil
	})
	return token, err
}

func with(list []Credential, c Credential) []Credential {
	list = slices.DeleteFunc(slices.Clone(list), func(old Credential) bool { return old.Server == c.Server })
	return append(list, c)
}

// document is the content of the file.
type document struct {
	Version int          `json:"version"`
	Servers []Credential `json:"servers"`
}

func (f *File) read() ([]Credential, error) {
	state, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !state.Mode().IsRegular() || state.Size() > maxFile:
		return nil, fmt.Errorf("%s is not a file of credentials", f.path)
	case runtime.GOOS != "windows" && state.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by other users: chmod 600", f.path)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil || d.Version != 1 {
		return nil, fmt.Errorf("%s is not a file of credentials of this version", f.path)
	}
	return d.Servers, nil
}

// change replaces the file by what do returns, while no other process changes it. It is left as
// it is if that is nil.
func (f *File) change(ctx context.Context, do func([]Credential) ([]Credential, error)) (err error) {
	dir, base := filepath.Split(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock := flock.New(f.path+".lock", flock.SetPermissions(0o600))
	timeout := time.NewTimer(lockTimeout)
	defer timeout.Stop()
	if err := fairlock.Wait(ctx, lock, timeout.C); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	list, err := f.read()
	if err != nil {
		return err
	}
	list, err = do(list)
	if err != nil || list == nil {
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
		return e.Encode(document{1, list})
	})
}

package credentials

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/auth"
)

const server = "https://think.example.com"

func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "credentials.json")
	f := New(path)
	if _, err := f.Get(server); !errors.Is(err, ErrNone) {
		t.Errorf("Get without a file: %v, want ErrNone", err)
	}
	if _, err := f.Remove(t.Context(), server); !errors.Is(err, ErrNone) {
		t.Errorf("Remove without a file: %v, want ErrNone", err)
	}
	c := Credential{Server: server, Issuer: "https://login.example.com", SignIn: auth.SignIn{Client: "cli"}, Resource: server + "/mcp", Access: "a", Refresh: "r"}
	for _, one := range []Credential{{Server: "https://other.example.com", Access: "o"}, {Server: server, Access: "old"}, c} {
		if err := f.Put(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := f.Get(server); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("Get = %+v, %v; want %+v", got, err, c)
	}
	state, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && state.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v; want mode 0600", state.Mode(), err)
	}
	if got, err := f.Remove(t.Context(), server); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("Remove = %+v, %v; want %+v", got, err, c)
	}
	if got, err := f.Get("https://other.example.com"); err != nil || got.Access != "o" {
		t.Errorf("the other server: %+v, %v", got, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get("https://other.example.com"); err == nil {
		t.Error("a file that the group can read was accepted")
	}
}

// Any number of users of a file renew a token once, and all get the new one.
func TestRenewOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credentials.json")
	past := time.Now().Add(-time.Minute)
	if err := New(path).Put(t.Context(), Credential{Server: server, Access: "old", Refresh: "0", Expires: past}); err != nil {
		t.Fatal(err)
	}
	var renewed atomic.Int32
	renew := func(_ context.Context, c Credential) (auth.Tokens, error) {
		if n := renewed.Add(1); c.Refresh != strconv.Itoa(int(n-1)) {
			t.Errorf("renewal %d has the refresh token %s", n, c.Refresh)
		}
		return auth.Tokens{Access: "new", Refresh: "1", Expires: time.Now().Add(time.Hour)}, nil
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if token, err := New(path).Token(t.Context(), server, renew); err != nil || token != "new" {
				t.Errorf("Token = %q, %v", token, err)
			}
		})
	}
	wg.Wait()
	if n := renewed.Load(); n != 1 {
		t.Errorf("the token was renewed %d times, want once", n)
	}
}

func TestRenewFails(t *testing.T) {
	t.Parallel()
	f := New(filepath.Join(t.TempDir(), "credentials.json"))
	past := time.Now().Add(-time.Minute)
	away := errors.New("the provider is away")
	for name, c := range map[string]struct {
		refresh string
		err     error
		ended   bool
	}{
		"no refresh token": {"", nil, true},
		"refused":          {"r", &auth.InvalidError{Reason: "used before"}, true},
		"away":             {"r", away, false},
	} {
		kept := Credential{Server: server, Access: "old", Refresh: c.refresh, Expires: past.Round(0)}
		if err := f.Put(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
		_, err := f.Token(t.Context(), server, func(context.Context, Credential) (auth.Tokens, error) { return auth.Tokens{}, c.err })
		if _, ended := errors.AsType[*EndedError](err); err == nil || ended != c.ended || c.err == away && !errors.Is(err, away) {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := f.Get(server); err != nil || got.Refresh != c.refresh || got.Access != "old" {
			t.Errorf("%s: the file has %+v, %v", name, got, err)
		}
	}
}
